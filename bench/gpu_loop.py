#!/usr/bin/env python3
"""The ways of a block to a GPU and back on this machine, beside its processor and Spectrum's rows.

Called by gpu_loop.sh, which looks for the GPU first. Runs `wiregauge loop virtual` for every way, rate
and block within a given time, goes on where one fails, and writes results.json and README.md after
each step. See docs/loop.md for the ways and the words.
"""
from __future__ import annotations

import datetime
import json
import os
import shlex
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import loop

PATHS = ["cpu", "pageable", "pinned", "streams:4", "graph", "mapped", "persistent"]
NOTIFIES = ["64k", "128k", "256k", "512k", "1M"]
# The note's rates, what matters most first: the time may end.
RATES = ["125M", "500M", "250M", "62.5M"]
SECONDS = 540.0
# Opening a GPU, compiling its kernels, measuring the memory; then what each point takes beside measuring.
SECONDS_A_STEP = 3.0
SECONDS_A_POINT = 0.6

# As PUBLISHED of loop.py, of the rows by a GPU: MS/s, software buffer kB, notify kB, latency ms.
BY_GPU = {
    "Linux, GPU by RDMA": [(62.5, 640, 64, 5.2), (125, 640, 64, 2.6), (250, 1331, 128, 2.6),
                           (500, 2662, 256, 2.6)],
    "Windows, GPU via CPU": [(125, 750, 256, 3.1), (250, 1536, 512, 3.1), (500, 3072, 1024, 3.1)],
}

Step = tuple[str, str, str]


def may_be_real_time(wiregauge: str) -> bool:
    """True if the kernel lets the loop have its priority."""
    flags = ["loop", "virtual", "--rate", "1M", "--notify", "4k", "--duration", "50ms",
             "--no-calibration", "--no-store", *loop.SERIES["real-time"]]
    tried = subprocess.run([wiregauge, *flags], capture_output=True, check=False, timeout=60)
    return tried.returncode == 0


def steps(real_time: bool) -> list[Step]:
    """Series, rate and way of every step, in order; without a priority at all rates if there is no other."""
    planned = [("real-time", rate, path) for rate in RATES if real_time for path in PATHS]
    usual = RATES[:1] if real_time else RATES
    return planned + [("usual", rate, path) for rate in usual for path in PATHS]


def measure(wiregauge: str, step: Step, duration_s: float) -> tuple[list[dict], dict]:
    """One way at one rate, all blocks; the summaries of its points, and what it ran on."""
    series, rate, path = step
    flags = ["loop", "virtual", "--rate", rate, "--notify", ",".join(NOTIFIES), f"--gpu={path}",
             "--duration", f"{duration_s * 1000:.0f}ms", *loop.SERIES[series]]
    command = f"wiregauge {shlex.join(flags)}"
    print(command, file=sys.stderr)
    timeout = 60 + 3 * len(NOTIFIES) * (duration_s + SECONDS_A_POINT)
    done = subprocess.run([wiregauge, *flags, "--json", "--no-store"], capture_output=True,
                          text=True, check=False, timeout=timeout)
    if done.returncode:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()[-600:]}")
    run = json.loads(done.stdout)
    found = loop.points_of(run, series, command)
    settings = (run["conditions"].get("link") or {}).get("settings") or []
    return found, {name: value for name, value in settings if name.startswith("gpu")}


def cell(ns: float | None, digits: int = 3) -> str:
    """Nanoseconds as milliseconds."""
    return "-" if ns is None else f"{ns / 1e6:.{digits}f}"


def table(points: list[dict]) -> str:
    names = ["notify kB", "way", "work p50 us", "work p99.9 us", "work max us", "of the period",
             "latency ms", "floor ms", "needed/floor", "software buffer kB", "stalls/min at most",
             "verified"]
    text = loop.row(names) + loop.row(["---:", "---"] + ["---:"] * (len(names) - 3) + ["---"])
    for p in sorted(points, key=lambda p: p["point"]["notify_bytes"]):
        at, work, checked = p["point"], p["work"], p["verified"]
        period_ns = at["notify_bytes"] / (at["rate_hz"] * 2 * at["channels"]) * 1e9
        good = checked and checked["found_frames"] == checked["preload_frames"]
        times = [loop.us(ns) for ns in (work["p50"]["value"], work["p999"]["value"], work["max"])]
        text += loop.row([
            f"{at['notify_bytes'] / 1024:.0f}", at["path"], *times,
            f"{work['p50']['value'] / period_ns:.1%}", cell(p["needed_ns"]),
            cell(p["floor_ns"]), f"{p['ratio']:.2f}" if p["ratio"] else "-",
            f"{p['needed_bytes'] / 1024:.0f}", f"{p['bound_per_minute']:.1f}",
            checked["method"] if good else "NO",
        ])
    return text


def published() -> str:
    names = ["on", "MS/s", "software buffer kB", "notify kB", "latency ms"]
    text = loop.row(names) + loop.row(["---"] + ["---:"] * 4)
    rows = {f"{system}, CPU": of for system, of in loop.PUBLISHED.items()} | BY_GPU
    for system, of in rows.items():
        for rate, buffer, notify, latency in of:
            text += loop.row([system, f"{rate:g}", buffer, notify, f"{latency:g}"])
    return text


def shortest(points: list[dict]) -> str:
    """For each way the shortest latency of all blocks, rate by rate."""
    rates = sorted({p["point"]["rate_hz"] for p in points})
    names = ["way", *[f"{rate / 1e6:g} MS/s: ms (notify kB)" for rate in rates]]
    text = loop.row(names) + loop.row(["---"] + ["---:"] * len(rates))
    for path in dict.fromkeys(p["point"]["path"] for p in points):
        cells = []
        for rate in rates:
            mine = [p for p in points if (p["point"]["path"], p["point"]["rate_hz"]) == (path, rate)]
            best = min(mine, key=lambda p: p["needed_ns"], default=None)
            cells.append(f"{cell(best['needed_ns'])} ({best['point']['notify_bytes'] / 1024:.0f})"
                         if best else "-")
        text += loop.row([path, *cells])
    return text


def page(results: dict) -> str:
    host, points, failed = results["about"], results["points"], results["failed"]
    kind = "A virtual machine" if host["virtual_machine"] else "A computer"
    gpu = "; ".join(f"{name}: {value}" for name, value in host["gpu"].items()) or "no GPU was opened"
    text = "# Blocks to a GPU and back on this machine\n\n" + textwrap.fill(
        f"`bench/gpu_loop.sh`, {host['started']}, {host['version']}. {kind} with {host['processors']} "
        f"processors ({host['cpu']}), Linux {host['kernel']}; {gpu}. {host['duration_s']:.1f} s a point; the "
        f"processing is `copy`. The device is `virtual`: no card and no DMA of one. Every figure is in "
        "results.json; docs/loop.md has the ways and the words.", 110) + "\n\n"
    if not host["real_time"]:
        text += "The kernel did not let the loop have a real-time priority: the usual series only.\n\n"
    for series, flags in loop.SERIES.items():
        mine = [p for p in points if p["series"] == series]
        if not mine:
            continue
        text += f"## {series}: `{shlex.join(flags)}`\n\nThe shortest latency of each way:\n\n"
        text += shortest(mine) + "\n"
        for rate in sorted({p["point"]["rate_hz"] for p in mine}):
            text += f"### {rate / 1e6:g} MS/s, {rate * 2 / 1e6:g} MB/s each way\n\n"
            text += table([p for p in mine if p["point"]["rate_hz"] == rate]) + "\n"
    if failed:
        text += "## What failed or was left out\n\n" + "".join(f"- {line}\n" for line in failed) + "\n"
    return text + f"""## Published

Spectrum Instrumentation, application note "Closed Loop Test using a PC Digitizer and AWG", one channel, with
real cards; the shortest that ran for a minute. Its RDMA rows go from card to GPU without the host's memory;
every way here goes through it, as the note's "GPU via CPU".

{published()}
A longest delay grows with the time that is measured: look at the bound (upper 95 %) beside the latency.
"""


def write(out: Path, results: dict) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (out / "README.md").write_text(page(results))


def main() -> int:
    begun = time.monotonic()
    seconds = float(os.environ.get("GPU_LOOP_SECONDS", SECONDS))
    wiregauge = loop.find_wiregauge()
    real_time = may_be_real_time(wiregauge)
    planned = steps(real_time)
    spent = len(planned) * (SECONDS_A_STEP + len(NOTIFIES) * SECONDS_A_POINT)
    duration_s = max(0.3, (seconds - spent) / (len(planned) * len(NOTIFIES)))
    version = subprocess.run([wiregauge, "--version"], capture_output=True, text=True, check=False)
    host = loop.about() | {"real_time": real_time, "duration_s": duration_s, "gpu": {},
                           "version": version.stdout.strip()}
    day = datetime.datetime.now(datetime.timezone.utc).date()
    out = Path(os.environ.get("GPU_LOOP_OUT", loop.HERE / "runs" / f"{day}-gpu"))
    results = {"about": host, "failed": [], "points": []}
    for step in planned:
        name = " ".join(step)
        if time.monotonic() - begun > seconds:
            results["failed"].append(f"{name}: left out, the time was over")
            continue
        try:
            points, gpu = measure(wiregauge, step, duration_s)
            results["points"] += points
            host["gpu"] = gpu or host["gpu"]
        except (RuntimeError, subprocess.TimeoutExpired, ValueError, KeyError) as why:
            results["failed"].append(f"{name}: {' '.join(str(why).split())}")
            print(f"bench/gpu_loop.py: {results['failed'][-1]}", file=sys.stderr)
        host["load_after"] = loop.first("/proc/loadavg")
        write(out, results)
    print(f"written to {out}", file=sys.stderr)
    return 1 if results["failed"] or not results["points"] else 0


if __name__ == "__main__":
    sys.exit(main())
