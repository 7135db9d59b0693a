"""Runs of the real program and their reports."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

WIREGAUGE = os.environ.get("WIREGAUGE", "target/release/wiregauge")


def wiregauge(*words: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Runs the real program; it must go well."""
    done = subprocess.run(
        [WIREGAUGE, *words], capture_output=True, text=True, timeout=timeout, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"wiregauge {' '.join(words)}: {done.returncode}: {done.stderr}")
    return done


@contextlib.contextmanager
def served(*words: str) -> Iterator[str]:
    """A responder; gives the address at which it answers."""
    with subprocess.Popen(
        [WIREGAUGE, "serve", *words, "--quiet"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.match(r"serving (\S+)", line)
            if not found:
                raise AssertionError(f"serve said: {line!r}")
            yield found[1]
        finally:
            process.terminate()


class Reports:
    """Runs and their reports, each made when a test first wants it."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def run(self, name: str, command: str, *words: str, faults: Sequence[str] = ()) -> Path:
        """A run of that name."""
        where = self.place / name
        if not where.exists():
            with served("tcp://127.0.0.1:0", *faults) as address:
                wiregauge(command, address, *words, "--store", str(where), "--quiet")
        return where

    def small(self) -> Path:
        """Twelve points, two limits, three depths."""
        return self.run(
            "small", "exchange", "--in", "48,1000,8000,32000", "--depth", "1,2,4",
            "--count", "2000", "--below", "100us,1ms",
        )  # fmt: skip

    def other(self) -> Path:
        """The same again."""
        return self.run(
            "other", "exchange", "--in", "48,1000,8000,32000", "--depth", "1,2,4",
            "--count", "2000",
        )  # fmt: skip

    def large(self) -> Path:
        """A hundred points of ten thousand exchanges."""
        return self.run(
            "large", "exchange", "--in", "48,100,200,500,1000,2000,4000,8000,16000,32000",
            "--depth", "1,2,3,4,5,6,7,8,12,16", "--count", "10000",
        )  # fmt: skip

    def few(self) -> Path:
        """Few samples, with a schedule: each is one dot, and cycles can miss their deadline."""
        return self.run(
            "few", "exchange", "--in", "48", "--depth", "1,2", "--interval", "5ms", "--count", "244",
        )  # fmt: skip

    def eight(self) -> Path:
        """So few samples that each is a step of its own."""
        return self.run("eight", "exchange", "--in", "48", "--depth", "1,2", "--count", "8")

    def faulty(self) -> Path:
        """Responses that are lost, changed and sent twice."""
        return self.run(
            "faulty", "exchange", "--in", "48", "--count", "1500", "--timeout", "20ms", "--give-up", "1500",
            faults=["--drop", "2%", "--corrupt", "every=50", "--duplicate", "1%"],
        )  # fmt: skip

    def loop(self) -> Path:
        """A closed loop over two block sizes."""
        where = self.place / "loop"
        if not where.exists():
            wiregauge("loop", "virtual", "--rate", "1M", "--notify", "4k,16k", "--duration", "1s",
                      "--no-calibration", "--store", str(where), "--quiet")  # fmt: skip
        return where

    def stream(self) -> Path:
        """Both ways alone and together."""
        return self.run(
            "stream", "stream", "--direction", "in,out,both", "--transfer", "64,4k,64k",
            "--duration", "300ms", "--rate", "100kB/s,1MB/s",
        )  # fmt: skip

    def interrupted(self) -> Path:
        """Stopped by the user in its second point."""
        where = self.place / "interrupted"
        if not where.exists():
            with served("tcp://127.0.0.1:0") as address:
                process = subprocess.Popen(
                    [WIREGAUGE, "exchange", address, "--depth", "1,2", "--rate", "1000",
                     "--duration", "3s", "--store", str(where), "--quiet"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
                time.sleep(4.5)
                process.send_signal(signal.SIGINT)
                assert process.wait(30) == 130
        return where

    def control(self) -> Path:
        """A page with a control loop, over three depths."""
        run = self.run(
            "control", "exchange", "--in", "48", "--depth", "1,2,3", "--interval", "2ms", "--count", "500",
        )  # fmt: skip
        return self.report("control", run, flags=["--plant", "1000/(s^2+s)", "--pid", "0.96,0,0.049"])

    def frames(self) -> Path:
        """The page of a capture of a modelled bus."""
        page, capture = self.place / "frames.html", self.place / "frames.pcapng"
        if not page.exists():
            with served("pty:", "--bus", "full-speed", "--service-time", "3ms", "--trace", str(capture)) as address:
                wiregauge("exchange", address, "--in", "1000", "--count", "30", "--no-calibration", "--quiet",
                          "--store", str(self.place / "frames"))  # fmt: skip
            wiregauge("explain", str(capture), "--figure", str(page))
        return page

    def report(self, name: str, *runs: Path, flags: Sequence[str] = ()) -> Path:
        """The page of these runs."""
        page = self.place / f"{name}.html"
        if not page.exists():
            wiregauge("report", *map(str, runs), *flags, "-o", str(page), "--quiet")
        return page
