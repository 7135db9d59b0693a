"""Figures of other programs beside ours, of the same series of times.

fio and sockperf write each time that they measure to a log, and print their own figures. The times
of the log are stored as a run, whose figures the program under test computes. Definitions are the
same, so that only rounding may differ: fio counts times in a histogram whose cells are up to 1/64
wide; sockperf cuts off below a nanosecond, and rounds the rank n p to the nearest, where ours
rounds up.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from common import Checks, scratch, write_exchange_run

#: Our keys of percentiles, and theirs in percent.
PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p999": 99.9}
#: Half of the widest cell of fio's histogram (stat.h: 64 cells from one power of two to the next),
#: which it prints the middle of.
CELL = 1 / 128
#: Numbers of reads whose ranks n p are no whole numbers, where fio's rounding would decide.
READS, QUICK_READS = 30_011, 2003
#: fio reads a file of this size, in blocks of these sizes: some 1 to 100 microseconds each.
FILE_BYTES, BLOCKS = 8 << 20, (4096, 65_536, 1 << 20)
#: sockperf's messages in bytes.
MESSAGES = (14, 1000, 30_000)


class NothingMeasuredError(Exception):
    """The other program ended without figures: on a busy host its time may be over too soon."""


class Worst:
    """The largest difference of each figure."""

    def __init__(self):
        self.of: dict[str, float] = {}

    def add(self, figure: str, difference: float) -> None:
        self.of[figure] = max(self.of.get(figure, 0.0), difference)

    def text(self, unit: str, scale: float = 1.0) -> str:
        return ", ".join(f"{figure} {scale * most:.2g}{unit}" for figure, most in self.of.items())


def ours(path: Path, times: np.ndarray) -> dict:
    """What the program under test computes of these times in nanoseconds."""
    run = write_exchange_run(path, times)
    return json.loads((run / "run.json").read_text())["points"][0]["rtt"]


def by_fio(home: Path, block: int, count: int) -> tuple[np.ndarray, dict]:
    """Times of reads in ns, and what fio prints of them."""
    listed = ":".join(f"{percent:g}" for percent in PERCENTILES.values())
    command = ["fio", "--name=reads", "--ioengine=sync", "--rw=randread", f"--bs={block}"]
    command += [f"--size={FILE_BYTES}", f"--filename={home / 'file'}", "--norandommap"]
    command += [f"--io_size={count * block}", f"--write_lat_log={home / 'log'}"]
    command += [f"--percentile_list={listed}", "--output-format=json"]
    command += [f"--output={home / 'fio.json'}"]
    subprocess.run(command, check=True, capture_output=True, timeout=120, cwd=home)
    rows = (home / "log_clat.1.log").read_text().splitlines()
    times = np.array([int(row.split(",")[1]) for row in rows], dtype=np.int64)
    return times, json.loads((home / "fio.json").read_text())["jobs"][0]["read"]["clat_ns"]


def beside_fio(checks: Checks, home: Path, count: int) -> None:
    """Compare with fio's latencies of completion."""
    worst, n = Worst(), 0
    for block in BLOCKS:
        folder = home / f"fio-{block}"
        folder.mkdir()
        times, theirs = by_fio(folder, block, count)
        mine = ours(folder / "run", times)
        n += len(times)
        where = f"fio, blocks of {block} B, {len(times)} times"
        checks.equal(mine["n"], theirs["N"], "fio: n", where)
        checks.equal(mine["min"], theirs["min"], "fio: min", where)
        checks.equal(mine["max"], theirs["max"], "fio: max", where)
        checks.equal(mine["mean"]["value"], theirs["mean"], "fio: mean", where, 1e-6)
        checks.equal(mine["sd"], theirs["stddev"], "fio: SD", where, 1e-6)
        for key, percent in PERCENTILES.items():
            found, other = mine[key]["value"], theirs["percentile"][f"{percent:.6f}"]
            # Cells below 64 ns are one wide.
            checks.equal(other, found, f"fio: {key}", where, CELL * 1.01, 1)
            worst.add(key, abs(other / found - 1))
    print(f"    fio, {n:,} times: percentiles differ by at most {worst.text(' %', 100)}")


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def by_sockperf(home: Path, size: int, seconds: int) -> tuple[np.ndarray, str]:
    """RTT over TCP on this host in ns, and what sockperf prints of them."""
    address = ["--tcp", "-i", "127.0.0.1", "-p", str(free_port())]
    log = home / "sockperf.csv"
    client = ["sockperf", "ping-pong", *address, "-t", str(seconds), "-m", str(size)]
    client += ["--full-rtt", "--full-log", str(log)]
    server = subprocess.Popen(
        ["sockperf", "server", *address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + 30
        while True:
            done = subprocess.run(client, capture_output=True, text=True, timeout=120, check=False)
            # Refused until the server listens.
            if done.returncode == 0 or time.monotonic() > until:
                break
            time.sleep(0.1)
    finally:
        server.terminate()
        server.wait()
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, client, done.stdout, done.stderr)
    if not re.search(r"Total \d+ observations", done.stdout):
        raise NothingMeasuredError(done.stdout.strip())
    rows = [row.split(",") for row in log.read_text().splitlines() if re.match(r"\d+, ", row)]
    return np.array([round(float(row[3]) * 1e3) for row in rows], dtype=np.int64), done.stdout


def printed(text: str, pattern: str) -> float:
    """A figure that sockperf prints in microseconds, in nanoseconds."""
    return float(re.search(pattern + r"\s*=?\s*([\d.]+)", text).group(1)) * 1e3


def beside_sockperf(checks: Checks, home: Path, seconds: int) -> None:
    """Compare with sockperf's round trips."""
    worst, n = Worst(), 0
    for size in MESSAGES:
        folder = home / f"sockperf-{size}"
        folder.mkdir()
        times, text = by_sockperf(folder, size, seconds)
        mine = ours(folder / "run", times)
        n += len(times)
        where = f"sockperf, messages of {size} B, {len(times)} times"
        said = int(re.search(r"Total (\d+) observations", text).group(1))
        checks.equal(mine["n"], said, "sockperf: n", where)
        # It cuts off below a nanosecond, and before that the mean below a tick of the processor's counter.
        figures = {
            "min": (mine["min"], r"<MIN> observation"),
            "max": (mine["max"], r"<MAX> observation"),
            "mean": (mine["mean"]["value"], r"avg-rtt"),
            "SD": (mine["sd"], r"std-dev"),
        }
        for name, (found, pattern) in figures.items():
            other = printed(text, pattern)
            checks.equal(other, found, f"sockperf: {name}", where, 1e-6, 2.01)
            worst.add(name, abs(other - found))
        ordered = np.sort(times)
        for key, percent in PERCENTILES.items():
            found, other = mine[key]["value"], printed(text, rf"percentile {percent:.3f}")
            rank = len(times) * percent / 100
            nearest = ordered[max(int(np.floor(rank + 0.5)) - 1, 0)]
            same = nearest if np.floor(rank + 0.5) == np.ceil(rank) else None
            checks.equal(found, ordered[int(np.ceil(rank)) - 1], "sockperf: our rank", where)
            checks.equal(other, nearest, f"sockperf: {key}", where, 1e-6, 1.01)
            if same is not None:
                worst.add(key, abs(other - found))
    print(f"    sockperf, {n:,} times, percentiles of the same rank: figures differ by at most")
    print(f"        {worst.text(' ns')}")


def run(quick: bool, keep: str | None = None) -> bool:
    """True if all figures agree; a program that is missing or fails is named and left out."""
    checks = Checks()
    print("Figures of fio and sockperf, of the same times")
    jobs = {
        "fio": lambda home: beside_fio(checks, home, QUICK_READS if quick else READS),
        "sockperf": lambda home: beside_sockperf(checks, home, 1 if quick else 2),
    }
    with scratch(keep) as home:
        for name, job in jobs.items():
            if not shutil.which(name):
                print(f"    {name}: not run (not installed; Debian: {name})")
                continue
            try:
                job(home)
            except (subprocess.SubprocessError, OSError, NothingMeasuredError) as error:
                reason = (getattr(error, "stderr", None) or str(error)).strip()
                # Bytes where the other program was not called for text.
                reason = reason if isinstance(reason, str) else reason.decode(errors="replace")
                reason = re.sub(r"\x1b\[[\d;]*m", "", reason.splitlines()[-1])
                print(f"    {name}: not run ({reason})")
    return checks.report()


if __name__ == "__main__":
    sys.exit(0 if run("--quick" in sys.argv) else 1)
