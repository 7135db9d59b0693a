"""The other end of a link: `serve`, in its own thread."""

from __future__ import annotations

from types import TracebackType
from typing import Literal

from . import _native
from . import _values as v
from ._call import PROGRAM
from ._words import in_python
from .errors import of_failure

__all__ = ["Responder", "serve"]


class Responder:
    """A responder that runs until it is stopped; returned by `serve`.

    A ``with`` statement returns its address and stops it at the end of the block. It also stops when it
    is garbage-collected.

    Attributes
    ----------
    address : str
        Its address, to be measured.
    """

    address: str

    def __init__(self, native: _native.Responder, address: str) -> None:
        self._native = native
        self.address = address

    @property
    def is_serving(self) -> bool:
        """True until it has stopped."""
        return self._native.is_serving

    @property
    def remarks(self) -> str:
        """Connections and notes, one line each."""
        return in_python(self._native.remarks)

    def stop(self) -> None:
        """Stop it and wait until it has stopped; may be called more than once.

        Raises
        ------
        LinkError
            It failed while running.

        Examples
        --------
        >>> responder = wg.serve("tcp://127.0.0.1:0")
        >>> responder.stop()
        """
        self._native.end()
        if self._native.failure is not None:
            raise of_failure(self._native.failure)

    def __enter__(self) -> str:
        """Return its address."""
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
        """Return a short description."""
        state = "serving" if self.is_serving else "ended"
        return f"<wiregauge.Responder {self.address}, {state}>"


def serve(
    address: str,
    *,
    protocol: Literal["wiregauge", "echo", "scpi", "modbus"] | None = None,
    max_clients: int | None = None,
    max_size: v.Size | None = None,
    name: str | None = None,
    baud: int | None = None,
    service_time: v.Time | None = None,
    jitter: v.Time | None = None,
    bus: Literal["full-speed", "high-speed"] | None = None,
    trace: v.File | None = None,
    force: bool = False,
    drop: v.Number | None = None,
    corrupt: v.Number | None = None,
    duplicate: v.Number | None = None,
    reorder: v.Number | None = None,
    lose_byte: v.Number | None = None,
    insert_byte: v.Number | None = None,
    stall: v.Stall | None = None,
    disconnect_after: int | None = None,
    seed: int | None = None,
    device_load: v.Load | None = None,
    plant: str | None = None,
    noise: v.Number | None = None,
    input_limits: v.Range | None = None,
    request_id: v.CanId | None = None,
    response_id: v.CanId | None = None,
    fd: bool = False,
    isotp: bool = False,
    padding: str | None = None,
    block_size: int | None = None,
    st_min: v.Time | None = None,
    bitrate: v.Rates | None = None,
    data_bitrate: v.Rates | None = None,
    function: v.Texts | None = None,
    udc: str | None = None,
    usb_id: str | None = None,
    serial: str | None = None,
    speed: Literal["full", "high", "super"] | None = None,
    transfers: str | None = None,
    report_bytes: int | None = None,
    profile: str | None = None,
    device_time: v.Time | None = None,
    packet_time: v.Time | None = None,
    nak_retry: Literal["frame", "at-once"] | None = None,
    hub: bool = False,
    interval: v.Time | None = None,
    devices: int | None = None,
) -> Responder:
    """Run a responder, the other end of a link: TCP, UDP, Unix socket, tty, pseudo-terminal, USB, HID.

    It runs in its own threads, without the interpreter's lock, until it is stopped::

        with wg.serve("tcp://127.0.0.1:0") as address:
            run = wg.exchange(address)

    Parameters
    ----------
    address
        Address to serve: ``tcp://HOST:PORT`` (port 0 selects a free port), ``udp://HOST:PORT``, ``unix://PATH``,
        ``serial://PATH``, ``can://IFACE``, ``pty:``, ``usb-gadget``, ``usb-virtual`` or ``uhid``.
    protocol
        Wire protocol.
    max_clients
        Maximum number of simultaneous clients.
    max_size
        Maximum size of a request or response in bytes.
    name
        Name of the device.
    baud
        Baud rate of a tty.
    service_time
        Service time: time (s) to process each exchange.
    jitter
        Random addition to the service time, uniform from 0 to this (s).
    bus
        Model the timing of a USB bus.
    trace
        Write every packet of the modelled bus to this capture file, for Wireshark and `explain`.
    force
        Overwrite existing files.
    drop, corrupt, duplicate, reorder, lose_byte, insert_byte
        Faults: send no answer, flip a bit, send it twice, delay it, drop a byte, insert a byte; each as
        a probability, or as ``"every=100"``.
    stall
        Stall for a time: how often and how long (s), such as ``("every=1000", 0.4)``.
    disconnect_after
        Disconnect after this many exchanges.
    seed
        Random seed.
    device_load
        Synthetic load on the device, such as ``{"cpu": 2}``.
    plant
        Simulate a plant, a transfer function such as ``"1000/(s^2+s)"``: messages command and measure it.
    noise
        Intensity of white noise that is added to the command.
    input_limits
        Clip commands to these limits, such as ``(-10, 10)``.
    request_id, response_id
        CAN: identifiers of requests and responses, such as ``0x7e0`` or ``"18da10f1"`` (hexadecimal).
    fd, isotp, padding, block_size, st_min
        CAN: as in `exchange`.
    bitrate, data_bitrate
        CAN: model the timing of a bus with this bit/s.
    function, udc, usb_id, serial, speed, transfers, report_bytes
        For ``usb-gadget``, ``usb-virtual`` and ``uhid``: see ``wiregauge help serve``.
    profile, device_time, packet_time, nak_retry, hub
        The modelled device and its host: see ``wiregauge help serve``. Times in s.
    interval, devices
        For ``usb-virtual``: see ``wiregauge help serve``. Times in s.

    Returns
    -------
    Responder
        It is running.

    Raises
    ------
    UsageError
        A value is not valid.
    LinkError
        The address cannot be served.

    Examples
    --------
    >>> with wg.serve("tcp://127.0.0.1:0", service_time="100us") as address:
    ...     run = wg.exchange(address, count=1000)
    """
    words = ["serve", *v.flags("serve", locals()), "--", *v.text("address", address)]
    native = _native.Responder(words, PROGRAM)
    if native.failure is not None:
        raise of_failure(native.failure)
    if native.address is None:
        raise RuntimeError("the responder stopped before it served, without an error")
    return Responder(native, native.address)
