"""Which classes of targets there are, and starting one: the real binary, on its simulator.

A new target is one line in CLASSES.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "firmware" / "tests"))

from harness import Board, Trouble  # noqa: E402

# Kakanakov's three modes, and the line of a board that has no network.
MODES = {
    "stream": "1: one TCP stream",
    "each": "2: a TCP stream each",
    "udp": "3: UDP",
    "line": "serial line or USB",
}


@dataclass(frozen=True)
class Class:
    """One row of every table."""

    key: str
    title: str
    what: str
    # firmware/sim/TARGET and its options; None: `wiregauge serve` on this computer.
    target: str | None
    options: tuple[str, ...] = ()
    # What makes it an echo.
    echo: tuple[str, ...] = ("--echo",)
    modes: tuple[str, ...] = ("stream", "each", "udp")
    # Which of its ttys is the line, from 0.
    line: int = 0
    # Whose clock tells the device's own time: the simulated processor's, or this computer's. None: no clock.
    clock: str | None = "simulated"
    # What makes that clock go by instructions.
    virtual: tuple[str, ...] = ()


CLASSES = (
    Class(
        "native",
        "this computer",
        "`wiregauge serve`, native: what the host adds by itself",
        None,
        clock="host",
    ),
    Class(
        "baremetal-lwip",
        "bare metal",
        "Cortex-M3 (LM3S6965), event-driven lwIP raw API",
        "baremetal-lwip",
        virtual=("--virtual",),
    ),
    Class(
        "lwip-apps",
        "bare metal, lwIP's own echo",
        "the same board; lwIP's tcpecho_raw and udpecho_raw, unmodified",
        "lwip-apps",
        echo=(),
        clock=None,
    ),
    Class(
        "rtos-freertos",
        "RTOS",
        "Cortex-M3 (MPS2 AN385), FreeRTOS, lwIP sockets",
        "rtos-freertos",
        virtual=("--virtual",),
    ),
    Class("micropython", "interpreted", "MicroPython, its Unix port, native", "micropython", clock="host"),
    Class(
        "linux-armhf",
        "Linux, armhf",
        "`wiregauge-serve` for armhf, emulated instruction by instruction; the host's kernel",
        "linux",
        ("--arch", "armhf"),
        clock="host",
    ),
    Class(
        "linux-aarch64",
        "Linux, aarch64",
        "the same for aarch64",
        "linux",
        ("--arch", "aarch64"),
        clock="host",
    ),
    Class(
        "uno",
        "Arduino Uno",
        "ATmega328P, UART at 115,200 baud",
        "arduino",
        ("--board", "uno"),
        modes=("line",),
    ),
    Class(
        "leonardo",
        "Arduino Leonardo",
        "ATmega32U4, Arduino's own USB-CDC",
        "arduino",
        ("--board", "leonardo"),
        modes=("line",),
    ),
    Class("rp2040", "RP2040, CDC", "USB-CDC, double-buffered", "rp2040", modes=("line",)),
    # Its simulator is its USB host as well, and hands the bulk pipes out as a tty.
    Class("rp2040-bulk", "RP2040, bulk", "the same board, vendor bulk", "rp2040", modes=("line",), line=1),
)


class Answering:
    """A target that answers: what `Board` offers of it, or `wiregauge serve`."""

    def __init__(self, addresses: list[str], line: int = 0) -> None:
        self.addresses = addresses
        self.line = line

    def of(self, mode: str) -> str | None:
        """Return the address for a mode; None if the target has none."""
        scheme = {"udp": "udp://", "line": "serial://"}.get(mode, "tcp://")
        found = [address for address in self.addresses if address.startswith(scheme)]
        number = self.line if mode == "line" else 0
        return found[number] if number < len(found) else None


@contextlib.contextmanager
def started(cls: Class, wiregauge: str, echo: bool, virtual: bool = False) -> Iterator[Answering]:
    """Start a target for as long as it is measured; Trouble if it does not come up."""
    if cls.target is None:
        with _served(wiregauge, echo) as answering:
            yield answering
        return
    program = ROOT / "firmware" / "sim" / cls.target
    if not program.exists():
        raise Trouble(f"there is no firmware/sim/{cls.target}")
    options = [*cls.options, *(cls.echo if echo else ()), *(cls.virtual if virtual else ())]
    os.environ["WIREGAUGE"] = wiregauge
    board = Board(cls.target, *options)
    try:
        board.wait_until_ready()
        yield Answering(board.addresses, cls.line)
    finally:
        board.end()  # Trouble if it does not end as it must.


@contextlib.contextmanager
def _served(wiregauge: str, echo: bool) -> Iterator[Answering]:
    """TCP and UDP of this computer."""
    processes, addresses = [], []
    try:
        for link in ("tcp", "udp"):
            command = [wiregauge, "serve", f"{link}://127.0.0.1:0", "--quiet"]
            command += ["--protocol", "echo" if echo else "wiregauge"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
            processes.append(process)
            line = process.stdout.readline() if process.stdout else ""
            if not line.startswith("serving "):
                raise Trouble(f"{' '.join(command)} did not start")
            addresses.append(line.removeprefix("serving ").strip())
        yield Answering(addresses)
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdout:
                process.stdout.close()
