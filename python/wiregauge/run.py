"""A stored run: its plan, points, samples, tables and figures."""

from __future__ import annotations

import json
import shutil
import weakref
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _frames, _html, _native, samples, stored
from ._words import in_python
from .comparison import Comparison
from .cycles import Deadline
from .errors import UsageError
from .explanation import Explanation
from .figure import Figure, Figures
from .plot import Plot
from .verdicts import Control

if TYPE_CHECKING:
    import os

    import pandas as pd
    import xarray as xr

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
        The limits (``require``) that are missed or undecided, of a run that was just measured.
    passing : bool
        True if its files are deleted with this object (``no_store=True``).

    Raises
    ------
    UsageError
        There is no run in that directory, or it cannot be read.
    """

    path: Path
    missed: tuple[str, ...]
    passing: bool

    def __init__(self, path: str | os.PathLike[str], *, passing: bool = False) -> None:
        self.path = Path(path)
        self.missed = ()
        self.passing = passing
        try:
            self._tables = _native.run_tables(self.path)
        except OSError as error:
            raise UsageError(in_python(str(error))) from None
        if passing:
            # Not to be stored means: gone with the object.
            weakref.finalize(self, shutil.rmtree, self.path.parent, ignore_errors=True)

    @cached_property
    def _file(self) -> dict[str, Any]:
        file: dict[str, Any] = json.loads(self._tables.json)
        return file

    @property
    def name(self) -> str:
        """The last part of its directory's path."""
        return self.path.resolve().name

    @property
    def kind(self) -> str:
        """What was measured: ``exchange``, ``stream``, ``loop`` or ``control`` (of `loop_control`)."""
        return str(self._file["kind"])

    @property
    def address(self) -> str:
        """The (first) device."""
        return str(self.plan["address"])

    @property
    def state(self) -> str:
        """``complete``, ``interrupted``, ``failed``, or ``running`` (which a crash leaves too)."""
        return self._tables.state

    @property
    def failed(self) -> str | None:
        """Why it failed, if it did."""
        return None if self._tables.failed is None else in_python(self._tables.failed)

    @property
    def ending(self) -> str | None:
        """How it ended, if it is not complete: ``ended by SIGHUP after 14,213 exchanges, ...``."""
        return None if self._tables.ending is None else in_python(self._tables.ending)

    @property
    def plan(self) -> dict[str, Any]:
        """The complete plan, including defaults; docs/run-format.md lists the keys."""
        plan: dict[str, Any] = self._file["plan"]
        return plan

    @property
    def conditions(self) -> dict[str, Any]:
        """Conditions: host, kernel, link, device, versions, command, floor of the host."""
        conditions: dict[str, Any] = self._file["conditions"]
        return conditions

    @property
    def note(self) -> str | None:
        """The text that was stored with it (``note="new cable"``), if any."""
        note: str | None = self.conditions.get("note")
        return note

    @property
    def points(self) -> list[dict[str, Any]]:
        """One summary for each finished point, as in run.json: ``_ns``, bytes, per second."""
        points: list[dict[str, Any]] = self._file["points"]
        return points

    @property
    def answer(self) -> str | None:
        """The answer in one sentence, as the program prints it first."""
        return None if self._tables.answer is None else in_python(self._tables.answer)

    @property
    def warnings(self) -> list[str]:
        """Warnings, with the remedy."""
        return [in_python(text) for text in self._tables.warnings]

    @property
    def command(self) -> str:
        """The command line that repeats it."""
        return self._tables.command

    @cached_property
    def samples(self) -> npt.NDArray[np.void]:
        """All rows of all points: a structured array, one record per row.

        Returns
        -------
        numpy.ndarray
            Of shape (rows,), read-only; its memory was filled by Rust, without a copy. The fields are those
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
            As `samples`; a view of them if they were read before.

        Raises
        ------
        IndexError
            There is no such point.
        OSError
            Its sample file is missing or damaged.

        Examples
        --------
        >>> samples = wg.last().samples_of(-1)
        >>> samples["rtt_ns"][samples["status"] == wg.Status.OK].max()
        """
        place = samples.place_of(point, len(self.points))
        if "samples" in self.__dict__:
            index = self.points[place]["point"]["index"]
            found = np.flatnonzero(self.samples["point"] == index)
            # The rows of a point stand together.
            begin, end = (int(found[0]), int(found[-1]) + 1) if found.size else (0, 0)
            return self.samples[begin:end]
        return samples.array(_native.samples(self.path, place), self.kind)

    def answers(self, point: int) -> list[bytes]:
        """Bytes of the answers of one point, stored with ``keep_data``.

        Parameters
        ----------
        point
            Position in `points`, from 0; negative from the end.

        Returns
        -------
        list of bytes
            One for each row of ``samples_of(point)``; empty for those without an answer.

        Raises
        ------
        IndexError
            There is no such point.
        UsageError
            The run did not store them.

        Examples
        --------
        >>> run = wg.exchange("tcp://10.0.0.5:7700", count=100, keep_data=True)
        >>> run.answers(0)[0][:4]
        """
        place = samples.place_of(point, len(self.points))
        try:
            return _native.answers(self.path, place)
        except ValueError as error:
            raise UsageError(in_python(str(error))) from None

    def summary(self) -> pd.DataFrame:
        """Return the ten main figures: one row per point.

        Returns
        -------
        pandas.DataFrame
            The parameters of the point, then ten figures, NaN where there is none. Of exchanges
            `exchanges`, `lost`, `rtt_p50_ns`, `rtt_p99_ns` with its 95 % confidence interval
            `rtt_p99_low_ns` and `rtt_p99_high_ns`, `rtt_max_ns`, `trt_mean_ns`, `out_bytes_s`,
            `in_bytes_s`. Of streams, a row per point and direction: `transfers`, `lost_bytes`,
            `corrupted_bytes`, `rate_bytes_s` with its interval, `achieved_queue`, `gap_p50_ns`,
            `gap_p99_ns`, `gap_max_ns`. Of loops: `blocks`, `overruns`, `underruns`, `preload_ns`,
            `needed_ns`, `floor_ns`, `stalls_high_per_minute`, `service_p50_ns`, `service_p99_ns`,
            `service_max_ns`. Of control loops: `cycles`, `samples_lost`, `commands_lost`, `delay_p50_ns`,
            `delay_p99_ns`, `delay_max_ns`, `cost` with its interval, `settling_s`.
            ``frame.attrs["units"]`` has the unit of each column.

        Raises
        ------
        ImportError
            pandas is not installed.

        Examples
        --------
        >>> frame = wg.load("last").summary()
        >>> frame.set_index(["in_bytes", "depth"])["rtt_p99_ns"] / 1e3
        >>> frame.attrs["units"]["rtt_p99_ns"]
        """
        return _frames.summary(self._tables.csv, self.kind)

    def table(self, *, empty: bool = False) -> pd.DataFrame:
        """Return all figures: one row per point, for streams per point and direction.

        Parameters
        ----------
        empty
            Also the columns without a value at any point, for programs that need the same columns for
            every run.

        Returns
        -------
        pandas.DataFrame
            Numbers in base units, with the unit in the name of the column: ``rtt_p99_ns``,
            ``in_bytes_s``; confidence bounds as ``rtt_p99_low_ns``. docs/report.md lists them;
            ``frame.attrs["units"]`` has the units.

        Raises
        ------
        ImportError
            pandas is not installed.

        Examples
        --------
        >>> table = wg.last().table()
        >>> table[["in_bytes", "depth", "device_p50_ns"]]
        """
        return _frames.table(self._tables.csv, empty)

    def frame(self, point: int | None = None) -> pd.DataFrame:
        """Return the samples: one row per exchange, transfer or block.

        Parameters
        ----------
        point
            Position in `points`; of all of them, if not given.

        Returns
        -------
        pandas.DataFrame
            The columns of `samples`; `phase`, `status`, `way` and `xrun` are categories with names.

        Raises
        ------
        ImportError
            pandas is not installed.
        IndexError
            There is no such point.
        OSError
            A sample file is missing or damaged.

        Examples
        --------
        >>> wg.last().frame().query("phase == 'measured'").groupby("point")["rtt_ns"].describe()
        """
        rows = self.samples if point is None else self.samples_of(point)
        return _frames.samples(rows, self.kind)

    def to_xarray(self, *, samples: bool = False) -> xr.Dataset:
        """Return the summaries over the swept parameters.

        Parameters
        ----------
        samples
            Also the times of every sample, along `sequence` (ns, NaN if missing).

        Returns
        -------
        xarray.Dataset
            The columns of `table` over its dimensions: `out_bytes`, `in_bytes`, `depth`; of streams
            `direction`, `way`, `transfer_bytes`, `queue`; of loops `rate_hz`, `channels`,
            `notify_bytes`, `aim`; of several links `link` and `together`. `repeat` if a cell was
            measured several times. Units are in the attributes of the variables; those of the dataset
            have `version`, `host`, `plan` (JSON), `command`, `started`, `kind`, `address` and `run`.

        Raises
        ------
        ImportError
            xarray or pandas is not installed.

        Examples
        --------
        >>> data = wg.last().to_xarray()
        >>> data["rtt_p50_ns"].sel(in_bytes=1000, out_bytes=16)
        """
        return _frames.dataset(self, samples)

    @property
    def plot(self) -> Plot:
        """Plots with matplotlib, to be restyled: ``run.plot.rtt_histogram()``."""
        return Plot(self)

    @cached_property
    def figures(self) -> Figures:
        """The figures of the report, by their names."""
        return Figures(_native.figures([self.path]))

    def figure(self, name: str) -> Figure:
        """Return a figure of the report, for a notebook.

        Parameters
        ----------
        name
            Such as ``rtt-histogram``; ``list(run.figures)`` lists them.

        Returns
        -------
        Figure

        Raises
        ------
        KeyError
            This run has no such figure.

        Examples
        --------
        >>> wg.last().figure("rtt-histogram").save("histogram.svg")
        """
        return self.figures[name]

    def report(self, output: str | os.PathLike[str] | None = None, **options: Any) -> Path:
        """Make an HTML report; see `wiregauge.report`.

        Parameters
        ----------
        output
            The file; ``report.html`` in the run's directory, if not given.
        **options
            Others of `wiregauge.report`, such as a control loop: ``model="loop.toml"``.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        UsageError
            There is nothing to draw, or a file exists that is not a wiregauge report (see `force`).
        StorageError
            The file could not be written.

        Examples
        --------
        >>> wg.last().report("page.html")
        """
        return stored.report(self, output=output, progress=False, **options)[0]

    def compare(self, other: Run | str | os.PathLike[str], **options: Any) -> Comparison:
        """Compare with another run; see `wiregauge.compare`.

        Parameters
        ----------
        other
            The run after this one.
        **options
            As of `wiregauge.compare`.

        Returns
        -------
        Comparison

        Raises
        ------
        UsageError
            The runs or conditions cannot be compared.

        Examples
        --------
        >>> wg.load("before").compare("after", only=["p50", "p99"], fail_if="p99 > 5% worse").met
        """
        return stored.compare(self, other, **options)

    def explain(self, **options: Any) -> Explanation:
        """Explain where the time goes and what limits it; see `wiregauge.explain`.

        Parameters
        ----------
        **options
            As of `wiregauge.explain`, such as ``predict={"in": 3000, "depth": 3}``.

        Returns
        -------
        Explanation

        Raises
        ------
        UsageError
            It is a loop run, no point was finished, or the run does not support a prediction.

        Examples
        --------
        >>> print(wg.last().explain())
        """
        return stored.explain(self, **options)

    def deadline(self, **options: Any) -> Deadline:
        """Report how often a control loop would miss its deadline; see `wiregauge.deadline`.

        Parameters
        ----------
        **options
            As of `wiregauge.deadline`, such as ``period="1ms"``.

        Returns
        -------
        Deadline

        Raises
        ------
        UsageError
            It is not an exchange run, or no period is given and the run has none.

        Examples
        --------
        >>> wg.last().deadline(period="1ms").table()
        """
        return stored.deadline(self, **options)

    def control(self, plant: Any = None, controller: Any = None, **options: Any) -> Control:
        """Report what the measured delays do to a control loop; see `wiregauge.control`.

        Parameters
        ----------
        plant, controller
            Text, arrays, or systems of python-control or scipy.signal.
        **options
            Others of `wiregauge.control`, such as ``pid=(0.96, 0, 0.049), period="6ms"``.

        Returns
        -------
        Control

        Raises
        ------
        UsageError
            It is not an exchange run, or the model has an error or is unstable without any delay.
        TypeError, ValueError
            The plant or the controller is not a system, or is not in continuous or discrete time.

        Examples
        --------
        >>> print(wg.last().control("1000/(s^2+s)", pid=(0.96, 0, 0.049), period="6ms"))
        """
        return stored.control(self, plant=plant, controller=controller, **options)

    def show(self, **options: Any) -> str:
        """Show it as tables; see `wiregauge.show`.

        Parameters
        ----------
        **options
            As of `wiregauge.show`, such as ``full=True``.

        Returns
        -------
        str

        Raises
        ------
        UsageError
            The run has been deleted.

        Examples
        --------
        >>> print(wg.last().show(full=True))
        """
        return stored.show(self, **options)

    def __fspath__(self) -> str:
        """Return its directory: a run is a path."""
        return str(self.path)

    def __eq__(self, other: object) -> bool:
        """Compare the directories."""
        return isinstance(other, Run) and self.path.resolve() == other.path.resolve()

    def __hash__(self) -> int:
        """Hash the directory."""
        return hash(self.path.resolve())

    def __repr__(self) -> str:
        """Return a short description."""
        points = f"{len(self.points)} point" + ("s" if len(self.points) != 1 else "")
        return f"<wiregauge.Run {self.kind} {self.address}, {self.state}, {points}: {self.path}>"

    def __str__(self) -> str:
        """Return its tables, as the program prints them."""
        return self.show()

    def _repr_html_(self) -> str:
        tables = self._tables
        return _html.page(
            _html.paragraphs(map(in_python, tables.heading)),
            _html.paragraphs([self.answer] if self.answer else []),
            *(
                _html.table(title, columns, map(_html.unbroken, rows))
                for title, columns, rows in tables.tables
            ),
            _html.paragraphs(map(in_python, tables.notes)),
            _html.paragraphs(self.warnings, "Warning:"),
        )


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
        No such run, or the name is ambiguous, or it cannot be read.

    Examples
    --------
    >>> wg.load("2026-03-01").summary()
    """
    if not isinstance(run, str) and not hasattr(run, "__fspath__"):
        raise TypeError(f"run must be a path or a name, not {type(run).__name__}")
    try:
        return Run(_native.find(str(run)))
    except OSError as error:
        raise UsageError(in_python(str(error))) from None


def last() -> Run:
    """Open the newest stored run.

    Returns
    -------
    Run

    Raises
    ------
    UsageError
        No run is stored.

    Examples
    --------
    >>> print(wg.last())
    """
    return load("last")
