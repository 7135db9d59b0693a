#!/usr/bin/env python3
"""A USBTMC instrument read by programs that know nothing of wiregauge. Each command prints a line of JSON.

    usbtmc_visa.py visa VID PID N        pyvisa-py through libusb: *IDN? N times, blocks of data, a read without a query
    usbtmc_visa.py file PATH N           the same with read and write on the file of the kernel's usbtmc driver
"""

from __future__ import annotations

import fcntl
import json
import os
import statistics
import struct
import sys
import time
import warnings
from collections.abc import Callable

# Blocks whose transfers fill their last packet are among them: 12 B of header, `#3493` and a newline.
BLOCKS = (1, 12, 492, 493, 494, 495, 5000, 100_000)
# linux/usb/tmc.h: _IO(91, 2), _IOW(91, 10, u32), _IOR(91, 18, u8), _IOW(91, 25, u8)
CLEAR, SET_TIMEOUT, READ_STB, AUTO_ABORT = 0x5B02, 0x40045B0A, 0x80015B12, 0x40015B19


def block(reply: bytes) -> bytes:
    """The data of a definite-length block, whose end is a newline."""
    digits = int(reply[1:2])
    size = int(reply[2 : 2 + digits])
    data = reply[2 + digits : 2 + digits + size]
    assert reply[:1] == b"#" and reply[2 + digits + size :] == b"\n" and len(data) == size, reply[:20]
    return data


def drive(query: Callable[[str, int], bytes], count: int) -> dict[str, object]:
    """Queries an instrument; `query` is given the most bytes of a reply."""
    times = []
    for _ in range(count):
        begun = time.perf_counter()
        name = query("*IDN?\n", 4096)
        times.append(time.perf_counter() - begun)
    blocks = {}
    for size in BLOCKS:
        data = block(query(f"CURV? {size}\n", size + 20))
        blocks[size] = data == bytes(at & 0xFF for at in range(size))
    error = query("SYST:ERR?\n", 4096).decode().strip()
    return {"identification": name.decode(), "p50_us": round(statistics.median(times) * 1e6), "blocks": blocks, "error": error}


def visa(vendor: str, product: str, count: int) -> None:
    import pyvisa

    # Other kinds of resources would be found with more packages.
    warnings.simplefilter("ignore")

    manager = pyvisa.ResourceManager("@py")
    found = (one.split("::") for one in manager.list_resources() if one.startswith("USB"))
    (name,) = ("::".join(one) for one in found if (int(one[1]), int(one[2])) == (int(vendor, 16), int(product, 16)))
    instrument = manager.open_resource(name)
    instrument.timeout = 5000

    def query(text: str, most: int) -> bytes:
        instrument.write_raw(text.encode())
        return instrument.read_raw(most)

    found = drive(query, count)
    # Nothing was asked: the read times out, is aborted, and leaves the instrument as it was.
    instrument.timeout = 300
    try:
        instrument.read_raw()
        found["without_query"] = "a reply"
    except pyvisa.errors.VisaIOError as failure:
        found["without_query"] = failure.abbreviation
    instrument.timeout = 5000
    found["after"] = query("*OPC?\n", 4096).decode().strip()
    instrument.close()
    print(json.dumps({"resource": name, **found}), flush=True)


def file(path: str, count: int) -> None:
    node = os.open(path, os.O_RDWR)
    fcntl.ioctl(node, SET_TIMEOUT, struct.pack("I", 5000))
    fcntl.ioctl(node, AUTO_ABORT, b"\1")

    def query(text: str, most: int) -> bytes:
        os.write(node, text.encode())
        return os.read(node, most)

    found = drive(query, count)
    fcntl.ioctl(node, SET_TIMEOUT, struct.pack("I", 300))
    try:
        os.read(node, 100)
        found["without_query"] = "a reply"
    except OSError as failure:
        found["without_query"] = failure.strerror
    fcntl.ioctl(node, SET_TIMEOUT, struct.pack("I", 5000))
    found["after"] = query("*OPC?\n", 4096).decode().strip()
    # A query whose reply waits, as the status byte says (MAV), and is cleared.
    os.write(node, b"*IDN?\n")
    time.sleep(0.1)
    found["status"] = fcntl.ioctl(node, READ_STB, b"\0")[0]
    fcntl.ioctl(node, CLEAR)
    found["status_after_clear"] = fcntl.ioctl(node, READ_STB, b"\0")[0]
    found["after_clear"] = query("*OPC?\n", 4096).decode().strip()
    os.close(node)
    print(json.dumps({"resource": path, **found}), flush=True)


def main() -> None:
    command, *rest = sys.argv[1:]
    if command == "visa":
        visa(rest[0], rest[1], int(rest[2]))
    else:
        file(rest[0], int(rest[1]))


if __name__ == "__main__":
    main()
