"""Lists: the stored runs (`runs`), the attached devices (`devices`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from . import _call
from ._html import page, table
from ._words import in_python
from .run import Run

__all__ = ["Devices", "Listing", "Runs", "devices", "runs"]


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
        ``exchange``, ``stream``, ``loop``, ``control``; empty if unreadable.
    address : str
        The (first) device.
    state : str
        ``complete``, ``interrupted``, ``failed``, ``running``, ``killed``, ``running or killed``, or
        ``unreadable``.
    points : int
        Finished points.
    measured : int
        Measured exchanges, transfers, blocks or cycles; of a run that did not come to its end, all that are
        stored.
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

        Examples
        --------
        >>> wg.runs()[-1].load().points
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


def runs() -> Runs:
    """List stored runs.

    Returns
    -------
    Runs
        A sequence of `Listing`, newest last.

    Raises
    ------
    UsageError
        The directory with the runs cannot be read.

    Examples
    --------
    >>> [listing.name for listing in wg.runs() if listing.kind == "exchange"]
    """
    called = _call.command("runs", [], extra=["--json"])
    counts = ("exchanges", "transfers", "blocks", "cycles")
    return Runs(
        Listing(
            name=found["name"],
            dir=Path(found["dir"]),
            started=found["started"],
            kind=found["kind"],
            address=found["address"],
            state=found["state"],
            points=found["points"],
            measured=next((found[count] for count in counts if count in found), 0),
            problem=found["problem"] and in_python(found["problem"]),
            note=found["note"],
        )
        for found in _call.answer(called)
    )


class Devices(dict[str, Any]):
    """The attached devices by kind, as printed with ``--json``.

    The keys are ``usb``, ``hid``, ``usbtmc``, ``serial``, ``can`` and ``network``.
    """

    @property
    def addresses(self) -> list[str]:
        """All addresses, without keyboards, mice and other HID devices of standard usage pages."""
        return [device["address"] for _, device in self._boards() if device["address"]]

    def _boards(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for kind in ("usb", "hid", "usbtmc", "serial", "can", "network"):
            for device in self[kind]:
                if device.get("is_vendor", True):
                    yield kind, device

    def _repr_html_(self) -> str:
        rows = [
            [kind, str(device["address"] or ""), str(device.get("product") or device.get("place") or "")]
            for kind, device in self._boards()
        ]
        return page(table("Devices", ["kind", "address", "name"], rows))


def devices(*, probe: bool = False) -> Devices:
    """List USB, HID and USBTMC devices, CAN interfaces, serial ports and network responders.

    Parameters
    ----------
    probe
        Send a HELLO to each device and return its name. Opening a serial port resets some boards.

    Returns
    -------
    Devices
        A dict with a list for each kind of device.

    Raises
    ------
    LinkError
        The system does not list its devices.

    Examples
    --------
    >>> wg.devices().addresses
    """
    called = _call.command("devices", [], locals(), ["--json"])
    return Devices(_call.answer(called))
