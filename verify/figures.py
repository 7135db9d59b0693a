"""Real runs over loopback and modelled devices; every figure computed again from the samples."""

from __future__ import annotations

import contextlib
import json
import math
import re
import subprocess
import sys
import time
from pathlib import Path

import deadline_figures
import exchange_figures
import loop_figures
import printed
import say_figures
import stream_figures
from common import Checks, Failed, program, scratch, wiregauge

#: A rate may exceed the limit by this part: how transfers fall into the measured time.
OVER = 1.02
#: Streams are tried again up to this length, in milliseconds.
LONGEST_MS = 30_000
KINDS = {
    "exchange": exchange_figures.check_run,
    "stream": stream_figures.check_run,
    "loop": loop_figures.check_run,
}


@contextlib.contextmanager
def serving(address: str, *flags: str):
    """A responder of the program; gives the address to measure."""
    command = [program(), "serve", address, "--quiet", *flags]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        if not line.startswith("serving "):
            raise Failed(f"{' '.join(command)}: {line!r}")
        yield line.removeprefix("serving ").strip()
    finally:
        process.terminate()
        process.wait(10)


def compare(checks: Checks, path: Path) -> dict:
    """Compare a stored run with its samples, in JSON and as printed; gives its run.json."""
    run = json.loads((path / "run.json").read_text())
    checks.that(run["state"] == "complete", "runs complete", f"{path}: {run['state']}")
    KINDS[run["kind"]](checks, run, path)
    printed.check_run(checks, run, path)
    said(checks, run, path)
    shown = wiregauge("show", path, json=True)
    checks.that(shown["points"] == run["points"], "`show --json` is run.json", path)
    if run["kind"] == "exchange":
        again = json.loads(wiregauge("export", path, "--recompute", "--json", "-"))
        checks.that(again["points"] == run["points"], "`export --recompute` is run.json", path)
    return run


def said(checks: Checks, run: dict, path: Path) -> None:
    """Intervals contain their estimates, and a share over all has a reason, also in `explain`."""
    text = wiregauge("show", path, "--full")
    say_figures.intervals(checks, run["points"], str(path))
    if run["kind"] != "loop":
        say_figures.intervals(checks, wiregauge("explain", path, json=True), f"{path}, explain")
        text += wiregauge("explain", path)
    if run["kind"] == "stream":
        flows = [(point, flow) for point in run["points"] for flow in point["flows"]]
        limits = [flow["limit"] for _, flow in flows]
        over = any(surely_over(point, flow) for point, flow in flows)
        words = r"more\s+than\s+the\s+wire|no\s+real\s+bus|exceeds\s+the\s+physical\s+limit"
        reason = re.search(words, text)
        detail = f"{path}: {limits}"
        checks.that(not over or reason, "a rate over the limit has a reason", detail)
    else:
        say_figures.percentages(checks, text, str(path))


def surely_over(point: dict, flow: dict) -> bool:
    """Whether a rate is over its limit: by more than its interval, or without a count of the device that is not."""
    limit = flow["limit"]
    if not limit or limit["used"] <= OVER:
        return False
    flows = point["flows"] if limit["shared"] else [flow]
    rates = [one["rate"] for one in flows]
    # A rate of few samples has no lower bound.
    least = sum(rate["low"] or 0 for rate in rates) if all(rates) else limit["used"] * limit["bytes_s"]
    counts = [one["device"] for one in flows]
    clocked = all(count and count["elapsed_ns"] for count in counts)
    by_device = sum(count["bytes"] * 1e9 / count["elapsed_ns"] for count in counts) if clocked else math.inf
    return least > OVER * limit["bytes_s"] or by_device > limit["bytes_s"]


def exchanges(checks: Checks, home: Path, part: float) -> None:
    """Exchange runs over TCP, UDP, Unix sockets and a modelled USB device."""

    def count(n: int) -> tuple[str, str]:
        return "--count", str(max(60, int(n * part)))

    def measure(name: str, address: str, *flags) -> dict:
        path = home / name
        lost = ("--give-up", "1000")
        wiregauge("exchange", address, "--no-calibration", "--store", path, *lost, *flags)
        return compare(checks, path)

    def deadlines(name: str, run: dict) -> None:
        medians = [point["rtt"]["p50"]["value"] for point in run["points"] if point["rtt"]]
        median = int(sorted(medians)[len(medians) // 2])
        path = home / name
        deadline_figures.check(checks, run, path, 2 * median)
        deadline_figures.check(checks, run, path, 10 * median, deadline=median)
        deadline_figures.check(checks, run, path, 3 * median, jitter=median // 4)

    with serving("tcp://127.0.0.1:0") as tcp:
        sizes = ("--out", "16,200", "--in", "48,1000", "--depth", "1,4", "--timestamps", "kernel")
        limits = ("--below", "50us,200us,1ms", "--warmup", "20")
        run = measure("tcp", tcp, *sizes, *limits, *count(2000))
        deadlines("tcp", run)
        measure("each", tcp, "--connect", "each", "--in", "48,20000", *count(400))
    with serving("tcp://127.0.0.1:0", "--stall", "every=300:15ms") as tcp:
        run = measure("scheduled", tcp, "--interval", "1ms", "--below", "1ms,5ms", *count(1500))
        deadline_figures.check(checks, run, home / "scheduled", 1_000_000)
        deadline_figures.check(checks, run, home / "scheduled", 1_000_000, deadline=300_000)
        deadline_figures.check(checks, run, home / "scheduled", 3_000_000)
    faults = ("--drop", "2%", "--duplicate", "2%", "--corrupt", "1%", "--reorder", "1%")
    stalls = ("--stall", "every=200:60ms")
    with serving("udp://127.0.0.1:0", *faults, *stalls, "--seed", "5") as udp:
        flags = ("--depth", "1,4", "--in", "64", "--timeout", "40ms", "--below", "1ms")
        run = measure("faults", udp, *flags, *count(1200))
        deadlines("faults", run)
    with serving(f"unix://{home}/socket") as unix:
        measure("unix", unix, "--depth", "1,8,32", *count(3000))
        measure("wide", unix, "--in", "100000", "--depth", "2", *count(300))
    with serving("tcp://127.0.0.1:0", "--protocol", "scpi") as instrument:
        send = ("--protocol", "text", "--send", "READ?\\n", "--send", "*OPC?\\n", "--expect", "^[+]")
        run = measure("text", instrument, *send, "--depth", "1,4", *count(900))
        half = [point["counts"].get("unexpected", 0) * 2 for point in run["points"]]
        exchanges = [point["counts"]["exchanges"] for point in run["points"]]
        same = half == exchanges
        checks.that(same, "every second reply is unexpected", f"{half}, {exchanges}")
    with serving(f"pty:{home}/plc.tty", "--protocol", "modbus", "--drop", "2%") as plc:
        read = ("--protocol", "modbus", "--baud", "19200", "--read", "holding:0+9", "--read", "coil:9999+2")
        measure("modbus", plc, *read, "--timeout", "60ms", *count(300))
    bus = ("--bus", "full-speed", "--service-time", "300us", "--jitter", "100us")
    with serving(f"pty:{home}/board.tty", *bus) as board:
        run = measure("board", board, "--in", "48,2000", "--depth", "1,2", *count(200))
        used = [point["limit"] for point in run["points"]]
        checks.that(all(used), "a modelled bus has a limit", used)
        deadlines("board", run)
    with serving("tcp://127.0.0.1:0") as one, serving("udp://127.0.0.1:0") as other:
        path = home / "together"
        flags = ("--no-calibration", "--store", path, "--depth", "1,2", *count(500))
        wiregauge("exchange", one, other, *flags)
        compare(checks, path)


def streams(checks: Checks, home: Path, part: float) -> None:
    """Stream runs in each direction, clean and with losses."""

    def measure(name: str, address: str, *flags) -> None:
        # Twice as long where a busy host left nothing to measure, as the hint says.
        length_ms = int(max(400, 2500 * part))
        while True:
            path = home / f"{name}-{length_ms}ms"
            duration = ("--duration", f"{length_ms}ms", "--settle", "100ms")
            try:
                wiregauge("stream", address, *duration, "--store", path, *flags)
                break
            except Failed as error:
                if "use a longer --duration" not in str(error) or length_ms > LONGEST_MS:
                    raise
            length_ms *= 2
        compare(checks, path)

    with serving("tcp://127.0.0.1:0") as tcp:
        rates = ("--rate", "1MB/s,20MB/s,100GB/s", "--loss", "0.01")
        measure("stream", tcp, "--direction", "in,out,both", "--transfer", "512,16k", *rates)
    with serving("udp://127.0.0.1:0", "--drop", "1%", "--duplicate", "1%") as udp:
        rates = ("--rate", "100kB/s", "--loss", "1e-6")
        measure("lossy", udp, "--direction", "in", "--transfer", "1000", *rates)
    with serving(f"pty:{home}/stream.tty", "--bus", "full-speed") as board:
        rates = ("--rate", "200kB/s,800kB/s", "--loss", "0.05")
        measure("stream-board", board, "--direction", "in,out", "--transfer", "64,4k", *rates)
    measure("null", "null://", "--direction", "in,out", "--transfer", "64k", "--queue", "1,4")


def loops(checks: Checks, home: Path, part: float) -> None:
    """Loop runs on a virtual digitizer: the curve, and a preload that is tested."""
    duration = ("--duration", f"{int(max(500, 3000 * part))}ms", "--settle", "100ms")

    def measure(name: str, device: str, *flags) -> None:
        path = home / name
        wiregauge("loop", device, *duration, "--no-calibration", "--store", path, *flags)
        compare(checks, path)

    measure("loop", "virtual", "--rate", "1M,5M", "--notify", "4k,16k", "--find")
    measure("filter", "virtual", "--rate", "1M", "--channels", "2", "--process", "fir:64")
    preload = ("--notify", "1k", "--preload", "2k")
    measure("tight", "virtual:thread", "--rate", "2M", *preload)


def run(quick: bool, keep: str | None = None) -> bool:
    """Make the runs and compare them; True if every figure is the samples'."""
    part = 0.16 if quick else 1.0
    good = True
    with scratch(keep) as home:
        for kind in (exchanges, streams, loops):
            checks = Checks()
            begun = time.monotonic()
            kind(checks, home, part)
            took = time.monotonic() - begun
            print(f"{kind.__doc__} {sum(checks.counts.values()):,} checks, {took:.0f} s")
            good &= checks.report()
    return good


if __name__ == "__main__":
    sys.exit(0 if run("--quick" in sys.argv) else 1)
