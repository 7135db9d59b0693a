"""The processes that a bench starts: servers, clients, and that none of them is left behind."""
from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import time

RUN_TIMEOUT_S = 30


class Failed(Exception):
    """A tool that is there did not give a figure."""


class Processes:
    """Every process that this run starts, each in a process group of its own, ended with the run.

    All stay in one session: between sessions the kernel shares out the processor first
    (sched_autogroup, sched(7)), and that would be measured on one core."""

    def __init__(self) -> None:
        self.running: list[subprocess.Popen] = []

    def start(self, command: list[str], **options) -> subprocess.Popen:
        process = subprocess.Popen(command, preexec_fn=os.setpgrp, text=True, **options)
        self.running.append(process)
        return process

    def end(self, process: subprocess.Popen) -> None:
        # Also what it forked and left behind: the group outlives its leader.
        for number in (signal.SIGCONT, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
        if process in self.running:
            self.running.remove(process)

    def end_all(self) -> None:
        for process in list(self.running):
            self.end(process)

    def output(self, command: list[str]) -> str:
        """Runs to the end, bounded in time; both streams together."""
        process = self.start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            text, _ = process.communicate(timeout=RUN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise Failed(f"{shlex.join(command)}: not done after {RUN_TIMEOUT_S} s") from None
        finally:
            self.end(process)
        if process.returncode:
            raise Failed(f"{shlex.join(command)}: exit {process.returncode}: {text.strip()[-400:]}")
        return text


PROCESSES = Processes()


def on(cpu: int, *command: object) -> list[str]:
    return ["taskset", "-c", str(cpu), *map(str, command)]


def free_port() -> int:
    """A port that the system holds for free, for TCP and UDP alike."""
    for _ in range(50):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp, \
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            tcp.bind(("127.0.0.1", 0))
            with contextlib.suppress(OSError):
                udp.bind(("127.0.0.1", tcp.getsockname()[1]))
                return tcp.getsockname()[1]
    raise Failed("no free port")


@contextlib.contextmanager
def background(command: list[str], port: int | None = None):
    """A peer's server. Ready when its TCP port is taken, or after a moment where it has none."""
    process = PROCESSES.start(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 3
        while port is not None and time.monotonic() < until and process.poll() is None:
            # Asked by binding: a connection might be taken for the client.
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError:
                    break
            time.sleep(0.02)
        time.sleep(0.1)
        yield process
    finally:
        PROCESSES.end(process)
