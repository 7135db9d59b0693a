"""A byte stream to a board, below wiregauge: to send what no program of ours would.

Frames are made by docs/vectors/packing.py, which shares no code with any implementation.
"""

import importlib.util
import os
import select
import socket
import struct
import time
import tty
from types import ModuleType
from typing import NamedTuple, Self

from harness import REPOSITORY, Trouble


def _load_frames() -> ModuleType:
    place = REPOSITORY / "docs" / "vectors" / "packing.py"
    spec = importlib.util.spec_from_file_location("frames", place)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


frames = _load_frames()

RESPONSE = 32


class Answer(NamedTuple):
    """What came back: the fields of the header, and the payload."""

    kind: int
    sequence: int
    status: int
    flags: int
    rx_ticks: int
    tx_ticks: int
    payload: bytes


def answer_of(header: bytes, payload: bytes) -> Answer:
    """Take a response apart; a header that is not right is an error."""
    magic, kind, check, sequence, size, status, flags, rx, tx = struct.unpack("<BBHIIHHQQ", header)
    assert magic == 0x7A, f"no response: {header.hex()}"
    assert kind >> 4 == 1, f"another version: {header.hex()}"
    assert check == frames.crc16(header[:2] + b"\0\0" + header[4:]), f"wrong check: {header.hex()}"
    assert size == len(payload)
    return Answer(kind & 0x0F, sequence, status, flags, rx, tx, payload)


class Line:
    """One opened byte stream: tcp://, unix:// or serial://."""

    def __init__(self, address: str, timeout: float = 20) -> None:
        self.address = address
        self.timeout = timeout
        scheme, _, place = address.partition("://")
        self._socket: socket.socket | None = None
        if scheme == "tcp":
            host, _, port = place.rpartition(":")
            self._socket = socket.create_connection((host, int(port)), timeout=timeout)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        elif scheme == "unix":
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(place)
        elif scheme == "serial":
            self._file = os.open(place, os.O_RDWR | os.O_NOCTTY)
            tty.setraw(self._file)
        else:
            raise ValueError(address)
        if self._socket:
            self._file = self._socket.fileno()
        os.set_blocking(self._file, False)

    def __enter__(self) -> Self:
        """Give itself to `with`."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it, unless it is closed."""
        if self._file >= 0:
            self.close()

    def close(self) -> None:
        """Close it as a program would that ends."""
        if self._socket:
            self._socket.close()
        else:
            os.close(self._file)
        self._file = -1

    def cut(self) -> None:
        """Close it with a reset (TCP), so that the board learns of it in the middle of something."""
        if self._socket and self._socket.family == socket.AF_INET:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def send(self, data: bytes) -> None:
        """Send all of it."""
        end = time.monotonic() + self.timeout
        while data:
            if not select.select([], [self._file], [], max(0.0, end - time.monotonic()))[1]:
                raise Trouble(f"{self.address} takes nothing")
            data = data[os.write(self._file, data) :]

    def receive(self, size: int) -> bytes:
        """Return exactly so many bytes."""
        data = b""
        end = time.monotonic() + self.timeout
        while len(data) < size:
            if not select.select([self._file], [], [], max(0.0, end - time.monotonic()))[0]:
                raise Trouble(f"{self.address}: {len(data)} of {size} bytes came: {data[:64].hex()}")
            some = os.read(self._file, size - len(data))
            if not some:
                raise Trouble(f"{self.address} was closed after {len(data)} of {size} bytes")
            data += some
        return data

    def quiet_for(self, seconds: float) -> bool:
        """Whether nothing comes for so long."""
        return not select.select([self._file], [], [], seconds)[0]

    def drain(self, seconds: float = 0.2) -> bytes:
        """Return what comes until there is silence for so long."""
        data = b""
        while not self.quiet_for(seconds):
            some = os.read(self._file, 65536)
            if not some:
                break
            data += some
        return data

    def answer(self) -> Answer:
        """Return the next response."""
        header = self.receive(RESPONSE)
        return answer_of(header, self.receive(struct.unpack_from("<I", header, 8)[0]))

    def hello(self, sequence: int = 1) -> "Hello":
        """Ask who is there, and return what it says."""
        self.send(frames.hello_request(sequence))
        answer = self.answer()
        assert (answer.kind, answer.sequence, answer.status) == (frames.HELLO, sequence, 0)
        return Hello.of(answer.payload)

    def exchange(self, sequence: int, out_bytes: int, in_bytes: int) -> None:
        """Exchange once, and hold the answer to the protocol."""
        self.send(frames.request(sequence, out_bytes, in_bytes))
        self.right_answer(sequence, in_bytes)

    def right_answer(self, sequence: int, in_bytes: int, flags: int = 0) -> None:
        """Hold the next response to what an EXCHANGE must be answered."""
        answer = self.answer()
        assert (answer.sequence, answer.kind, answer.status) == (sequence, frames.EXCHANGE, frames.OK)
        assert answer.flags == flags
        assert answer.payload == frames.pattern(sequence, max(0, in_bytes - RESPONSE))


class Hello(NamedTuple):
    """What a device says of itself."""

    abilities: int
    max_out: int
    max_in: int
    max_outstanding: int
    tick_hz: int
    tick_bits: int
    name: str
    token: bytes

    @classmethod
    def of(cls, payload: bytes) -> "Hello":
        """Take the payload of a HELLO apart."""
        fields = struct.unpack("<BBBBIIIIIQ32s8s", payload[:72])
        low, high, bits, _bus, abilities, out, into, outstanding, zero, hertz, name, token = fields
        assert (low, high, zero) == (1, 1, 0)
        return cls(abilities, out, into, outstanding, hertz, bits, name.rstrip(b"\0").decode(), token)


SINK, SOURCE, TIMESTAMPS, CHECKS_OUT, MESSAGE = 2, 4, 8, 16, 32
