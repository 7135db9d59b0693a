#!/usr/bin/env python3
"""wiregauge beside the floor (floor.c) and beside its peers, in turns, in one run.

See README.md in this folder for what is measured, the goals, and how to read the table.
"""
from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from compared import (
    SIZE,
    Bench,
    Case,
    all_cases,
    floor,
    floor_separate,
    is_there,
    number,
    peers_of,
    wiregauge,
    wiregauge_before,
    wiregauge_command,
)
from findings import STALL_S, as_markdown, as_text, figures_of, goals, tables
from processes import PROCESSES, RUN_TIMEOUT_S, Failed, background, free_port, on
from surroundings import (
    HERE,
    ROOT,
    about_host,
    build_floor,
    compiled,
    find_wiregauge,
    note,
    query_clients,
    query_versions,
)

PACKAGES = ("sockperf", "qperf", "iperf", "iperf3")
ROUNDS, QUICK_ROUNDS = 5, 1
# No further round is begun after so long.
LAST_ROUND_BY_S, QUICK_LAST_ROUND_BY_S = 330, 25


def one_round(bench: Bench, cases: list[Case], turn: int) -> None:
    for case in cases:
        def take(name: str, measure, base: dict | None = None) -> dict | None:
            """Runs a tool once, and keeps what the floor had shown next to it."""
            try:
                said = measure(bench, case)
            except Failed as error:
                case.notes[name] = str(error)
                note(f"  {case.key}, {name}: {error}")
                return None
            if base:
                said["floor"] = figures_of(base)
            case.rows.setdefault(name, []).append(said)
            return said

        there = []
        for name, measure in peers_of(case).items():
            if is_there(bench, name):
                there.append((name, measure))
            else:
                case.notes[name] = "not installed"
        pairs = max(len(there), case.pairs // 2 if bench.quick else case.pairs)
        for pair in range(pairs):
            # Who is first, and who follows whom, changes: a drift of the host favours nobody.
            side_by_side = [("floor", floor), ("wiregauge", wiregauge)]
            if bench.before:
                side_by_side.append(("wiregauge before", wiregauge_before))
            if (turn + pair) % 2:
                side_by_side.reverse()
            first = (turn + pair) // 2 % len(side_by_side)
            taken = {name: take(name, measure) for name, measure in side_by_side[first:] + side_by_side[:first]}
            base = taken.pop("floor")
            for said in taken.values():
                if base and said:
                    said["floor"] = figures_of(base)
            if case.depth > 1:
                take("floor, one by one", floor_separate, base)
            if pair < len(there):
                if case.spin:
                    bench.stop_echoes()  # they would compete with the peer's
                take(*there[pair], base)
        bench.stop_echoes()


def stall(bench: Bench) -> list[dict]:
    """A responder stopped for 400 ms in a run of 3 s at 1,000/s: who shows it in p99?"""
    rows = []

    def pause(process: subprocess.Popen, after: float) -> None:
        time.sleep(after)
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(STALL_S)
        os.killpg(process.pid, signal.SIGCONT)

    address = bench.echo("tcp", bench.cpu, False)
    server = bench.servers["tcp", bench.cpu, False][0]
    command = wiregauge_command(bench.wiregauge, f"tcp://{address}", bench.cpu, "--rate", "1000",
                                "--duration", "3s")
    process = PROCESSES.start(command, stdout=subprocess.PIPE)
    try:
        pause(server, 1.3)
        text, _ = process.communicate(timeout=RUN_TIMEOUT_S)
    finally:
        PROCESSES.end(process)
        bench.stop_echoes()
    point = json.loads(text)["points"][0]
    rows.append({"tool": "wiregauge, from the intended start",
                 "p99": point["from_intended"]["p99"]["value"],
                 "max": point["from_intended"]["max"], "command": command})
    rows.append({"tool": "wiregauge, service time", "p99": point["rtt"]["p99"]["value"],
                 "max": point["rtt"]["max"], "command": command})
    if shutil.which("sockperf") and not bench.quick:
        port = free_port()
        common = ["-i", "127.0.0.1", "-p", port, "--tcp"]
        command = on(bench.cpu, "sockperf", "ping-pong", *common, "-m", SIZE, "-t", 3, "--mps",
                     1000, "--full-rtt")
        with background(on(bench.cpu, "sockperf", "server", *common), port) as peer:
            process = PROCESSES.start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            try:
                pause(peer, 3.2)  # it begins after some 2 s of its own preparations
                text, _ = process.communicate(timeout=RUN_TIMEOUT_S)
            finally:
                PROCESSES.end(process)
        rows.append({"tool": "sockperf ping-pong (closed loop)",
                     "p99": 1e3 * number(r"percentile 99\.000 =\s*([\d.]+)", text, command),
                     "max": 1e3 * number(r"<MAX> observation =\s*([\d.]+)", text, command),
                     "command": command})
    return rows


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short round, under two minutes")
    parser.add_argument("--rounds", type=int, metavar="N",
                        help=f"rounds (default {ROUNDS}; fewer if the host is slow)")
    parser.add_argument("--only", metavar="TEXT", default="",
                        help="only the cases whose key contains TEXT, such as spin or one-core-tcp;"
                             " several with commas")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="folder for results.json and table.md"
                             " (default bench/runs/DATE-HOST; none with --quick)")
    parser.add_argument("--before", metavar="PROGRAM",
                        help="an earlier build of wiregauge, measured in the same turns")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    began = time.monotonic()
    cpus = sorted(os.sched_getaffinity(0))
    if not shutil.which("taskset"):
        sys.exit("bench/run.py: taskset is missing; apt-get install util-linux")
    bench = Bench(find_wiregauge(), build_floor(), cpus, args.quick, args.before)
    missing = [name for name in PACKAGES[:3] if not shutil.which(name)]
    if missing:
        note(f"not installed: {', '.join(missing)}. To compare with them:\n"
             f"  sudo apt-get update && sudo apt-get install {' '.join(PACKAGES)}")
    only = args.only.split(",")
    cases = [case for case in all_cases() if any(text in case.key for text in only)]
    if any(case.query for case in cases):
        bench.query_floor, bench.clients = compiled("query_floor"), query_clients()
    if bench.other is None:
        note("one processor only: what needs two is left out")
        cases = [case for case in cases if not case.two]
    rounds = args.rounds or (QUICK_ROUNDS if args.quick else ROUNDS)
    # What was asked for is done; what was not is bounded.
    last = float("inf") if args.rounds else \
        QUICK_LAST_ROUND_BY_S if args.quick else LAST_ROUND_BY_S
    about = about_host(bench.wiregauge, rounds)
    if bench.query_floor:
        about["libraries"] = query_versions(bench.clients)
    started = time.monotonic()
    stalls: list[dict] = []
    try:
        for turn in range(rounds):
            if turn and time.monotonic() - started > last:
                about["rounds"] = turn
                break
            note(f"round {turn + 1} of {rounds}")
            one_round(bench, cases, turn)
        if any(text in "stall" for text in only):
            note("a responder that stalls")
            try:
                stalls = stall(bench)
            except (Failed, ValueError, KeyError, IndexError, TypeError) as error:
                note(f"  {error}")
    finally:
        PROCESSES.end_all()
        shutil.rmtree(bench.folder, ignore_errors=True)
    found = goals(cases, stalls)
    parts = tables(cases, stalls)
    about["took"] = f"{time.monotonic() - began:.0f} s"
    out = args.out
    if out is None and not args.quick:
        day = datetime.date.today().isoformat()
        out = HERE / "runs" / f"{day}-{platform.node().split('.')[0]}"
    if out:
        out.mkdir(parents=True, exist_ok=True)
        results = {"about": about, "goals": found, "stall": stalls,
                   "cases": [{"key": case.key, "title": case.title, "unit": case.unit,
                              "rows": case.rows, "notes": case.notes} for case in cases]}
        # Commands are kept as they can be repeated in any checkout.
        text = json.dumps(results, indent=1).replace(f"{ROOT}/", "")
        (out / "results.json").write_text(text + "\n")
        (out / "table.md").write_text(as_markdown(parts, found, about))
    print(as_text(parts, found))
    if out:
        print(f"\nstored in {out}")
    return 1 if args.check and not all(one["met"] for one in found) else 0


if __name__ == "__main__":
    def interrupted(*_) -> None:
        sys.exit(130)

    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGINT, interrupted)
    try:
        sys.exit(main())
    finally:
        PROCESSES.end_all()
