#!/usr/bin/env python3
"""A pseudo-terminal for the simulator, which cannot open one itself.

Both ways a message is a letter, four bytes of length, and that many bytes. To the simulator: P the path of the tty,
O it was opened, C it was closed, D data. From it: D data. Ends with its standard input.
"""

from __future__ import annotations

import os
import select
import struct
import sys
import termios
import time
import tty

# How often to look whether somebody has opened the tty: the system tells of its closing only.
LOOK_S = 0.01
# What a program does not read stays with the simulator beyond this.
HELD = 1 << 16


def send(kind: bytes, data: bytes = b"") -> None:
    """Write one message to the simulator."""
    os.write(1, kind + struct.pack("<I", len(data)) + data)


def main() -> None:
    """Carry bytes until the simulator goes."""
    master, slave = os.openpty()
    tty.setraw(slave)
    send(b"P", os.ttyname(slave).encode())
    os.close(slave)
    os.set_blocking(master, False)
    opened = False
    received, to_tty = bytearray(), bytearray()
    poll = select.poll()
    while True:
        poll.register(master, select.POLLIN | (select.POLLOUT if to_tty else 0))
        poll.register(0, select.POLLIN if len(to_tty) < HELD else 0)
        events = dict(poll.poll(None if opened else 0))
        seen = events.get(master, 0)
        if opened != (not seen & select.POLLHUP):
            opened = not opened
            if not opened:
                # What the program that has gone did not read is not for the next one.
                to_tty.clear()
            send(b"O" if opened else b"C")
        if seen & select.POLLIN:
            try:
                data = os.read(master, 4096)
            except (BlockingIOError, OSError):
                data = b""
            if data:
                send(b"D", data)
        if 0 in events:
            data = os.read(0, 1 << 16)
            if not data:
                return
            received += data
            while len(received) >= 5:
                (length,) = struct.unpack_from("<I", received, 1)
                if len(received) < 5 + length:
                    break
                if opened:
                    to_tty += received[5 : 5 + length]
                del received[: 5 + length]
        if opened and to_tty:
            try:
                del to_tty[: os.write(master, to_tty)]
            except (BlockingIOError, OSError):
                pass
        if not opened:
            time.sleep(LOOK_S)


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt, termios.error):
        sys.exit(0)
