"""The commands that say what hurts and what there can be: `doctor`, `limits`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

from . import _call
from . import _values as v
from ._html import escape, page, table
from .stored import RunLike

__all__ = ["Diagnosis", "Limits", "doctor", "limits"]

DOCTOR: dict[str, v.Convert] = {
    "run": v.path,
    "only": v.texts,
    "fix": v.switch,
    "undo": v.switch,
}
LIMITS: dict[str, v.Convert] = {
    "out_sizes": v.size,
    "in_sizes": v.size,
    "speed": v.text,
    "type": v.text,
    "packet": v.sizes,
    "packets": v.count,
    "interval": v.time,
    "baud": v.sizes,
    "framing": v.text,
    "rate": v.rates,
    "mtu": v.size,
    "payload": v.sizes,
    "ipv6": v.switch,
    "vlan": v.switch,
    "no_timestamps": v.switch,
}


class Diagnosis:
    """What was found by `doctor`, and what it changed.

    Attributes
    ----------
    findings : list of dict
        The worst first, each with ``check``, ``level`` (``hurts``, ``note``, ``unknown``, ``good``),
        ``title``, ``evidence``, ``cost`` (``text`` and ``source``, or None), ``remedy`` (commands) and
        ``changes`` (what ``fix`` writes).
    changes : list of dict
        With ``fix`` or ``undo``: each setting with ``path``, ``before``, ``wanted`` and ``how`` it ended.
    missed : tuple of str
        Settings that could not be changed or put back.
    """

    findings: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    missed: tuple[str, ...]

    def __init__(self, data: dict[str, Any], missed: Sequence[str]) -> None:
        self.findings = data.get("findings", [])
        self.changes = data.get("changes", data.get("undone", {}).get("steps", []))
        self.missed = tuple(missed)

    def of(self, level: Literal["hurts", "note", "unknown", "good"]) -> list[dict[str, Any]]:
        """Give the findings of a level.

        Parameters
        ----------
        level
            How much they matter.
        """
        return [found for found in self.findings if found["level"] == level]

    def __str__(self) -> str:
        """Tell what was found, and what mends it."""
        lines = []
        for found in self.findings:
            if found["level"] != "good":
                lines.append(f"{found['level']:8} {found['check']}: {found['title']}")
                lines += [f"         {command}" for command in found["remedy"]]
        good = ", ".join(found["check"] for found in self.of("good"))
        lines += [f"good     {good}"] if good else []
        lines += [
            f"changed  {one['path']}: {one['before']} -> {one['wanted']}"
            for one in self.changes
            if one["how"] == "written"
        ]
        return "\n".join([*lines, *(f"missed   {one}" for one in self.missed)])

    def __repr__(self) -> str:
        """Tell what was found, and what mends it."""
        return str(self)

    def _repr_html_(self) -> str:
        columns = ["level", "check", "title"]
        rows = [[found[column] for column in columns] for found in self.findings]
        return page(table("What was found", columns, rows))


class Limits(Sequence[dict[str, Any]]):
    """What media carry at best: a dict for each combination, as the program's ``--json`` has it.

    Each has ``bytes_s``, ``messages_s``, ``message_ns``, ``efficiency``, ``exchange_ns``, ``formula``,
    ``source``, ``notes`` and what was asked about. ``str()`` of it is the table.
    """

    def __init__(self, data: list[dict[str, Any]], text: str) -> None:
        self._all = data
        self._text = text

    def __len__(self) -> int:
        """Count them."""
        return len(self._all)

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, at: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        """Give one, or some."""
        return self._all[at]

    def __str__(self) -> str:
        """Tell it in a table."""
        return self._text

    def __repr__(self) -> str:
        """Tell it in a table."""
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self._text)}</pre>"


def doctor(
    address: str | None = None,
    *,
    run: RunLike | None = None,
    only: v.Texts | None = None,
    fix: bool = False,
    undo: bool = False,
) -> Diagnosis:
    """Find what slows this host and the way to a device, and what mends it.

    Parameters
    ----------
    address
        The device on the way to which is looked; whatever hangs on this host, if not given.
    run
        Judge by a stored run: a run, its directory, its name or the beginning of it, or ``last``.
    only
        Do these checks only, such as ``["governor", "steal"]``; docs/doctor.md has their names.
    fix
        Change the settings that can be changed safely, and note what they were. Most need root.
    undo
        Put back what `fix` changed.

    Returns
    -------
    Diagnosis
        What was found, the worst first; what could not be changed is in ``missed``.

    Raises
    ------
    UsageError
        There is no such run or check, or `undo` was given together with something else.
    LinkError
        There is no such device.
    StorageError
        What was there before could not be noted, so nothing was changed.
    """
    words = [] if address is None else v.text("address", address)
    values = {**locals(), "run": None if run is None else _call.place(run)}
    called, _ = _call.command("doctor", words, DOCTOR, values, ["--json"])
    return Diagnosis(_call.answer(called), called.missed)


def limits(
    medium: Literal["usb", "uart", "tcp", "udp"] | None = None,
    *,
    out_sizes: v.Size | None = None,
    in_sizes: v.Size | None = None,
    speed: Literal["low", "full", "high", "5G", "10G", "20G"] | None = None,
    type: Literal["control", "interrupt", "isochronous", "bulk"] | None = None,  # noqa: A002
    packet: v.Sizes | None = None,
    packets: v.Size | None = None,
    interval: v.Time | None = None,
    baud: v.Sizes | None = None,
    framing: str | None = None,
    rate: v.Rates | None = None,
    mtu: v.Size | None = None,
    payload: v.Sizes | None = None,
    ipv6: bool = False,
    vlan: bool = False,
    no_timestamps: bool = False,
) -> Limits:
    """Tell what a medium can carry at best, with the formula and where it is written.

    Parameters
    ----------
    medium
        ``usb``, ``uart``, ``tcp`` or ``udp``; an overview of all, if not given.
    out_sizes, in_sizes
        Bytes of a request and of its answer, for the least time of an exchange (one size each).
    speed
        USB: speed of the bus; all, if not given.
    type
        USB: kind of transfer; all, if not given.
    packet
        USB: bytes of data in each packet, or several such sizes; the most, if not given.
    packets
        USB: packets an interval of an interrupt or isochronous endpoint; the most, if not given.
    interval
        USB: interval in seconds that such an endpoint asks for; the shortest, if not given.
    baud
        UART: baud rate, or several.
    framing
        UART: data bits, parity and stop bits, such as ``"8E1"``; ``"8N1"``, if not given.
    rate
        Ethernet: bits a second, or several, or as ``"10M,1G"``.
    mtu
        Ethernet: largest IP packet of a frame in bytes; 1500, if not given.
    payload
        Ethernet: messages of so many bytes, each on its own, or several such sizes; a flow in full
        frames, if not given.
    ipv6
        Ethernet: IPv6 rather than IPv4.
    vlan
        Ethernet: frames have a VLAN's tag.
    no_timestamps
        TCP without the timestamps that Linux has by default.

    Returns
    -------
    Limits
        A sequence of dicts, one for each combination.

    Raises
    ------
    UsageError
        The medium does not allow it; the text says what it allows.
    """
    values = dict(locals())
    words = [] if medium is None else [medium]
    data = _call.answer(_call.command("limits", words, LIMITS, values, ["--json"])[0])
    return Limits(data, _call.said(_call.command("limits", words, LIMITS, values)[0]))
