"""Wake-up delays of `loop` beside those of cyclictest (Debian: rt-tests), in turns on this host.

Two programs never meet the same disturbances, so nothing is judged: the figures are printed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from common import Failed, samples, scratch, wiregauge

#: Both wake up each millisecond.
PERIOD_US = 1000
#: A loop of 1 MS/s in blocks of 2,000 B, one each millisecond.
LOOP = ("virtual", "--rate", "1M", "--notify", "2000", "--no-calibration", "--settle", "50ms")


def by_cyclictest(home: Path, cycles: int, priority: int | None) -> np.ndarray:
    """Delays in us, in whole us."""
    file = home / "cyclictest.json"
    command = ["cyclictest", "--quiet", "--threads=1", f"--interval={PERIOD_US}"]
    command += [f"--loops={cycles}", "--histogram=100000", f"--json={file}"]
    command += ["--default-system"] + ([f"--priority={priority}"] if priority else [])
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    histogram = json.loads(file.read_text())["thread"]["0"]["histogram"]
    return np.repeat([int(us) for us in histogram], list(histogram.values()))


def by_loop(home: Path, turn: int, cycles: int, priority: int | None) -> np.ndarray:
    """Delays of the loop's own thread in us: from when a block could begin to when it began."""
    path = home / f"wakeups-{priority}-{turn}"
    flags = ["--priority", str(priority)] if priority else []
    time = f"{cycles * PERIOD_US // 1000}ms"
    wiregauge("loop", *LOOP, "--duration", time, "--store", path, *flags)
    rows = samples(path)
    before = np.concatenate(([0], rows["done_ns"][:-1]))
    delay = rows["begun_ns"] - np.maximum(rows["due_ns"], before)
    return np.maximum(delay[rows["phase"] == "measured"], 0) / 1e3


def show(name: str, delays: np.ndarray) -> None:
    """One line of figures."""
    at = np.quantile(delays, [0, 0.5, 0.9, 0.99, 0.999, 1], method="inverted_cdf")
    names = ("min", "p50", "p90", "p99", "p99.9", "max")
    cells = ", ".join(f"{key} {value:.0f}" for key, value in zip(names, at, strict=True))
    print(f"    {name}: {len(delays):,} wake-ups, us late: {cells}")


def run(quick: bool, keep: str | None = None) -> bool:
    """Print both; never fails."""
    if not shutil.which("cyclictest"):
        print("Wake-ups beside cyclictest: not run (cyclictest is not installed; Debian: rt-tests)")
        return True
    cycles, turns = (400, 2) if quick else (5000, 4)
    print("Wake-ups beside cyclictest, each millisecond, in turns (nothing is judged)")
    with scratch(keep) as home:
        for priority in (None, 50):
            theirs, ours = [], []
            try:
                for turn in range(turns):
                    theirs.append(by_cyclictest(home, cycles, priority))
                    ours.append(by_loop(home, turn, cycles, priority))
            except (Failed, subprocess.CalledProcessError, OSError) as error:
                print(f"    priority {priority}: not run ({str(error)[-200:]})")
                continue
            how = f"SCHED_FIFO {priority}" if priority else "default scheduling"
            show(f"cyclictest, {how}", np.concatenate(theirs))
            show(f"loop, {how}", np.concatenate(ours))
    if os.path.exists("/proc/self/timerslack_ns"):
        slack = Path("/proc/self/timerslack_ns").read_text().strip()
        print(f"    (cyclictest has a timer slack of {slack} ns by default, the loop one of 1 ns)")
    return True


if __name__ == "__main__":
    sys.exit(0 if run("--quick" in sys.argv) else 1)
