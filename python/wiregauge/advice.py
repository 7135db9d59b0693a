"""The commands `doctor` and `limits`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

from . import _call
from . import _values as v
from ._html import Text, page, table
from ._words import in_python
from .stored import RunLike

__all__ = ["Diagnosis", "Limits", "doctor", "limits"]


class Diagnosis:
    """Findings of `doctor`, and what it changed.

    Attributes
    ----------
    findings : list of dict
        The worst first, each with ``check``, ``level`` (``problem``, ``note``, ``unknown``, ``good``),
        ``title``, ``evidence``, ``cost`` (``text`` and ``source``, or None), ``remedy`` (commands) and
        ``changes`` (what ``fix`` writes).
    changes : list of dict
        With ``fix`` or ``undo``: each setting with ``path``, ``before``, ``wanted`` and the outcome
        ``how``.
    missed : tuple of str
        Settings that could not be changed or restored.
    """

    findings: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    missed: tuple[str, ...]

    def __init__(self, data: dict[str, Any], missed: Sequence[str]) -> None:
        self.findings = data.get("findings", [])
        self.changes = data.get("changes", data.get("undone", {}).get("steps", []))
        self.missed = tuple(missed)

    def of(self, level: Literal["problem", "note", "unknown", "good"]) -> list[dict[str, Any]]:
        """Return the findings of a level.

        Parameters
        ----------
        level
            Their severity.

        Returns
        -------
        list of dict
            As in `findings`.

        Examples
        --------
        >>> [found["title"] for found in wg.doctor().of("problem")]
        """
        return [found for found in self.findings if found["level"] == level]

    def __str__(self) -> str:
        """Return the findings and how to fix them."""
        lines = []
        for found in self.findings:
            if found["level"] != "good":
                lines.append(f"{found['level']:8} {found['check']}: {in_python(found['title'])}")
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
        """Return the findings and how to fix them."""
        return str(self)

    def _repr_html_(self) -> str:
        columns = ["level", "check", "title"]
        rows = [[found[column] for column in columns] for found in self.findings]
        return page(table("Findings", columns, rows))


class Limits(Text, Sequence[dict[str, Any]]):
    """Upper limits of media: a dict for each combination, as printed with ``--json``.

    Each has ``bytes_s``, ``messages_s``, ``message_ns``, ``efficiency``, ``exchange_ns``, ``formula``,
    ``source``, ``notes`` and its parameters. ``str()`` returns the table.
    """

    def __init__(self, data: list[dict[str, Any]], text: str) -> None:
        self._all = data
        self._text = text

    def __len__(self) -> int:
        """Return their number."""
        return len(self._all)

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, at: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        """Return one, or some."""
        return self._all[at]

    def __str__(self) -> str:
        """Return the table."""
        return self._text


def doctor(
    address: str | None = None,
    *,
    run: RunLike | None = None,
    only: v.Texts | None = None,
    fix: bool = False,
    undo: bool = False,
) -> Diagnosis:
    """Find and fix what slows down this host and its connection to a device.

    Parameters
    ----------
    address
        Check the connection to this device [default: all attached devices].
    run
        Check a stored run: a run, its directory, its name or the beginning of it, or ``last``.
    only
        Run only these checks, such as ``["governor", "steal"]``; docs/doctor.md lists them.
    fix
        Change the settings that are safe to change, and save the old values. Most need root.
    undo
        Restore what `fix` changed.

    Returns
    -------
    Diagnosis
        The findings, the worst first; settings that could not be changed are in ``missed``.

    Raises
    ------
    UsageError
        No such run or check, or `undo` was combined with another argument.
    LinkError
        There is no such device.
    StorageError
        The old values could not be saved, so nothing was changed.

    Examples
    --------
    >>> for finding in wg.doctor("serial:///dev/ttyUSB0").of("problem"):
    ...     print(finding["title"])
    """
    words = [] if address is None else v.text("address", address)
    values = {**locals(), "run": None if run is None else _call.place(run)}
    called = _call.command("doctor", words, values, ["--json"])
    return Diagnosis(_call.answer(called), called.missed)


def limits(
    medium: Literal["usb", "uart", "can", "tcp", "udp"] | None = None,
    *,
    out_sizes: v.Size | None = None,
    in_sizes: v.Size | None = None,
    speed: Literal["low", "full", "high", "5G", "10G", "20G"] | None = None,
    type: Literal["control", "interrupt", "isochronous", "bulk"] | None = None,  # noqa: A002
    packet: v.Sizes | None = None,
    packets: v.Count | None = None,
    interval: v.Time | None = None,
    baud: v.Sizes | None = None,
    framing: str | None = None,
    protocol: Literal["modbus"] | None = None,
    read: int | None = None,
    bitrate: v.Rates | None = None,
    data_bitrate: v.Rates | None = None,
    bytes: v.Sizes | None = None,  # noqa: A002
    rate: v.Rates | None = None,
    mtu: v.Size | None = None,
    payload: v.Sizes | None = None,
    ipv6: bool = False,
    vlan: bool = False,
    no_timestamps: bool = False,
) -> Limits:
    """Compute the maximum throughput of a medium, with the formula and its source.

    Parameters
    ----------
    medium
        ``usb``, ``uart``, ``can``, ``tcp`` or ``udp``; an overview of all, if not given.
    out_sizes, in_sizes
        Request and response size in bytes, for the shortest exchange time (one size each).
    speed
        USB: speed of the bus; all, if not given.
    type
        USB: transfer type; all, if not given.
    packet
        USB: data bytes per packet, or several sizes; the maximum, if not given.
    packets
        USB: packets per interval of an interrupt or isochronous endpoint; the maximum, if not given.
    interval
        USB: polling interval of an interrupt or isochronous endpoint in seconds; the shortest, if not
        given.
    baud
        UART: baud rate, or several.
    framing
        UART: data bits, parity and stop bits, such as ``"8E1"``; ``"8N1"``, if not given.
    protocol
        A protocol on the line, for the shortest time of its exchange.
    read
        Modbus: registers read by one request.
    bitrate
        CAN: bit/s, or several, or as ``"500k,1M"``.
    data_bitrate
        CAN FD: bit/s of the data phase; also return frames of CAN FD.
    bytes
        CAN: data bytes of a frame, or several sizes; the maximum, if not given.
    rate
        Ethernet: bit/s, or several, or as ``"10M,1G"``.
    mtu
        Ethernet: MTU in bytes; 1500, if not given.
    payload
        Ethernet: message sizes in bytes, each message sent separately; a stream of full frames, if not
        given.
    ipv6
        Ethernet: IPv6 instead of IPv4.
    vlan
        Ethernet: frames have a VLAN tag.
    no_timestamps
        TCP without timestamps (Linux uses them by default).

    Returns
    -------
    Limits
        A sequence of dicts, one for each combination.

    Raises
    ------
    UsageError
        The medium does not allow it; the text lists what it allows.

    Examples
    --------
    >>> wg.limits("usb", speed="high", type="bulk")[0]["bytes_s"]
    """
    values = dict(locals())
    words = [] if medium is None else [medium]
    data = _call.answer(_call.command("limits", words, values, ["--json"]))
    return Limits(data, _call.text(_call.command("limits", words, values)))
