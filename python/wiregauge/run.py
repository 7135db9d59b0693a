"""A stored run: its plan, its points, its samples, and what can be made of them."""

from __future__ import annotations

import json
import shutil
import weakref
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _native, samples
from .errors import UsageError

if TYPE_CHECKING:
    import os

__all__ = ["Run", "last", "load"]


class Run:
    """A run on disk, of any kind.

    Parameters
    ----------
    path
        Its directory; `load` also takes names.

    Attributes
    ----------
    path : pathlib.Path
        Its directory.
    missed : tuple of str
        The limits (``require``) that were missed, of a run that was just measured.

    Raises
    ------
    UsageError
        There is no run in that directory, or it cannot be read.
    """

    path: Path
    missed: tuple[str, ...]

    def __init__(self, path: str | os.PathLike[str], *, passing: bool = False) -> None:
        self.path = Path(path)
        self.missed = ()
        try:
            self._told = _native.tell(self.path)
        except OSError as error:
            raise UsageError(str(error)) from None
        if passing:
            # Not to be stored means: gone with the object.
            weakref.finalize(self, shutil.rmtree, self.path.parent, ignore_errors=True)

    @cached_property
    def _file(self) -> dict[str, Any]:
        file: dict[str, Any] = json.loads(self._told.json)
        return file

    @property
    def name(self) -> str:
        """The last part of its directory's path."""
        return self.path.resolve().name

    @property
    def kind(self) -> str:
        """What was measured: ``exchange``, ``stream`` or ``loop``."""
        return str(self._file["kind"])

    @property
    def address(self) -> str:
        """The (first) device."""
        return str(self.plan["address"])

    @property
    def state(self) -> str:
        """``complete``, ``interrupted``, ``failed``, or ``running`` (which a crash leaves too)."""
        return self._told.state

    @property
    def failed(self) -> str | None:
        """Why it failed, if it did."""
        return self._told.failed

    @property
    def plan(self) -> dict[str, Any]:
        """What was to be measured, to the last default; docs/run-format.md has the keys."""
        plan: dict[str, Any] = self._file["plan"]
        return plan

    @property
    def conditions(self) -> dict[str, Any]:
        """What it ran on: host, kernel, link, device, versions, command, the host's own floor."""
        conditions: dict[str, Any] = self._file["conditions"]
        return conditions

    @property
    def points(self) -> list[dict[str, Any]]:
        """One summary for each finished point, as run.json has it: ``_ns``, bytes, a second."""
        points: list[dict[str, Any]] = self._file["points"]
        return points

    @property
    def warnings(self) -> list[str]:
        """Why some figures deserve a second look, with the remedy."""
        return list(self._told.warnings)

    @property
    def command(self) -> str:
        """The command line that repeats it."""
        return self._told.command

    @cached_property
    def samples(self) -> npt.NDArray[np.void]:
        """Every row of every point: a structured array, one record a row.

        Returns
        -------
        numpy.ndarray
            Of shape (rows,), read-only; its memory is the one that Rust filled. The fields are those
            of docs/run-format.md, times in ns, sizes in bytes, and `point` in front.

        Raises
        ------
        OSError
            A sample file is missing or damaged.
        """
        return samples.array(_native.samples(self.path), self.kind)

    def samples_of(self, point: int) -> npt.NDArray[np.void]:
        """Rows of one point.

        Parameters
        ----------
        point
            Position in `points`, from 0; negative from the end.

        Returns
        -------
        numpy.ndarray
            As `samples`; where those were read already, a view of them.

        Raises
        ------
        IndexError
            There is no such point.
        OSError
            Its sample file is missing or damaged.
        """
        place = range(len(self.points))[point]
        if "samples" in self.__dict__:
            index = self.points[place]["point"]["index"]
            found = np.flatnonzero(self.samples["point"] == index)
            # The rows of a point stand together.
            begin, end = (int(found[0]), int(found[-1]) + 1) if found.size else (0, 0)
            return self.samples[begin:end]
        return samples.array(_native.samples(self.path, place), self.kind)

    def __repr__(self) -> str:
        """Name it."""
        return f"<wiregauge.Run {self.kind} {self.address}, {len(self.points)} points: {self.path}>"


def load(run: str | os.PathLike[str]) -> Run:
    """Open a stored run.

    Parameters
    ----------
    run
        A directory, the name of a stored run or its beginning, or ``last``.

    Returns
    -------
    Run

    Raises
    ------
    UsageError
        There is no such run, or several could be meant, or it cannot be read.
    """
    if not isinstance(run, str) and not hasattr(run, "__fspath__"):
        raise TypeError(f"run must be a path or a name, not {type(run).__name__}")
    try:
        return Run(_native.find(str(run)))
    except OSError as error:
        raise UsageError(str(error)) from None


def last() -> Run:
    """Open the newest stored run.

    Returns
    -------
    Run

    Raises
    ------
    UsageError
        No run is stored.
    """
    return load("last")
