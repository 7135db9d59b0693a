#!/usr/bin/env python3
"""The closed loop on this machine, beside its floor and the rows of Spectrum's application note.

Runs `wiregauge loop virtual` at the note's rates, with real-time priority and without, in turns, and
writes results.json and README.md. See docs/loop.md for the model and the words.
"""
from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

from surroundings import find_wiregauge

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

RATES = "62.5M,125M,250M,500M"
NOTIFIES = "64k,256k"
# The last processor: the first one takes most interrupts.
PROCESSOR = max(os.sched_getaffinity(0))
# Awake for less than a quarter of the shortest block, so that the floor's timer can share the processor.
SERIES = {
    "real-time": ["--priority", "50", "--pin", str(PROCESSOR), "--wait", "hybrid:15us"],
    "usual": ["--wait", "sleep"],
}
GOAL = 1.25

# Spectrum Instrumentation, application note "Closed Loop Test using a PC Digitizer and AWG", one
# channel, processed by the CPU: MS/s, software buffer kB, notify kB, latency ms (kB of 1,024 B).
PUBLISHED = {
    "Windows": [(62.5, 240, 60, 1.97), (125, 240, 80, 0.98), (250, 360, 120, 0.74),
                (500, 768, 256, 0.79)],
    "Linux": [(62.5, 512, 32, 2.1), (125, 512, 64, 2.1), (250, 1024, 128, 2.1),
              (500, 2048, 256, 2.1)],
}


def first(path: str, default: str = "unknown") -> str:
    with contextlib.suppress(OSError):
        return Path(path).read_text().strip()
    return default


def cpu_line(name: str) -> str:
    for line in first("/proc/cpuinfo", "").splitlines():
        if line.startswith(name):
            return line.split(":", 1)[1].strip()
    return "unknown"


def ticks() -> list[int]:
    """All processors' time since boot: user, nice, system, idle, iowait, irq, softirq, steal."""
    return [int(field) for field in first("/proc/stat", "cpu 0").splitlines()[0].split()[1:9]]


def about() -> dict:
    return {
        "started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "kernel": platform.release(),
        "cpu": cpu_line("model name"),
        "processors": len(os.sched_getaffinity(0)),
        "virtual_machine": "hypervisor" in cpu_line("flags").split(),
        "rt_runtime_us": first("/proc/sys/kernel/sched_rt_runtime_us"),
        "load_before": first("/proc/loadavg"),
    }


def measure(wiregauge: str, series: str, rate: str, args: argparse.Namespace) -> list[dict]:
    """One rate, all blocks, of one series; the summaries of its points, without their curves."""
    flags = ["loop", args.device, "--rate", rate, "--notify", args.notify,
             "--duration", args.duration, *SERIES[series]]
    print(f"wiregauge {shlex.join(flags)}", file=sys.stderr)
    done = subprocess.run([wiregauge, *flags, "--json", "--no-store"], stdout=subprocess.PIPE,
                          text=True, check=False, timeout=1800)
    if done.returncode:
        raise RuntimeError(f"exit {done.returncode}")
    return points_of(json.loads(done.stdout), series, f"wiregauge {shlex.join(flags)}")


def points_of(run: dict, series: str, command: str) -> list[dict]:
    """The summaries of a run's points, without their curves."""
    for point in run["points"]:
        curve = point.pop("curve")
        point["bound_per_minute"] = curve[-1]["per_minute_high"] if curve else None
        point["ratio"] = ratio(point)
    return [{"series": series, "command": command, **point} for point in run["points"]]


def ratio(point: dict) -> float | None:
    if not point["floor_ns"] or not point["needed_ns"]:
        return None
    return point["needed_ns"] / point["floor_ns"]


def row(cells: list[object]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def us(ns: float) -> str:
    """Nanoseconds as microseconds."""
    return f"{ns / 1e3:,.0f}" if ns >= 1e5 else f"{ns / 1e3:.3g}"


def table(points: list[dict]) -> str:
    names = ["MS/s", "MB/s each way", "notify kB", "software buffer kB", "latency ms", "floor ms",
             "needed/floor", "stalls/min at most", "wake p50 us", "wake p99.9 us", "wake max us",
             "work max us", "timer max us", "steal ms", "verified"]
    text = row(names) + row(["---:"] * (len(names) - 1) + ["---"])
    for p in points:
        at, timer, checked = p["point"], p["timer"], p["verified"]
        good = checked and checked["found_frames"] == checked["preload_frames"]
        text += row([
            f"{at['rate_hz'] / 1e6:g}", f"{at['rate_hz'] * 2 * at['channels'] / 1e6:.0f}",
            f"{at['notify_bytes'] / 1024:.0f}", f"{p['needed_bytes'] / 1024:.0f}",
            f"{p['needed_ns'] / 1e6:.3f}", f"{p['floor_ns'] / 1e6:.3f}",
            f"{p['ratio']:.2f}" if p["ratio"] else "-", f"{p['bound_per_minute']:.1f}",
            us(p["wake"]["p50"]["value"]), us(p["wake"]["p999"]["value"]), us(p["wake"]["max"]),
            us(p["work"]["max"]), us(timer["wake_up"]["max"]) if timer else "-",
            f"{p['resources']['steal_ns'] / 1e6:.0f}",
            checked["method"] if good else "NO",
        ])
    return text


def published() -> str:
    names = ["on", "MS/s", "software buffer kB", "notify kB", "latency ms"]
    text = row(names) + row(["---"] + ["---:"] * 4)
    for system, rows in PUBLISHED.items():
        for rate, buffer, notify, latency in rows:
            text += row([f"{system}, CPU", f"{rate:g}", buffer, notify, f"{latency:g}"])
    return text


def page(results: dict) -> str:
    host, points = results["about"], results["points"]
    kind = "A virtual machine" if host["virtual_machine"] else "A computer"
    taken = f", {host['steal']:.1%} of it taken by the hypervisor" if host["virtual_machine"] else ""
    what = (
        f"{kind} with {host['processors']} processors ({host['cpu']}), Linux {host['kernel']}, on which "
        f"other programs ran: the load was {host['load_before'].split()[0]} before and "
        f"{host['load_after'].split()[0]} after, and the processors were busy for {host['busy']:.0%} of "
        f"the time{taken}. The device is `{host['device']}`: no card, no DMA, no driver. So the tail here is that "
        "of the scheduler, the hypervisor and the neighbours; it says what the loop needs beside them, "
        "not what a quiet computer with a card would need."
    )
    text = "# The closed loop on this machine\n\n"
    text += textwrap.fill(
        f"`{host['command']}`, {host['started']}, {host['version']}{host['note']}. Every figure is in "
        "results.json; docs/loop.md has the model and the words.", 110) + "\n\n"
    text += textwrap.fill(what, 110) + "\n\n"
    for series, flags in SERIES.items():
        mine = [p for p in points if p["series"] == series]
        if not mine:
            continue
        text += f"## {series}: `{shlex.join(flags)}`\n\n{table(mine)}\n"
        ratios = [p["ratio"] for p in mine if p["ratio"]]
        if ratios:
            met = sum(r <= GOAL for r in ratios)
            text += (f"needed/floor: {min(ratios):.2f} to {max(ratios):.2f}; {met} of {len(ratios)} "
                     f"points within {GOAL}")
            text += ", which is the goal.\n" if series == "real-time" else ".\n"
        below = sum(p["needed_ns"] < 2.1e6 for p in mine)
        text += f"Below the note's 2.1 ms (Linux): {below} of {len(mine)} points.\n\n"
    return text + f"""## Published

Spectrum Instrumentation, application note "Closed Loop Test using a PC Digitizer and AWG", one channel,
with real cards on a computer of its own; the shortest that ran for a minute.

{published()}
This host's figures are of {host["duration"]} a point. A longest delay grows with the time that is
measured, so look at the bound (upper 95 %), not at the latency alone. The floor is one block plus the
longest time between the moment at which the loop could begin a block and the moment at which it began: the
latency without processing, so needed/floor is at least 1. The timer thread is a control: it outranks the loop by
one priority, is due half a block after it, and with real-time priority sits on the loop's own processor.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="virtual",
                        choices=["virtual", "virtual:thread", "virtual:process"],
                        help="which virtual device (default virtual)")
    parser.add_argument("--rate", default=RATES, help=f"rates (default {RATES})")
    parser.add_argument("--notify", default=NOTIFIES, help=f"blocks (default {NOTIFIES})")
    parser.add_argument("--duration", default="10s", help="of each point (default 10s)")
    day = datetime.datetime.now(datetime.timezone.utc).date()
    parser.add_argument("--out", type=Path,
                        help="where to (default bench/runs/DAY-loop, with the device's mode behind it)")
    parser.add_argument("--note", default="", help="of the build or the host, for the page")
    args = parser.parse_args()
    mode = args.device.removeprefix("virtual").replace(":", "-")
    args.out = args.out or HERE / "runs" / f"{day}-loop{mode}"
    wiregauge = find_wiregauge()
    host, before, points = about(), ticks(), []
    device = [] if args.device == "virtual" else ["--device", args.device]
    host["device"] = args.device
    host["command"] = shlex.join(["bench/loop.py", *device, "--rate", args.rate, "--notify", args.notify,
                                  "--duration", args.duration])
    host["duration"] = args.duration
    host["note"] = f" ({args.note})" if args.note else ""
    host["version"] = subprocess.run([wiregauge, "--version"], capture_output=True, text=True,
                                     check=False).stdout.strip()
    failed = []
    for rate in args.rate.split(","):
        for series in SERIES:
            try:
                points += measure(wiregauge, series, rate, args)
            except (RuntimeError, subprocess.TimeoutExpired, ValueError) as why:
                failed.append(f"{series} at {rate}: {why}")
                print(f"bench/loop.py: {failed[-1]}; left out", file=sys.stderr)
    spent = [after - was for after, was in zip(ticks(), before)]
    host["busy"] = 1 - (spent[3] + spent[4]) / max(1, sum(spent))
    host["steal"] = spent[7] / max(1, sum(spent))
    host["load_after"] = first("/proc/loadavg")
    if not points:
        return 1
    results = {"about": host, "failed": failed, "points": points}
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (args.out / "README.md").write_text(page(results))
    print(f"written to {args.out}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
