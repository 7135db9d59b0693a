"""The other end of the wire: `serve`, in a thread beside Python."""

from __future__ import annotations

from types import TracebackType
from typing import Literal

from . import _native
from . import _values as v
from ._call import PROGRAM
from .errors import of_failure

__all__ = ["Responder", "serve"]

SERVE: dict[str, v.Convert] = {
    "protocol": v.text,
    "max_clients": v.count,
    "max_size": v.size,
    "name": v.text,
    "baud": v.count,
    "service_time": v.time,
    "jitter": v.time,
    "bus": v.text,
    "drop": v.number,
    "corrupt": v.number,
    "duplicate": v.number,
    "reorder": v.number,
    "lose_byte": v.number,
    "insert_byte": v.number,
    "stall": v.stall,
    "disconnect_after": v.count,
    "seed": v.count,
    "device_load": v.load,
    "function": v.texts,
    "udc": v.text,
    "usb_id": v.text,
    "serial": v.text,
    "speed": v.text,
    "transfers": v.text,
    "profile": v.text,
    "device_time": v.time,
    "packet_time": v.time,
    "nak_retry": v.text,
    "hub": v.switch,
    "devices": v.count,
}


class Responder:
    """A responder that serves until it is told to end; made by `serve`.

    In a ``with`` statement it gives its address, and ends with the block. It also ends when nothing
    refers to it any more.

    Attributes
    ----------
    address : str
        Where it answers, ready to be measured.
    """

    address: str

    def __init__(self, native: _native.Responder, address: str) -> None:
        self._native = native
        self.address = address

    @property
    def is_serving(self) -> bool:
        """True until it has ended."""
        return self._native.is_serving

    @property
    def remarks(self) -> str:
        """Who came and left, a line each, and what else there is to note."""
        return self._native.remarks

    def stop(self) -> None:
        """End it, and wait until it has; more than once is no error.

        Raises
        ------
        LinkError
            It had failed meanwhile.
        """
        self._native.end()
        if self._native.failure is not None:
            raise of_failure(self._native.failure)

    def __enter__(self) -> str:
        """Give its address."""
        return self.address

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self._native.end()

    def __repr__(self) -> str:
        """Name it."""
        state = "serving" if self.is_serving else "ended"
        return f"<wiregauge.Responder {self.address}, {state}>"


def serve(
    address: str,
    *,
    protocol: Literal["wiregauge", "echo"] | None = None,
    max_clients: int | None = None,
    max_size: v.Size | None = None,
    name: str | None = None,
    baud: int | None = None,
    service_time: v.Time | None = None,
    jitter: v.Time | None = None,
    bus: Literal["full-speed", "high-speed"] | None = None,
    drop: v.Often | None = None,
    corrupt: v.Often | None = None,
    duplicate: v.Often | None = None,
    reorder: v.Often | None = None,
    lose_byte: v.Often | None = None,
    insert_byte: v.Often | None = None,
    stall: str | tuple[v.Often, v.Time] | None = None,
    disconnect_after: int | None = None,
    seed: int | None = None,
    device_load: v.Load | None = None,
    function: v.Texts | None = None,
    udc: str | None = None,
    usb_id: str | None = None,
    serial: str | None = None,
    speed: Literal["full", "high", "super"] | None = None,
    transfers: str | None = None,
    profile: str | None = None,
    device_time: v.Time | None = None,
    packet_time: v.Time | None = None,
    nak_retry: Literal["frame", "at-once"] | None = None,
    hub: bool = False,
    devices: int | None = None,
) -> Responder:
    """Be the device: answer on TCP, UDP, a Unix socket, a tty, a pseudo-terminal or a USB port.

    It answers in threads of its own, without the interpreter's lock, until it is stopped::

        with wg.serve("tcp://127.0.0.1:0") as address:
            run = wg.exchange(address)

    Parameters
    ----------
    address
        Where: ``tcp://HOST:PORT`` (port 0 takes any free one), ``udp://HOST:PORT``, ``unix://PATH``,
        ``serial://PATH``, ``pty:``, ``usb-gadget`` or ``usb-virtual``.
    protocol
        What to speak.
    max_clients
        Clients at once, at most.
    max_size
        Largest request or response, in bytes.
    name
        The name that it gives.
    baud
        Baud rate of a tty.
    service_time
        Time (s) that the device computes for each exchange.
    jitter
        Added to it at random, evenly from 0 to this (s).
    bus
        Carry everything over a modelled USB bus.
    drop, corrupt, duplicate, reorder, lose_byte, insert_byte
        Send no answer, one with a wrong bit, one twice, one later than others, one with a byte too
        few or too many; each as a probability, or as ``"every=100"``.
    stall
        Do nothing for a while: how often and how long (s), such as ``("every=1000", 0.4)``.
    disconnect_after
        Be gone after so many exchanges.
    seed
        Seed of all that is random.
    device_load
        Threads that load the device, such as ``{"cpu": 2}``.
    function, udc, usb_id, serial, speed, transfers
        Of ``usb-gadget`` and ``usb-virtual``: see ``wiregauge help serve``.
    profile, device_time, packet_time, nak_retry, hub, devices
        Of ``usb-virtual``: see ``wiregauge help serve``. Times in s.

    Returns
    -------
    Responder
        It answers already.

    Raises
    ------
    UsageError
        A value makes no sense.
    LinkError
        The system refuses the address.
    """
    words = ["serve", *v.flags(SERVE, locals()), "--", *v.text("address", address)]
    native = _native.Responder(words, PROGRAM)
    if native.failure is not None:
        raise of_failure(native.failure)
    if native.address is None:
        raise RuntimeError("the responder ended before it served, and without an error")
    return Responder(native, native.address)
