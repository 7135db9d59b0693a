#!/usr/bin/env python3
"""The ways in which a Python program can exchange bytes with a device, one a row of the table.

    ADDRESS=serial:///dev/pts/3 PROTOCOL=echo OUT=64 IN=64 COUNT=1000 DEPTH=1 clients.py NAME

Prints one line of JSON: name, count, seconds, slices, rtt_ns. `slices` are the seconds of each fifth: their
median is hardly touched by another program that had the processor for a while. OUT and IN are bytes of whole messages on the
wire. PROTOCOL is `echo`, or `wiregauge`, in which OUT and IN hold the headers (16 and 32 bytes).
"""
from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator

ADDRESS = os.environ["ADDRESS"]
PROTOCOL = os.environ.get("PROTOCOL", "echo")
OUT, IN = int(os.environ["OUT"]), int(os.environ["IN"])
COUNT, DEPTH = int(os.environ["COUNT"]), int(os.environ.get("DEPTH", "1"))
WARM_UP = max(COUNT // 10, 20)
SLICES = 5
SLICE = COUNT // SLICES
TIMEOUT_S = 5
now = time.perf_counter_ns

# What a row says: seconds of each slice, and the RTT of each exchange where it is known.
Said = tuple[list[float], list[int]]


# ---- by hand ---------------------------------------------------------------------------------


def check(header: bytes) -> int:
    """CRC-16/CCITT-FALSE, as docs/protocol.md has it."""
    crc = 0xFFFF
    for byte in header:
        x = (crc >> 8) ^ byte
        x ^= x >> 4
        crc = ((crc << 8) ^ (x << 12) ^ (x << 5) ^ x) & 0xFFFF
    return crc


def request() -> bytes:
    """One request of OUT bytes; in the wiregauge protocol always number 0, which a device answers as often as asked."""
    if PROTOCOL == "echo":
        return bytes(n % 251 for n in range(OUT))
    fields = (OUT - 16, IN)
    header = struct.pack("<BBHIII", 0xA7, 0x11, 0, 0, *fields)
    header = struct.pack("<BBHIII", 0xA7, 0x11, check(header), 0, *fields)
    return header + bytes(n % 251 for n in range(OUT - 16))


def host_and_port() -> tuple[str, int]:
    host, port = ADDRESS.removeprefix("tcp://").rsplit(":", 1)
    return host, int(port)


@contextlib.contextmanager
def descriptor() -> Iterator[int]:
    """The device as a file descriptor, as a careful program opens it: raw, without Nagle's algorithm."""
    if ADDRESS.startswith("tcp://"):
        with socket.create_connection(host_and_port(), TIMEOUT_S) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.setblocking(True)
            yield connection.fileno()
        return
    fd = os.open(ADDRESS.removeprefix("serial://"), os.O_RDWR | os.O_NOCTTY)
    try:
        tty.setraw(fd, termios.TCSANOW)
        termios.tcflush(fd, termios.TCIOFLUSH)
        yield fd
    finally:
        os.close(fd)


def repeat(exchange: Callable[[], None]) -> Said:
    """One after the other, each with its RTT."""
    for _ in range(WARM_UP):
        exchange()
    times = [0] * (SLICES * SLICE)
    slices = []
    for first in range(0, len(times), SLICE):
        begun = now()
        for n in range(first, first + SLICE):
            start = now()
            exchange()
            times[n] = now() - start
        slices.append((now() - begun) / 1e9)
    return slices, times


def short(got: int, wanted: int) -> RuntimeError:
    return RuntimeError(f"{got} of {wanted} bytes came within {TIMEOUT_S} s")


def os_pair() -> Said:
    """os.write and os.read: the least that Python can do."""
    message = request()
    with descriptor() as fd:
        def exchange() -> None:
            os.write(fd, message)
            left = IN
            while left:
                left -= len(os.read(fd, left))

        return repeat(exchange)


def os_ahead() -> Said:
    """The same with DEPTH requests sent ahead of their answers."""
    message = request()
    with descriptor() as fd:
        def all_of(count: int) -> None:
            sent = min(DEPTH, count)
            os.write(fd, message * sent)
            for _ in range(count):
                left = IN
                while left:
                    left -= len(os.read(fd, left))
                if sent < count:
                    os.write(fd, message)
                    sent += 1

        return whole(all_of)


def whole(all_of: Callable[[int], None]) -> Said:
    """A slice in one go; the RTTs are not seen from outside."""
    all_of(WARM_UP)
    slices = []
    for _ in range(SLICES):
        begun = now()
        all_of(SLICE)
        slices.append((now() - begun) / 1e9)
    return slices, []


@contextlib.contextmanager
def pyserial():
    import serial

    if ADDRESS.startswith("tcp://"):
        host, port = host_and_port()
        line = serial.serial_for_url(f"socket://{host}:{port}", timeout=TIMEOUT_S)
    else:
        line = serial.Serial(ADDRESS.removeprefix("serial://"), timeout=TIMEOUT_S)
    with line:
        yield line


def pyserial_naive() -> Said:
    """pyserial: write the request, read as many bytes as the answer has."""
    message = request()
    with pyserial() as line:
        def exchange() -> None:
            line.write(message)
            answer = line.read(IN)
            if len(answer) != IN:
                raise short(len(answer), IN)

        return repeat(exchange)


def pyserial_bytewise() -> Said:
    """pyserial, asked for one byte at a time, as many examples do."""
    message = request()
    with pyserial() as line:
        def exchange() -> None:
            line.write(message)
            answer = bytearray()
            while len(answer) < IN:
                byte = line.read(1)
                if not byte:
                    raise short(len(answer), IN)
                answer += byte

        return repeat(exchange)


# ---- through wiregauge -----------------------------------------------------------------------


def opened():
    import wiregauge as wg

    framing = wg.Fixed(IN) if PROTOCOL == "echo" else None
    return wg.open(ADDRESS, framing=framing, timeout=TIMEOUT_S)


def payloads() -> tuple[bytes, int]:
    """What the caller hands over, and what it gets: without the protocol's headers and checks."""
    if PROTOCOL == "echo":
        return request(), IN
    return bytes(n % 251 for n in range(OUT - 18)), IN - 34


def exchange() -> Said:
    """device.exchange, one call an exchange."""
    message, wanted = payloads()
    with opened() as device:
        one = device.exchange
        return repeat(lambda: one(message, wanted))


def exchange_many() -> Said:
    """device.exchange_many, one call for all."""
    import numpy as np

    message, wanted = payloads()
    requests = np.frombuffer(message * SLICE, np.uint8).reshape(SLICE, -1)
    times: list[int] = []
    with opened() as device:
        def all_of(count: int) -> None:
            replies = device.exchange_many(requests[:count], depth=DEPTH, reply_bytes=wanted)
            if replies.shape != (min(count, SLICE), wanted):
                raise RuntimeError(f"replies of shape {replies.shape}, not {(count, wanted)}")
            times.extend(device.last_timings["rtt_ns"].tolist())

        slices, _ = whole(all_of)
    return slices, times[-SLICES * SLICE:]


def pipeline() -> Said:
    """device.pipeline over a generator of requests."""
    message, wanted = payloads()
    with opened() as device:
        def all_of(count: int) -> None:
            source = (message for _ in range(count))
            got = sum(1 for _ in device.pipeline(source, depth=DEPTH, reply_bytes=wanted))
            if got != count:
                raise RuntimeError(f"{got} of {count} replies")

        return whole(all_of)


def control(native: bool = False) -> Said:
    """device.control with a step in Python that returns the same command again."""
    message, wanted = payloads()
    step = None if native else lambda measurement: message
    with opened() as device:
        times: list[int] = []

        def cycles(count: int) -> None:
            rows = device.control(step, period=0, depth=DEPTH, cycles=count, request=message,
                                  reply_bytes=wanted)
            if len(rows) != count or (rows["status"] == 2).any():
                raise RuntimeError(f"{len(rows)} of {count} cycles, {(rows['status'] == 2).sum()} lost")
            times.extend(rows["rtt_ns"].tolist())

        slices, _ = whole(cycles)
    return slices, times[-SLICES * SLICE:]


ROWS: dict[str, Callable[[], Said]] = {
    "os pair": os_pair,
    "os ahead": os_ahead,
    "pyserial": pyserial_naive,
    "pyserial byte-wise": pyserial_bytewise,
    "exchange": exchange,
    "exchange_many": exchange_many,
    "pipeline": pipeline,
    "control": control,
    "control native": lambda: control(native=True),
}


def main() -> None:
    name = sys.argv[1]
    slices, times = ROWS[name]()
    print(json.dumps({"name": name, "count": SLICES * SLICE, "seconds": sum(slices), "slices": slices,
                      "rtt_ns": times}))


if __name__ == "__main__":
    main()
