"""A program's own exchanges with an open device: one, queries, many, a pipeline, a control loop, streams.

Where `wiregauge.exchange` measures a link with bytes of its own, this carries the caller's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from . import _values as v
from ._html import page, table
from ._queries import Protocol, QueryDevice, Request, nanoseconds, parts
from ._requests import Buffer, at_least, checked_replies, rows
from .errors import UsageError
from .framing import Fixed, Framing, LengthPrefix, Terminator, check_serial, checked

__all__ = ["CYCLE", "NEVER", "TIMING", "CycleStatus", "Device", "Gain", "open"]

Step = Callable[[bytes | None], Buffer | None]
"""From the newest measurement to the next command."""

TIMING = np.dtype(
    [("start_ns", "u8"), ("rtt_ns", "u8"), ("device_rx_ticks", "u8"), ("device_tx_ticks", "u8")]
)
"""One row for each exchange of a batch. Times are nanoseconds since the device was opened; ticks are
those of the device clock, 0 without one."""

CYCLE = np.dtype(
    {
        "names": [
            "intended_ns", "start_ns", "rtt_ns", "step_ns",
            "device_rx_ticks", "device_tx_ticks", "made_from", "status",
        ],
        "formats": ["u8"] * 7 + ["u1"],
        "offsets": [0, 8, 16, 24, 32, 40, 48, 56],
        "itemsize": 64,
    }
)  # fmt: skip
"""One row for each cycle of a control loop. Times are nanoseconds since the first one. `made_from`
is the cycle whose reply the command was computed from, `NEVER` before the first reply."""

NEVER = 2**64 - 1
"""`made_from` of a cycle whose command was computed before the first reply."""


_LONGEST_REPLY = 4096
"""The longest reply that `exchange_many` accepts if neither caller nor framing gives its length."""


class CycleStatus(IntEnum):
    """Outcome of a cycle of `Device.control`. Rows of `loop_control` have a `ControlStatus`."""

    OK = 0
    OVERRUN = 1
    LOST = 2


@dataclass(frozen=True)
class Gain:
    """A step without Python: command = limit(offset + factor * measurement), number by number.

    Parameters
    ----------
    factor : float
        Factor for each number of the measurement.
    offset : float
        Added to the product.
    low, high : float
        The limits of the result.
    dtype : str
        Numbers of measurement and command: ``<i2``, ``<i4``, ``<f4`` or ``<f8``.
    """

    factor: float
    offset: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    dtype: str = "<f4"

    def __post_init__(self) -> None:
        """Refuse what is no number."""
        for name in ("factor", "offset", "low", "high"):
            value = getattr(self, name)
            if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
                raise TypeError(f"{name} must be a number, not {type(value).__name__}")


def open(  # noqa: A001  as `wg.open`
    address: str,
    *,
    protocol: Protocol | None = None,
    until: str | bytes | None = None,
    reply_bytes: int | None = None,
    reply_length: str | None = None,
    idle: v.Time | None = None,
    unit: int | None = None,
    framing: Framing | str | None = None,
    timeout: v.Time = 1.0,
    wait: Literal["block", "poll", "spin"] = "block",
    baud: int | None = None,
    quick_ack: bool = False,
) -> Device:
    r"""Open a device.

    Parameters
    ----------
    address : str
        Such as ``usb://1d6b:0104``, ``serial:///dev/ttyACM0``, ``tcp://10.0.0.5:7700``.
    protocol : {"wiregauge", "text", "scpi", "modbus"}, optional
        What the device speaks, as for `exchange` [default: wiregauge, or the `framing`]. ``text``
        sends requests as they are; ``scpi`` adds newlines and knows block data; ``modbus`` is RTU on
        serial lines, which needs `baud`, and else Modbus TCP.
    until : str or bytes, optional
        Text: a reply ends with this [default: a newline].
    reply_bytes : int, optional
        Text: every reply has this size in bytes.
    reply_length : str, optional
        Text: a field of the reply gives its length, such as ``u16be@2+4`` (docs/instruments.md).
    idle : float or str, optional
        Text: a reply ends when nothing is received for this time; seconds, or ``"2ms"``.
    unit : int, optional
        Modbus: address of the unit [default: 1].
    framing : Raw, Fixed, Terminator or LengthPrefix, or str, optional
        Framing of the messages of a device with a protocol of its own. Without `protocol` and
        `framing` the device must support the wiregauge protocol and is identified with HELLO. A
        str is the framing of characters on a serial line, such as ``"8E1"``.
    timeout : float or str
        An exchange without a complete reply after this time fails; seconds, or ``"2ms"``.
    wait : {"block", "poll", "spin"}
        How to wait for a reply: sleep in the read, sleep in poll, or spin (uses one CPU core).
    baud : int, optional
        Baud rate of a serial line [default: unchanged].
    quick_ack : bool
        TCP: acknowledge at once.

    Returns
    -------
    Device
        Open until `close`, or the end of a ``with`` block.

    Raises
    ------
    LinkError
        The device does not exist, is busy, or does not respond.
    UsageError
        The arguments do not belong together.

    Examples
    --------
    >>> with wg.open("tcp://10.0.0.7:5025", protocol="scpi") as meter:
    ...     meter.query("*IDN?")
    """
    if not isinstance(address, str):
        raise TypeError(f"address must be a str, not {type(address).__name__}")
    messages, line = checked(framing, address)
    if baud is not None:
        check_serial("baud", baud, address)
    if protocol is not None and messages is not None:
        raise UsageError("protocol and a framing of messages exclude each other: use one of them")
    ends = {"until": until, "reply_bytes": reply_bytes, "reply_length": reply_length, "idle": idle}
    device = Device(
        address,
        None if messages is None else messages._parts(),
        parts(protocol or "wiregauge", {**ends, "unit": unit}),
        nanoseconds("timeout", timeout),
        wait,
        baud,
        quick_ack,
        line,
    )
    device._framing, device._reply_bytes = messages, reply_bytes
    device._speaks = protocol or "wiregauge"
    device._is_scpi = protocol == "scpi"
    return device


class Device(QueryDevice):
    """An open device, returned by `open`; allows one call at a time, in the process that opened it.

    Attributes
    ----------
    last_timings : array of TIMING
        Times of the last `exchange_many`, one row for each request that was answered.
    last_lengths : array of int
        Bytes of each of its replies.
    """

    last_timings: npt.NDArray[np.void]
    last_lengths: npt.NDArray[np.uintp]
    _framing: Framing | None = None
    _speaks: Protocol = "wiregauge"
    _reply_bytes: int | None = None

    def exchange_many(
        self,
        requests: Buffer | Sequence[Request],
        *,
        depth: int = 1,
        request_bytes: int | None = None,
        reply_bytes: int | None = None,
        out: npt.NDArray[Any] | None = None,
    ) -> npt.NDArray[Any]:
        """Exchange a batch in one call, without Python between the exchanges.

        Parameters
        ----------
        requests : array (n, ...), list of bytes (where messages are text: or str), or a buffer
            Each row of an array is one request, of any dtype; or each item of a list; or, with
            `request_bytes`, each part of a buffer with this size. Arrays must be in C order.
        depth : int
            Number of outstanding requests.
        request_bytes : int, optional
            Bytes of one request, if `requests` is one buffer.
        reply_bytes : int, optional
            Size of the reply to request (wiregauge protocol) or to wait for (`Raw`); with other
            framings the largest accepted reply [default: a row of `out`, else the longest request].
        out : array (n, ...), optional
            Buffer for the replies: one row each, in C order.

        Returns
        -------
        array (n, reply_bytes) of uint8
            One row for each reply, padded with zeros; or `out`. `last_lengths` has the size of each,
            `last_timings` its times.

        Raises
        ------
        LinkError
            An exchange failed. `done` is the number of replies before it, `replies` has them.
        ValueError, TypeError
            The arrays are not suitable.

        Examples
        --------
        >>> requests = np.arange(8000, dtype="<f4").reshape(1000, 8)
        >>> with wg.open("tcp://10.0.0.5:7", framing=wg.Fixed(32)) as device:
        ...     replies = device.exchange_many(requests, depth=4)
        """
        at_least("depth", depth, 1)
        if reply_bytes is not None:
            at_least("reply_bytes", reply_bytes, 0)
        if self._has_text and isinstance(requests, (list, tuple)):
            requests = [one.encode() if isinstance(one, str) else one for one in requests]
        joined, ends, widest = rows(requests, request_bytes)
        count = len(ends)
        if out is None:
            row = self._row(widest) if reply_bytes is None else reply_bytes
            # A reply that is shorter than its row must not show old memory behind it.
            replies = np.zeros((count, row), np.uint8)
        else:
            replies = checked_replies(out, count)
            row = replies.nbytes // count if count else 0
            if reply_bytes is not None and reply_bytes > row:
                raise ValueError(f"a row of `out` has {row} bytes, not the {reply_bytes} of `reply_bytes`")
        lengths, timings = np.zeros(count, np.uintp), np.zeros(count, TIMING)
        done = count
        try:
            if count:
                self._exchange_rows(joined, ends, replies, row, lengths, timings, depth)
        except BaseException as error:
            done = getattr(error, "done", 0)
            if isinstance(error, OSError):
                error.replies = replies[:done]  # type: ignore[attr-defined]
            raise
        finally:
            self.last_timings, self.last_lengths = timings[:done], lengths[:done]
        if out is None and reply_bytes is None and self._has_own_length:
            longest = int(lengths.max(initial=0))
            return np.ascontiguousarray(replies[:, :longest])
        return replies

    @property
    def _has_text(self) -> bool:
        """True if a request may be a str."""
        return self._speaks in ("text", "scpi") or isinstance(self._framing, Terminator)

    @property
    def _has_own_length(self) -> bool:
        """True if the size of a reply is unknown until it arrives."""
        is_query = self._speaks != "wiregauge" and self._reply_bytes is None
        return is_query or isinstance(self._framing, (Terminator, LengthPrefix))

    def _row(self, widest: int) -> int:
        """Return the size of a row if the caller gives none."""
        if isinstance(self._framing, Fixed):
            return self._framing.bytes
        if self._reply_bytes is not None:
            return self._reply_bytes
        # Memory that no reply comes to is never touched.
        return max(widest, _LONGEST_REPLY) if self._has_own_length else widest

    def pipeline(
        self, source: Iterable[Request], *, depth: int = 2, reply_bytes: int | None = None
    ) -> Iterator[bytes]:
        """Exchange what a source yields, `depth` requests ahead of the replies.

        Parameters
        ----------
        source : iterable of bytes or arrays; where messages are text: or str
            Provides the next request when there is room for it.
        depth : int
            Number of outstanding requests; one fewer while the caller processes a reply.
        reply_bytes : int, optional
            As in `exchange`.

        Yields
        ------
        bytes
            The replies, in the order of the requests. A caller that stops early waits for the
            outstanding ones.

        Raises
        ------
        LinkError
            An exchange failed.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.5:7", framing=wg.Fixed(4)) as device:
        ...     for reply in device.pipeline((bytes([n]) * 4 for n in range(100)), depth=2):
        ...         print(reply)
        """
        at_least("depth", depth, 1)
        if not isinstance(source, Iterable):
            raise TypeError(f"source must be an iterable of requests, not {type(source).__name__}")
        if self._outstanding():
            raise RuntimeError(f"another pipeline of {self.address} is still running")
        return self._pipeline(source, depth, reply_bytes)

    def _pipeline(self, source: Iterable[Request], depth: int, reply_bytes: int | None) -> Iterator[bytes]:
        submit = self._submit
        try:
            for request in source:
                reply = submit(request, reply_bytes, depth)
                if reply is not None:
                    yield reply
            while self._outstanding():
                yield self._next_reply()
        finally:
            self._drain()

    def _drain(self) -> None:
        """Receive outstanding replies, so that the next caller does not get them."""
        while not self.closed and self._outstanding():
            try:
                self._next_reply()
            except OSError:
                return

    def control(
        self,
        step: Step | Gain | None,
        *,
        period: v.Time = 0,
        depth: int = 1,
        cycles: int | None = None,
        duration: v.Time | None = None,
        request: Buffer = b"",
        reply_bytes: int | None = None,
        priority: int | None = None,
        pin: int | None = None,
    ) -> npt.NDArray[np.void]:
        """Run a control loop at a fixed rate: `step` computes each command from a reply.

        Parameters
        ----------
        step : callable, Gain or None
            Called with the newest reply (bytes; None before the first), returns the command
            (bytes or an array); None sends the last one again, StopIteration ends the loop. A
            `Gain` needs no Python; None always sends `request`.
        period : float or str
            Seconds between the starts of two cycles, or ``"2ms"``; 0: as fast as replies arrive.
        depth : int
            Number of outstanding requests. With depth 1 a command is computed from the reply of the
            previous cycle, with depth d from d cycles before: a shorter repetition time, but a longer
            dead time.
        cycles : int, optional
            How many.
        duration : float or str, optional
            Duration, if there is a period.
        request : bytes or array
            The command before `step` has returned one, and the size that a `Gain` fills.
        reply_bytes : int, optional
            As in `exchange`.
        priority : int, optional
            SCHED_FIFO priority of the loop, 1 to 99; needs CAP_SYS_NICE.
        pin : int, optional
            Pin the loop to this CPU.

        Returns
        -------
        array (cycles,) of CYCLE
            Intended start, actual start, RTT and duration of `step` for each cycle.

        Raises
        ------
        LinkError
            The link failed. `cycles` has the cycles before.
        Exception
            Any exception of `step`, with the same attribute.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.5:7", framing=wg.Fixed(8)) as device:
        ...     cycles = device.control(wg.Gain(-0.5), period="2ms", duration=10, request=bytes(8))
        """
        period_ns = nanoseconds("period", period, least=0)
        if (cycles is None) == (duration is None):
            raise ValueError("use either `cycles` or `duration`")
        if cycles is None:
            if period_ns == 0:
                raise ValueError("`duration` needs a `period`; without one use `cycles`")
            cycles = -(-nanoseconds("duration", duration or 0) // period_ns)
        at_least("cycles", cycles, 0)
        at_least("depth", depth, 1)
        rows = np.zeros(cycles, CYCLE)
        if not cycles:
            return rows
        try:
            done = self._control(step, bytes(request), period_ns, depth, reply_bytes, priority, pin, rows)
        except BaseException as error:
            error.cycles = rows[: getattr(error, "done", 0)]  # type: ignore[attr-defined]
            raise
        return rows[:done]

    def read_stream(
        self,
        into: bytearray | memoryview | npt.NDArray[Any],
        *,
        transfer: int = 16384,
        queue: int = 4,
    ) -> int:
        """Receive a stream into a buffer.

        Parameters
        ----------
        into : bytearray or array in C order
            Its size is the number of bytes to read.
        transfer : int
            Bytes per transfer.
        queue : int
            Transfers pending at once (USB).

        Returns
        -------
        int
            Bytes received.

        Raises
        ------
        LinkError
            The link failed. `done` has the bytes received before.

        Examples
        --------
        >>> samples = np.zeros(1 << 20, np.uint8)
        >>> with wg.open("usb://1d6b:0104") as device:
        ...     device.read_stream(samples)
        """
        at_least("transfer", transfer, 1)
        at_least("queue", queue, 1)
        return self._read_stream(into, transfer, queue)

    def write_stream(self, source: Buffer, *, transfer: int = 16384, queue: int = 4) -> int:
        """Send all of a buffer.

        Parameters
        ----------
        source : bytes, bytearray or array in C order
            What to send.
        transfer : int
            Bytes per transfer.
        queue : int
            Transfers pending at once (USB).

        Returns
        -------
        int
            Bytes sent.

        Raises
        ------
        LinkError
            The link failed. `done` has the bytes sent before.

        Examples
        --------
        >>> with wg.open("usb://1d6b:0104") as device:
        ...     device.write_stream(np.zeros(1 << 20, np.uint8))
        """
        at_least("transfer", transfer, 1)
        at_least("queue", queue, 1)
        return self._write_stream(source, transfer, queue)

    @property
    def last_rtt_ns(self) -> int:
        """RTT of the last single exchange, in nanoseconds."""
        return int(self._last[1])

    @property
    def about(self) -> dict[str, Any]:
        """Address, information from the device, settings of the link, largest payloads (B)."""
        about = dict(self._about())
        about["responder"] = json.loads(about["responder"])
        about["link"] = dict(about["link"])
        return about

    def __enter__(self) -> Device:
        """Keep it open until the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _repr_html_(self) -> str:
        rows = [["address", self.address], ["state", "closed" if self.closed else "open"]]
        if not self.closed:
            about = self.about
            name = (about["responder"] or {}).get("name")
            speaks = type(self._framing).__name__ if self._framing is not None else self._speaks
            rows += (
                [["name", name], ["protocol or framing", speaks]]
                if name
                else [["protocol or framing", speaks]]
            )
            rows += [[str(key), str(value)] for key, value in about["link"].items()]
            rows += [
                ["largest request", f"{about['largest_request']} B"],
                ["largest reply", f"{about['largest_reply']} B"],
            ]
        return page(table("Device", ["", ""], rows))

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<wiregauge.Device {self.address}{', closed' if self.closed else ''}>"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled."""
        raise TypeError(
            f"an open device cannot go to another process; send its address, {self.address!r}, "
            "and open it there"
        )
