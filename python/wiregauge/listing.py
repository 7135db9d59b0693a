"""What `runs` and `devices` list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from ._html import page, table
from .run import Run

__all__ = ["Devices", "Listing", "Runs"]


@dataclass(frozen=True)
class Listing:
    """One directory among the stored runs.

    Attributes
    ----------
    name : str
        Name of the directory.
    dir : pathlib.Path
        The directory.
    started : str
        Start time of the run, RFC 3339 in UTC; empty if unreadable.
    kind : str
        ``exchange``, ``stream``, ``loop``; empty if unreadable.
    address : str
        The (first) device.
    state : str
        ``complete``, ``interrupted``, ``failed``, ``running or crashed``, or ``unreadable``.
    points : int
        Finished points.
    measured : int
        Measured exchanges, transfers or blocks.
    problem : str or None
        Why it cannot be read, or why the run failed.
    note : str or None
        The text that was stored with it, if any.
    """

    name: str
    dir: Path
    started: str
    kind: str
    address: str
    state: str
    points: int
    measured: int
    problem: str | None
    note: str | None = None

    def load(self) -> Run:
        """Open it.

        Returns
        -------
        Run

        Raises
        ------
        UsageError
            It cannot be read.
        """
        return Run(self.dir)


class Runs(Sequence[Listing]):
    """The stored runs, newest last."""

    def __init__(self, listings: Iterable[Listing]) -> None:
        self._all = list(listings)

    def __len__(self) -> int:
        """Return their number."""
        return len(self._all)

    def __iter__(self) -> Iterator[Listing]:
        """Return one after the other."""
        return iter(self._all)

    @overload
    def __getitem__(self, at: int) -> Listing: ...
    @overload
    def __getitem__(self, at: slice) -> Runs: ...
    def __getitem__(self, at: int | slice) -> Listing | Runs:
        """Return one, or some."""
        return Runs(self._all[at]) if isinstance(at, slice) else self._all[at]

    def __repr__(self) -> str:
        """Name them, a line each."""
        lines = (f"  {run.name}: {run.kind or run.state}, {run.measured}" for run in self._all)
        return "\n".join([f"<wiregauge.Runs, {len(self)}>", *lines])

    def _repr_html_(self) -> str:
        columns = ["name", "kind", "address", "state", "points", "measured"]
        rows = [[str(getattr(run, column)) for column in columns] for run in self._all]
        return page(table("Stored runs", columns, rows))


class Devices(dict[str, Any]):
    """Devices: ``usb``, ``serial`` and ``network``, as printed with ``--json``."""

    @property
    def addresses(self) -> list[str]:
        """All addresses found."""
        found = (device["address"] for part in ("usb", "serial", "network") for device in self[part])
        return [address for address in found if address]

    def _repr_html_(self) -> str:
        parts = ("usb", "hid", "usbtmc", "serial", "can", "network")
        found = ((part, device) for part in parts for device in self.get(part, []))
        rows = [
            [part, str(device.get("address") or ""), str(device.get("product") or device.get("place") or "")]
            for part, device in found
        ]
        return page(table("Devices", ["kind", "address", "name"], rows))
