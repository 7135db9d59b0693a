#!/usr/bin/env python3
"""What a language costs: the same exchanges from C, the CLI, Python and Octave, in turns, in one run.

See README.md in this folder for what is measured, the goals, and how to read the table.
"""
from __future__ import annotations

import argparse
import contextlib
import datetime
import importlib.util
import json
import math
import os
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

import processes  # noqa: E402
import surroundings  # noqa: E402

SIZE = 64
LINKS = {"pty": "pty:", "tcp": "tcp://127.0.0.1:0"}
# The device's own time, and how many exchanges then are some tenths of a second.
SERVICES = {"0": 4000, "125us": 1500, "1ms": 250}
DEPTHS = (1, 2, 4)
ROUNDS, LAST_ROUND_BY_S = 5, 900
# The kernel carries what is written to a pseudo-terminal over in an unbound worker (flush_to_ldisc on
# system_unbound_wq, Linux drivers/tty/tty_buffer.c), which this mask keeps to some processors.
WORKERS = Path("/sys/devices/virtual/workqueue/cpumask")
# Of a row: what another program takes of the processor is in one of them, and not in their median.
SLICES = 5

BY_HAND = ("os pair", "os ahead", "pyserial", "pyserial byte-wise")
LIBRARY = ("exchange", "exchange_many", "pipeline", "control", "control native")
ABOUT = {
    "floor": "C, bench/floor.c",
    "CLI": "wiregauge exchange",
    "CLI again": "the same, once more: how far a row differs from itself",
    "os pair": "Python, os.write and os.read",
    "os ahead": "Python, os.write ahead of os.read",
    "pyserial": "pyserial, write and read(n)",
    "pyserial byte-wise": "pyserial, read(1) n times",
    "exchange": "wg.open, exchange",
    "exchange_many": "wg.open, exchange_many",
    "pipeline": "wg.open, pipeline",
    "control": "wg.open, control, step in Python",
    "control native": "wg.open, control, step=None",
    "octave_naive": "Octave, write and read(n)",
    "octave_bytewise": "Octave, read(1) n times",
    "octave_pure": "Octave, the pure client",
    "octave_exchange": "Octave, dev.exchange",
    "octave_many": "Octave, dev.exchangeMany",
}


class Case:
    """One table: a link, the device's own time, a depth; and what was said in each round."""

    def __init__(self, link: str, service: str, depth: int) -> None:
        self.link, self.service, self.depth = link, service, depth
        self.key = f"{link}-{service}-depth{depth}"
        self.rounds: list[dict[str, dict]] = []
        self.notes: dict[str, str] = {}

    @property
    def title(self) -> str:
        own = "no time of its own" if self.service == "0" else f"{self.service} of its own"
        return f"{self.link}, {SIZE} B, device with {own}, depth {self.depth}"

    def protocol(self, name: str) -> str:
        """What a row speaks. An echo answers whatever came in one read as one request: with several under
        way it would compute once for all of them, so there each request is a frame. The scripts for Octave
        speak frames only."""
        return "echo" if self.depth == 1 and not name.startswith("octave") else "wiregauge"

    def rows(self, octave: list[Path]) -> list[str]:
        """The rows that make sense here, in the order of the table."""
        if self.depth == 1:
            names = ["floor", "CLI", "CLI again", "os pair", *LIBRARY, "pyserial", "pyserial byte-wise"]
            return names + [path.stem for path in octave]
        return ["CLI", "CLI again", "os ahead", *LIBRARY[1:],
                *(path.stem for path in octave if path.stem in ("octave_many", "octave_pure"))]


# ---- one row, once ---------------------------------------------------------------------------


class Desk:
    """The programs that are compared, and the processor that all of them share with the device."""

    def __init__(self, wiregauge: str, floor: str, quick: bool) -> None:
        self.wiregauge, self.floor, self.quick = wiregauge, floor, quick
        self.cpu = max(os.sched_getaffinity(0))
        self.octave = shutil.which("octave-cli") or shutil.which("octave")
        self.scripts = [path for path in sorted(HERE.glob("octave_*.m")) if path.stem != "octave_case"]

    def count(self, case: Case, name: str) -> int:
        count = SERVICES[case.service]
        if "byte" in name or name.startswith("octave") and name != "octave_many":
            count //= 4
        count = max(count // 10, 30) if self.quick else count
        if name == "octave_many":
            # A batch for each slice: some 0.2 ms of each call are the arrays that go in and come out.
            return count * SLICES
        return count // SLICES * SLICES

    def on(self, *command: object) -> list[str]:
        return processes.on(self.cpu, *command)


def serve(desk: Desk, case: Case, protocol: str) -> tuple[subprocess.Popen, str]:
    command = desk.on(desk.wiregauge, "serve", LINKS[case.link], "--protocol", protocol, "--quiet")
    if case.service != "0":
        command += ["--service-time", case.service]
    process = processes.PROCESSES.start(command, stdout=subprocess.PIPE)
    line = process.stdout.readline()
    if not line.startswith("serving "):
        raise processes.Failed(f"{shlex.join(command)} did not start")
    return process, line.removeprefix("serving ").strip()


def answer(command: list[str], env: dict[str, str] | None = None) -> dict:
    """The line of JSON that a client prints; whatever else it says is for its failure."""
    process = processes.PROCESSES.start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    env={**os.environ, **(env or {})})
    try:
        out, complaint = process.communicate(timeout=processes.RUN_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        late = f"{shlex.join(command)}: not done after {processes.RUN_TIMEOUT_S} s"
        raise processes.Failed(late) from None
    finally:
        processes.PROCESSES.end(process)
    if process.returncode:
        raise processes.Failed(f"exit {process.returncode}: {complaint.strip()[-600:]}")
    for line in reversed(out.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    raise processes.Failed(f"{shlex.join(command)}: no line of JSON in: {out.strip()[-300:]}")


def floor(desk: Desk, case: Case, address: str, count: int) -> dict:
    bare = address.split("://", 1)[1]
    said = answer(desk.on(desk.floor, "ping", case.link, bare, SIZE, count))
    return {"count": said["n"], "p50": said["p50"], "each": 1e9 / said["exchanges_s"]}


def cli(desk: Desk, case: Case, address: str, count: int) -> dict:
    command = desk.on(desk.wiregauge, "exchange", address, "--protocol", case.protocol("CLI"), "--out", SIZE,
                      "--depth", ",".join([str(case.depth)] * SLICES), "--count", count // SLICES,
                      "--warmup", max(count // 10, 20),
                      "--no-calibration", "--no-store", "--json", "--quiet")
    if case.protocol("CLI") == "wiregauge":
        command += ["--in", str(SIZE)]
    process = processes.PROCESSES.output(command)
    points = json.loads(process)["points"]
    return {"count": sum(point["counts"]["answered"] for point in points),
            "p50": statistics.median(point["rtt"]["p50"]["value"] for point in points),
            "each": statistics.median(1e9 / point["throughput"]["exchanges_s"] for point in points)}


def client(desk: Desk, case: Case, name: str, address: str, count: int) -> dict:
    """A script of this folder, in Python or in Octave."""
    env = {"ADDRESS": address, "PROTOCOL": case.protocol(name), "OUT": str(SIZE), "IN": str(SIZE),
           "COUNT": str(count), "DEPTH": str(case.depth)}
    if name.startswith("octave"):
        command = desk.on(desk.octave, "--quiet", "--norc", HERE / f"{name}.m")
    else:
        command = desk.on(sys.executable, HERE / "clients.py", name)
    said = answer(command, env)
    slices = said.get("slices", [said["seconds"]])
    figures = {"count": said["count"],
               "each": statistics.median(slices) * len(slices) * 1e9 / said["count"]}
    if said["rtt_ns"]:
        figures["p50"] = statistics.median(said["rtt_ns"])
    return figures


def once(desk: Desk, case: Case, name: str, address: str) -> dict:
    count = desk.count(case, name)
    if name == "floor":
        said = floor(desk, case, address, count)
    elif name.startswith("CLI"):
        said = cli(desk, case, address, count)
    else:
        said = client(desk, case, name, address, count)
    if said["count"] != count:
        raise processes.Failed(f"{said['count']} of {count} exchanges")
    return said


def missing(desk: Desk, name: str) -> str | None:
    """Why a row cannot be had on this host; `None` if it can."""
    if name.startswith("pyserial") and importlib.util.find_spec("serial") is None:
        return "pyserial is not installed"
    if name in LIBRARY and importlib.util.find_spec("wiregauge") is None:
        return "the Python package is not installed"
    if name.startswith("octave") and desk.octave is None:
        return "Octave is not installed"
    return None


def one_round(desk: Desk, cases: list[Case], turn: int) -> None:
    for case in cases:
        names = case.rows(desk.scripts)
        # Who is first changes, so that a drift of the host favours nobody.
        at = turn % len(names)
        said: dict[str, dict] = {}
        for name in names[at:] + names[:at]:
            why = missing(desk, name)
            if why is None:
                # A device for each: what one left on the way is not for the next.
                device, address = serve(desk, case, case.protocol(name))
                try:
                    said[name] = once(desk, case, name, address)
                    continue
                except (processes.Failed, ValueError, KeyError, OSError) as error:
                    why = str(error)
                    surroundings.note(f"  {case.key}, {name}: {why}")
                finally:
                    processes.PROCESSES.end(device)
            case.notes[name] = why
        case.rounds.append(said)


def measure(desk: Desk, cases: list[Case], rounds: int, about: dict, last_round_by_s: float | None) -> None:
    began = time.monotonic()
    try:
        for turn in range(rounds):
            if turn and last_round_by_s and time.monotonic() - began > last_round_by_s:
                about["rounds"] = turn
                break
            surroundings.note(f"round {turn + 1} of {rounds}")
            one_round(desk, cases, turn)
    except KeyboardInterrupt:
        # What was measured until then is reported.
        about["rounds"] = f"{turn}, and a part of one more (interrupted)"
    finally:
        processes.PROCESSES.end_all()


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@contextlib.contextmanager
def workers_on(cpu: int):
    """Keeps the kernel's unbound workers, and so the pseudo-terminal's, on `cpu` meanwhile; yields how it is said.

    On another processor, which sleeps between two exchanges, the worker's waking is four fifths of an RTT, and
    shorter for a program that happens to keep that processor awake with a thread of its own."""
    try:
        before = WORKERS.read_text()
        WORKERS.write_text(f"{1 << cpu:x}")
    except OSError as error:
        yield f"wherever the scheduler puts it ({WORKERS}: {error.strerror})"
        return
    try:
        yield "on the same processor"
    finally:
        WORKERS.write_text(before)


# ---- what comes of it ------------------------------------------------------------------------


def ratios(case: Case, name: str, to: str, figure: str) -> list[float]:
    """Of one row to another in the same round."""
    return [said[name][figure] / said[to][figure] for said in case.rounds
            if figure in said.get(name, {}) and figure in said.get(to, {})]


def middle(case: Case, name: str, figure: str) -> float | None:
    values = [said[name][figure] for said in case.rounds if figure in said.get(name, {})]
    return statistics.median(values) if values else None


def spread(values: list[float]) -> str:
    if not values:
        return "-"
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


# Goal, row, compared with, by which figure, at most, at which depths.
GOALS = [
    ("exchange_many takes at most 1.05 of the CLI's time", "exchange_many", "CLI", "each", 1.05, DEPTHS),
    # With one outstanding the CLI has an echo, and Octave's rows speak frames: not the same exchange.
    ("Octave's exchangeMany takes at most 1.05 of the CLI's time", "octave_many", "CLI", "each", 1.05, DEPTHS[1:]),
    ("a single exchange at most 1.5 of the RTT of os.write and os.read", "exchange", "os pair", "p50", 1.5, (1,)),
    ("a single exchange not slower than pyserial's", "exchange", "pyserial", "p50", 1.0, (1,)),
    ("control with an empty step holds the native rate", "control", "control native", "each", 1.05, (2,)),
]


def goals(cases: list[Case]) -> list[dict]:
    found = []
    for text, name, to, figure, most, depths in GOALS:
        for case in cases:
            values = ratios(case, name, to, figure) if case.depth in depths else []
            if values:
                value, (low, high) = statistics.median(values), between(values)
                found.append({"goal": text, "case": case.key, "value": value, "at_most": most, "low": low, "high": high,
                              "smallest": min(values), "largest": max(values), "met": value <= most,
                              "verdict": verdict(value, most, low, high)})
    return found


def between(values: list[float]) -> tuple[float, float]:
    """Between which two values the median lies with 90 % confidence or more, whatever they follow (Conover,
    Practical Nonparametric Statistics, 3.2); the smallest and largest where they are fewer than five."""
    ordered, n = sorted(values), len(values)
    left_out, beyond = 0, 0
    while (beyond := beyond + math.comb(n, left_out)) * 2 <= 0.1 * 2**n:
        left_out += 1
    left_out = max(left_out - 1, 0)
    return ordered[left_out], ordered[n - 1 - left_out]


def verdict(value: float, at_most: float, low: float, high: float) -> str:
    if value <= at_most:
        return "met"
    return "**missed**" if low > at_most else f"inconclusive: from {low:.2f} to {high:.2f}"


def disorder(cases: list[Case]) -> list[str]:
    """What no load of the host explains: rows that did not run, and a byte-wise read that is not slower."""
    found = [f"{case.key}, {name}: {why}" for case in cases for name, why in case.notes.items()
             if "not installed" not in why]
    for case in cases:
        slower = ratios(case, "pyserial byte-wise", "pyserial", "p50")
        if slower and case.service == "0" and statistics.median(slower) < 1:
            found.append(f"{case.key}: reading byte by byte took {statistics.median(slower):.2f} of reading a block")
    return found


def table(case: Case, desk: Desk) -> tuple[list[str], list[list[str]]]:
    head = ["row", "RTT p50, us", "us an exchange", "RTT / floor", "time / CLI"]
    rows = []
    for name in case.rows(desk.scripts):
        if middle(case, name, "each") is None:
            rows.append([ABOUT.get(name, name), case.notes.get(name, "left out").splitlines()[0], "", "", ""])
            continue
        p50, each = middle(case, name, "p50"), middle(case, name, "each")
        rows.append([ABOUT.get(name, name), f"{p50 / 1e3:,.1f}" if p50 else "-", f"{each / 1e3:,.1f}",
                     spread(ratios(case, name, "floor", "p50")), spread(ratios(case, name, "CLI", "each"))])
    if case.depth > 1:
        del head[3]
        for row in rows:
            del row[3]
    return head, rows


def markdown(head: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1),
            *("| " + " | ".join(row) + " |" for row in rows)]


def page(cases: list[Case], desk: Desk, found: list[dict], about: dict) -> str:
    lines = ["# What a language costs", ""]
    for key, value in about.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} {what}" for name, what in value.items())
        lines.append(f"- {key}: {value}")
    lines += ["", "Times are of this host on this day. The ratios are what to compare: each is of two rows of the same",
              "round, median (smallest to largest). What is measured and how: bench/languages/README.md.", "",
              "## Goals", ""]
    lines += markdown(["goal", "where", "ratio", "at most", ""],
                      [[one["goal"], one["case"],
                        f"{one['value']:.2f} ({one['smallest']:.2f} to {one['largest']:.2f})",
                        f"{one['at_most']:.2f}", one["verdict"]] for one in found])
    for case in cases:
        lines += ["", f"## {case.title}", "", *markdown(*table(case, desk))]
    return "\n".join(lines) + "\n"


def version(module: str) -> str:
    with contextlib.suppress(ImportError):
        import importlib.metadata

        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(module)
    return "not installed"


def about_run(desk: Desk, rounds: int) -> dict:
    about = surroundings.about_host(desk.wiregauge, rounds)
    about["peers"] = {"Python": sys.version.split()[0], "numpy": version("numpy"), "pyserial": version("pyserial"),
                      "Octave": surroundings.first_line(desk.octave, "--version")
                      if desk.octave else "not installed"}
    about["command"] = shlex.join(["bench/languages/run.py", *sys.argv[1:]])
    about["processors used"] = "client and device share one (taskset)"
    return about


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true",
                        help="one short round of a few cases; exit code 1 unless all rows ran")
    parser.add_argument("--rounds", type=int, metavar="N", help=f"rounds (default {ROUNDS})")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases such as pty-125us-depth1")
    parser.add_argument("--free-workers", action="store_true",
                        help="leave the pseudo-terminal's kernel worker on any processor")
    parser.add_argument("--note", default="", help="of the build or the host, for the page")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="where to (default bench/runs/DATE-languages; none with --quick)")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    desk = Desk(surroundings.find_wiregauge(), surroundings.build_floor(), args.quick)
    cases = [Case(link, service, depth) for link in LINKS for service in SERVICES for depth in DEPTHS]
    cases = [case for case in cases if args.only in case.key]
    if args.quick and not args.only:
        cases = [case for case in cases if case.service != "1ms" and case.depth < 4]
    rounds = args.rounds or (1 if args.quick else ROUNDS)
    about = about_run(desk, rounds)
    if args.note:
        about["note"] = args.note
    began = time.monotonic()
    free = args.free_workers or args.quick
    where = contextlib.nullcontext("wherever the scheduler puts it") if free else workers_on(desk.cpu)
    with where as about["the pseudo-terminal's kernel worker"]:
        measure(desk, cases, rounds, about, LAST_ROUND_BY_S if not args.rounds else None)
    about["took"] = f"{time.monotonic() - began:.0f} s"
    found = goals(cases)
    text = page(cases, desk, found, about)
    out = args.out
    if out is None and not args.quick:
        out = HERE.parent / "runs" / f"{datetime.date.today().isoformat()}-languages"
    print(text)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        results = {"about": about, "goals": found,
                   "cases": [{"key": case.key, "title": case.title,
                              "rounds": case.rounds, "left_out": case.notes} for case in cases]}
        (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
        (out / "README.md").write_text(text)
        print(f"stored in {out}", file=sys.stderr)
    wrong = disorder(cases)
    for what in wrong:
        print(f"bench/languages/run.py: {what}", file=sys.stderr)
    return 1 if args.quick and wrong else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupted)
    try:
        sys.exit(main())
    finally:
        processes.PROCESSES.end_all()
