#!/usr/bin/env python3
"""A pseudo-terminal for the simulator, which cannot open one itself.

Both ways a message is a letter, four bytes of length, and that many bytes. To the simulator: P the path of
the tty, O it was opened, C it was closed, D data. From it: D data, A so many bytes (a number of four bytes)
are on the bus. Ends with its standard input.
"""

from __future__ import annotations

import contextlib
import os
import select
import struct
import time
import tty

# How often to look whether somebody has opened the tty: the system tells of its closing only.
LOOK_S = 0.01
# Beyond this, what a program does not read stays with the simulator.
HELD = 1 << 16
# No more bytes than this are under way to the bus: a program that writes is held off early, as on a real tty.
AHEAD = 4096


class Terminal:
    """The pseudo-terminal, and what is under way to the program that has it open."""

    def __init__(self) -> None:
        self.master, slave = os.openpty()
        tty.setraw(slave)
        send(b"P", os.ttyname(slave).encode())
        os.close(slave)
        os.set_blocking(self.master, False)
        self.opened = False
        self.held = bytearray()
        self.room = AHEAD

    def serve(self, seen: int) -> None:
        """Look what the program did: `seen` is what poll() returned."""
        if not self.opened and (seen & select.POLLIN or not seen & select.POLLHUP):
            self.opened = True
            send(b"O")
        if seen & select.POLLIN:
            with contextlib.suppress(BlockingIOError, OSError):
                data = os.read(self.master, self.room)
                self.room -= len(data)
                send(b"D", data)
        elif self.opened and seen & select.POLLHUP:
            self.opened = False
            # What the program that has gone did not read is not for the next one.
            self.held.clear()
            send(b"C")

    def write(self) -> None:
        """Hand over what the tty takes now."""
        with contextlib.suppress(BlockingIOError, OSError):
            del self.held[: os.write(self.master, self.held)]


def send(kind: bytes, data: bytes = b"") -> None:
    """Write one message to the simulator."""
    os.write(1, kind + struct.pack("<I", len(data)) + data)


def main() -> None:
    """Carry bytes until the simulator goes."""
    terminal = Terminal()
    received = bytearray()
    poll = select.poll()
    while True:
        wanted = (select.POLLIN if terminal.room else 0) | (select.POLLOUT if terminal.held else 0)
        poll.register(terminal.master, wanted)
        poll.register(0, select.POLLIN if len(terminal.held) < HELD else 0)
        events = dict(poll.poll(None if terminal.opened else 0))
        terminal.serve(events.get(terminal.master, 0))
        if 0 in events:
            data = os.read(0, 1 << 16)
            if not data:
                return
            received += data
        while len(received) >= 5:
            (length,) = struct.unpack_from("<I", received, 1)
            if len(received) < 5 + length:
                break
            body = received[5 : 5 + length]
            if received[:1] == b"A":
                terminal.room = min(AHEAD, terminal.room + struct.unpack("<I", body)[0])
            elif terminal.opened:
                terminal.held += body
            del received[: 5 + length]
        if terminal.held:
            terminal.write()
        if not terminal.opened:
            time.sleep(LOOK_S)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        main()
