"""What the simulators of firmware/sim that run programs of this computer share.

Free ports, ttys, and a board's programs, which are started, reset and ended with it. README.md says what a
simulator must do.
"""

import ctypes
import fcntl
import os
import pathlib
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tty
from dataclasses import dataclass, field
from typing import NoReturn

# prctl(2).
PR_SET_PDEATHSIG = 1
READY_S = 60


#: A byte for each port, locked by the board that has it for as long as the board lives.
_port_locks: int | None = None
_own_ports: set[int] = set()


def free_port() -> int:
    """Return a port of the loopback that nobody has, nor gets while the board is reset; of TCP and UDP alike.

    The system gives none of these to who asks for any, and other boards see the lock.
    """
    global _port_locks
    if _port_locks is None:
        path = pathlib.Path(tempfile.gettempdir()) / "wiregauge-ports.lock"
        _port_locks = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    lowest_given = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(max(lowest_given // 2, 1024), lowest_given)
        if port in _own_ports:
            continue
        with socket.socket() as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            try:
                fcntl.lockf(_port_locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
                tcp.bind(("127.0.0.1", port))
                udp.bind(("127.0.0.1", port))
            except OSError:
                continue
        _own_ports.add(port)
        return port


def tty_pair() -> tuple[int, str]:
    """Return the device's end of a new tty, a descriptor that never waits, and the path of the host's end."""
    # The host's end stays open here as well: a line is not cut because nobody listens.
    device, host = os.openpty()
    os.set_blocking(device, False)
    tty.setraw(host)
    return device, os.ttyname(host)


def _die_with_parent() -> None:
    """Make a child end with the simulator, even by kill -9, and let signals through to it again."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclass
class Program:
    """One program of a board: its command, and the line that says that it serves."""

    command: list[str]
    ready: str
    descriptors: tuple[int, ...] = ()
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        """Start it and wait until it serves."""
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            pass_fds=self.descriptors,
            preexec_fn=_die_with_parent,
        )
        said = self.process.stdout
        assert said is not None
        until = time.monotonic() + READY_S
        while select.select([said], [], [], max(0.0, until - time.monotonic()))[0]:
            line = said.readline().decode(errors="replace")
            if not line:
                fail(f"{self.command[0]} ended with {self.process.wait()} before it served")
            if line.startswith(self.ready):
                # What it says later is nobody's business, but must go somewhere.
                threading.Thread(target=said.read, daemon=True).start()
                return
        fail(f"{self.command[0]} did not serve within {READY_S} s")

    def end(self) -> None:
        """Cut its power."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def fail(what: str) -> NoReturn:
    """End the simulator with a message."""
    print(f"{sys.argv[0]}: {what}", file=sys.stderr)
    os._exit(1)


def run(programs: list[Program], addresses: list[str], until_eof: bool) -> None:
    """Be the board: run its programs until a signal or the end of input ends it; SIGUSR1 resets it."""
    # They wait until they are asked for. A thread that was made before would be interrupted by them, so that
    # a board's signals come here first of all.
    wanted = {signal.SIGTERM, signal.SIGINT, signal.SIGUSR1}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    for program in programs:
        program.start()
    print("\n".join([*addresses, "ready"]), flush=True)
    if until_eof:
        threading.Thread(target=_end_with_input, daemon=True).start()
    while True:
        got = signal.sigtimedwait(wanted, 0.2)
        if got and got.si_signo in (signal.SIGTERM, signal.SIGINT):
            break
        if got and got.si_signo == signal.SIGUSR1:
            for program in programs:
                program.end()
            for program in programs:
                program.start()
        for program in programs:
            if program.process and program.process.poll() is not None:
                for other in programs:
                    other.end()
                fail(f"{program.command[0]} ended with {program.process.returncode}")
    for program in programs:
        program.end()


def _end_with_input() -> None:
    while sys.stdin.buffer.read1(4096):  # type: ignore[attr-defined]
        pass
    os.kill(os.getpid(), signal.SIGTERM)
