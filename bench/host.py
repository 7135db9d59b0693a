#!/usr/bin/env python3
"""What a setting of the host costs, for the pages of `wiregauge doctor`.

Each pair of settings is measured in turns on this machine, as it is: timer slack, other programs with and
without real-time priority, and what a spinning real-time thread gives up. Writes results.json and README.md.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("WIREGAUGE", str(ROOT / "target/release/wiregauge"))
PROCESSOR = max(os.sched_getaffinity(0))
SPIN = f"--wait spin --priority 50 --pin {PROCESSOR} --host-load cpu={2 * len(os.sched_getaffinity(0))}"
SERIES = {
    "as it is": "",
    "four busy threads": "--host-load cpu=4",
    "four busy threads, --priority 50": "--host-load cpu=4 --priority 50",
}
# prctl(2)
PR_SET_TIMERSLACK = 29
SLEEP_S = 1e-3


def late_us(slack_ns: int, count: int) -> float:
    """Sleep `count` times for a millisecond and give the median delay beyond it."""
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(slack_ns), 0, 0, 0)
    late = []
    for _ in range(count):
        begun = time.perf_counter()
        time.sleep(SLEEP_S)
        late.append(time.perf_counter() - begun - SLEEP_S)
    return statistics.median(late) * 1e6


def exchange(flags: str) -> dict:
    """Measure over the null link, and give its only point."""
    words = ["exchange", "null://", "--no-calibration", "--no-store", "--quiet", "--json", *flags.split()]
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"wiregauge {' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout)["points"][0]


def start_late(flags: str, count: int) -> dict[str, float]:
    """Give how late an exchange that is due each millisecond is over, in microseconds."""
    found = exchange(f"--interval 1ms --count {count} --timeout 1s {flags}")["from_intended"]
    one = {name: found[name]["value"] / 1e3 for name in ("p50", "p99", "p999")}
    return one | {"max": found["max"] / 1e3}


def gaps(seconds: int) -> dict[str, float]:
    """Spin with real-time priority beside ordinary threads and give the gaps in the clock."""
    point = exchange(f"--interval 100us --count {seconds * 10_000} {SPIN}")
    found = [one for one in point["disturbances"] if one["kind"] == "clock-gap"]
    longest, times = (found[0]["longest_ns"] / 1e6, found[0]["times"]) if found else (0.0, 0)
    return {"longest_ms": longest, "a_second": times / (point["elapsed_ns"] / 1e9)}


def median(rows: list[dict[str, float]], name: str) -> float:
    """Give the median of one figure over the rounds."""
    return statistics.median(row[name] for row in rows)


def page(results: dict) -> str:
    """Write what was measured for people."""
    about = results["about"]
    lines = [
        "# What settings of this host cost",
        "",
        f"`bench/host.py`, {about['date']}, {about['version']}; {about['kernel']}, {about['processors']} processors",
        f"({about['cpu']}). Load before {about['load_before']:.2f}, after {about['load_after']:.2f}; other programs",
        f"ran in all rows alike. {about['rounds']} rounds in turns; figures are medians over the rounds.",
        "",
        "## Timer slack: how late a sleep of 1 ms ends in Python",
        "",
        "| timer slack | late, median us | smallest and largest of the rounds |",
        "| --- | ---: | --- |",
    ]
    for name, rows in results["slack"].items():
        lines.append(f"| {name} | {statistics.median(rows):.1f} | {min(rows):.1f} to {max(rows):.1f} |")
    lines += [
        "",
        "## Other programs: how late an exchange that is due each millisecond is over (`null://`)",
        "",
        "| | p50 us | p99 us | smallest and largest | p99.9 us | longest us |",
        "| --- | ---: | ---: | --- | ---: | ---: |",
    ]
    for name, rows in results["neighbours"].items():
        p99 = [row["p99"] for row in rows]
        cells = [f"{median(rows, figure):,.1f}" for figure in ("p50", "p99", "p999", "max")]
        cells.insert(2, f"{min(p99):,.1f} to {max(p99):,.1f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "",
        f"## A real-time thread that spins (`{SPIN}`)",
        "",
        f"Longest gap in its clock: {median(results['spin'], 'longest_ms'):.1f} ms; gaps of over 100 us:",
        f"{median(results['spin'], 'a_second'):.1f} a second.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure in turns, write, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    today = datetime.datetime.now(datetime.timezone.utc)
    out = args.out or ROOT / "bench/runs" / f"{today:%Y-%m-%d}-host"
    cpu = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    version = subprocess.run(
        [PROGRAM, "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    about = {
        "date": today.isoformat(timespec="seconds"),
        "version": version,
        "kernel": f"{platform.system()} {platform.release()}",
        "cpu": cpu[0].split(":", 1)[1].strip() if cpu else platform.machine(),
        "processors": os.cpu_count(),
        "rounds": args.rounds,
        "load_before": os.getloadavg()[0],
    }
    slack: dict[str, list[float]] = {"50 us, the default": [], "1 ns": []}
    neighbours: dict[str, list[dict[str, float]]] = {name: [] for name in SERIES}
    spin = []
    for _ in range(args.rounds):
        for name, ns in (("50 us, the default", 50_000), ("1 ns", 1)):
            slack[name].append(late_us(ns, 500))
        for name, flags in SERIES.items():
            neighbours[name].append(start_late(flags, 2000))
        spin.append(gaps(2))
    about["load_after"] = os.getloadavg()[0]
    results = {"about": about, "slack": slack, "neighbours": neighbours, "spin": spin}
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (out / "README.md").write_text(page(results))
    print(page(results))


if __name__ == "__main__":
    main()
