"""Starts simulated boards and runs wiregauge against them: what every test here needs."""

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

REPOSITORY = Path(__file__).resolve().parents[2]
SIMULATORS = REPOSITORY / "firmware" / "sim"

# A simulator that is not ready by then never will be.
READY_S = 120
# A simulator that does not end on SIGTERM by then does not keep its contract.
END_S = 15


class Trouble(AssertionError):  # noqa: N818 - as pytest says it, no error but a failure
    """A simulator or wiregauge did not do what it must."""


class Board:
    """One simulated board, by `firmware/sim/TARGET OPTIONS`, in a process group of its own."""

    def __init__(self, target: str, *options: str) -> None:
        self.target = target
        self.options = options
        self.addresses: list[str] = []
        # Its line takes its time: fewer exchanges are enough. Tests set it.
        self.slow = False
        self._said: IO[str] = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.process = subprocess.Popen(
            [str(SIMULATORS / target), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Take its lines as they come: a simulator that is not read would block."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.strip())
        self._lines.put(None)

    def wait_until_ready(self) -> "Board":
        """Return once it says `ready`; kill it and show what it said if it does not."""
        end = time.monotonic() + READY_S
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                self.kill()
                raise Trouble(f"{self} was not ready within {READY_S} s:\n{self.said()}") from None
            if line is None:
                self.kill()
                raise Trouble(f"{self} ended before it was ready:\n{self.said()}")
            if line == "ready":
                return self
            self.addresses.append(line)

    def _first(self, scheme: str) -> str | None:
        return next((address for address in self.addresses if address.startswith(f"{scheme}://")), None)

    @property
    def tcp(self) -> str | None:
        """Its first TCP address, or None."""
        return self._first("tcp")

    @property
    def udp(self) -> str | None:
        """Its first UDP address, or None."""
        return self._first("udp")

    @property
    def serial(self) -> str | None:
        """Its first tty, or None."""
        return self._first("serial")

    def signal(self, number: int) -> None:
        """Send the simulator itself a signal; SIGUSR1 resets the board."""
        self.process.send_signal(number)

    def reset(self) -> None:
        """Reset the board, as its button would."""
        self.signal(signal.SIGUSR1)

    def said(self) -> str:
        """Return what the simulator has written to stderr so far."""
        self._said.seek(0)
        return self._said.read()

    def end(self) -> int:
        """End it as a user would (SIGTERM) and return its exit status; whatever it left behind is killed."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            raise Trouble(f"{self} did not end on SIGTERM within {END_S} s:\n{self.said()}") from None
        finally:
            self.kill()

    def left_behind(self) -> list[str]:
        """Return the command lines of what it started and did not end."""
        return [command for command in _commands_of_group(self.process.pid) if command]

    def kill(self) -> None:
        """Kill it and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __str__(self) -> str:
        """Return the command that started it."""
        return " ".join(["firmware/sim/" + self.target, *self.options])


def _commands_of_group(group: int) -> Iterator[str]:
    """Yield the command lines of the living processes of a group."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            # `PID (NAME) STATE PARENT GROUP ...`; the name may hold anything, parentheses too.
            state, _parent, of_group = (place / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(of_group) == group and state != "Z":
                yield (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except (FileNotFoundError, ProcessLookupError):
            continue  # It ended meanwhile.


class Wiregauge:
    """The program under test: the binary that $WIREGAUGE names."""

    def __init__(self, runs: Path) -> None:
        default = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target")) / "release" / "wiregauge"
        self.binary = os.environ.get("WIREGAUGE", str(default))
        self.environment = {**os.environ, "WIREGAUGE_RUNS": str(runs)}

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start it in the background; its output can be read from the process."""
        return subprocess.Popen(
            [self.binary, *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *words: str, status: int = 0, timeout: float = 120) -> str:
        """Run it, hold it to its exit status, return what it printed."""
        with self.start(*words) as process:
            try:
                out, error = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                out, error = process.communicate()
                raise Trouble(f"{_command(words)} took over {timeout} s:\n{error}{out}") from None
        if process.returncode != status:
            raise Trouble(f"{_command(words)} ended with {process.returncode}, not {status}:\n{error}{out}")
        return out

    def json(self, *words: str, status: int = 0, timeout: float = 120) -> Any:
        """Run it with --json and return what it printed, parsed."""
        return json.loads(self(*words, "--json", status=status, timeout=timeout))

    def exchange(self, address: str, *flags: str, status: int = 0, timeout: float = 120) -> Any:
        """Measure exchanges, without the host's own floor; nothing is stored."""
        words = ["exchange", address, "--no-calibration", "--no-store", *flags]
        return self.json(*words, status=status, timeout=timeout)

    def stream(self, address: str, *flags: str, status: int = 0, timeout: float = 120) -> Any:
        """Measure streams; nothing is stored."""
        return self.json("stream", address, "--no-store", *flags, status=status, timeout=timeout)


def _command(words: tuple[str, ...]) -> str:
    return " ".join(["wiregauge", *words])


def hold_intact(run: Any) -> Any:
    """Assert that every exchange of a run was answered, right and once; returns the run."""
    assert run["points"], "nothing was measured"
    for point in run["points"]:
        counts, where = point["counts"], f"{run['plan']['address']}: {point['point']}: {point['counts']}"
        assert point["ending"] == {"how": "complete"}, where
        assert counts["exchanges"] == counts["answered"] > 0, where
        for wrong in ("lost", "late", "duplicated", "reordered", "corrupted", "stray_bytes"):
            assert counts[wrong] == 0, f"{wrong}: {where}"
    return run
