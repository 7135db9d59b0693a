#!/usr/bin/env python3
"""wiregauge beside the floor (floor.c) and beside its peers, in turns, in one run.

See README.md in this folder for what is measured, the goals, and how to read the table.
"""
from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import re
import shlex
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "target" / "bench"

SIZE = 100
DEPTH = 16
LINKS = ("tcp", "udp", "unix", "pty")
PACKAGES = ("sockperf", "qperf", "iperf", "iperf3")
RUN_TIMEOUT_S = 30
ROUNDS, QUICK_ROUNDS = 5, 1
# No further round is begun after so long.
LAST_ROUND_BY_S, QUICK_LAST_ROUND_BY_S = 230, 25
STALL_S = 0.4

GOAL_RTT = 1.02
GOAL_CONNECT = 1.05
GOAL_DEPTH = 0.8
FLOORS = ("floor", "floor, one by one")
GOAL_STALL_NS = 50e6


class Failed(Exception):
    """A tool that is there did not give a figure."""


# ---- processes -------------------------------------------------------------------------------


class Processes:
    """Every process that this run starts, each in a process group of its own, ended with the run.

    All stay in one session: between sessions the kernel shares out the processor first
    (sched_autogroup, sched(7)), and that would be measured on one core."""

    def __init__(self) -> None:
        self.running: list[subprocess.Popen] = []

    def start(self, command: list[str], **options) -> subprocess.Popen:
        process = subprocess.Popen(command, preexec_fn=os.setpgrp, text=True, **options)
        self.running.append(process)
        return process

    def end(self, process: subprocess.Popen) -> None:
        # Also what it forked and left behind: the group outlives its leader.
        for number in (signal.SIGCONT, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
        if process in self.running:
            self.running.remove(process)

    def end_all(self) -> None:
        for process in list(self.running):
            self.end(process)

    def output(self, command: list[str]) -> str:
        """Runs to the end, bounded in time; both streams together."""
        process = self.start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            text, _ = process.communicate(timeout=RUN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise Failed(f"{shlex.join(command)}: not done after {RUN_TIMEOUT_S} s") from None
        finally:
            self.end(process)
        if process.returncode:
            raise Failed(f"{shlex.join(command)}: exit {process.returncode}: {text.strip()[-400:]}")
        return text


PROCESSES = Processes()


def on(cpu: int, *command: object) -> list[str]:
    return ["taskset", "-c", str(cpu), *map(str, command)]


def free_port() -> int:
    """A port that the system holds for free, for TCP and UDP alike."""
    for _ in range(50):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp, \
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            tcp.bind(("127.0.0.1", 0))
            with contextlib.suppress(OSError):
                udp.bind(("127.0.0.1", tcp.getsockname()[1]))
                return tcp.getsockname()[1]
    raise Failed("no free port")


@contextlib.contextmanager
def background(command: list[str], port: int | None = None):
    """A peer's server. Ready when its TCP port is taken, or after a moment where it has none."""
    process = PROCESSES.start(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 3
        while port is not None and time.monotonic() < until and process.poll() is None:
            # Asked by binding: a connection might be taken for the client.
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError:
                    break
            time.sleep(0.02)
        time.sleep(0.1)
        yield process
    finally:
        PROCESSES.end(process)


# ---- what is compared ------------------------------------------------------------------------


class Bench:
    """The programs, the processors, the folder for sockets, and the echo servers."""

    def __init__(self, wiregauge: str, floor: str, cpus: list[int], quick: bool,
                 before: str | None = None) -> None:
        self.wiregauge, self.floor, self.quick, self.before = wiregauge, floor, quick, before
        self.cpu, self.other = cpus[-1], cpus[-2] if len(cpus) > 1 else None
        self.folder = tempfile.mkdtemp(prefix="bench-")
        self.servers: dict[tuple, tuple[subprocess.Popen, str]] = {}

    def count(self, default: int) -> int:
        return default // 2 if self.quick else default

    def echo(self, link: str, cpu: int, spin: bool) -> str:
        """Address of the C echo server that the floor and wiregauge share."""
        key = (link, cpu, spin)
        if key not in self.servers:
            at = f"{self.folder}/{cpu}{spin:d}.sock" if link == "unix" else "127.0.0.1:0"
            command = on(cpu, self.floor, "serve", link, at, *(["--spin"] if spin else []))
            process = PROCESSES.start(command, stdout=subprocess.PIPE)
            address = process.stdout.readline().strip()
            if not address:
                raise Failed(f"{shlex.join(command)} did not start")
            self.servers[key] = process, address
        return self.servers[key][1]

    def stop_echoes(self) -> None:
        """Ends them: a spinning one must not compete with the next case."""
        for process, _ in self.servers.values():
            PROCESSES.end(process)
        self.servers.clear()


class Case:
    """One table: a situation, the tools that can be put in it, and what they said."""

    def __init__(self, key: str, title: str, unit: str, goal: float | None = None,
                 spin: bool = False, two: bool = False, link: str = "tcp", connect: bool = False,
                 depth: int = 1, count: int = 20_000, pairs: int = 3) -> None:
        self.key, self.title, self.unit, self.goal = key, title, unit, goal
        self.spin, self.two, self.link, self.connect = spin, two, link, connect
        self.depth, self.count, self.pairs = depth, count, pairs
        self.rows: dict[str, list[dict]] = {}
        self.notes: dict[str, str] = {}

    def client_and_server(self, bench: Bench) -> tuple[int, int]:
        return (bench.cpu, bench.other if self.two else bench.cpu)


def all_cases() -> list[Case]:
    cases = []
    # A pty's bytes pass a worker of the kernel, on whatever core; from run to run it changes its
    # mind, so there are more and shorter ones.
    often = {"pty": {"pairs": 6, "count": 8_000}}
    for link in LINKS:
        cases.append(Case(f"one-core-{link}", f"{link}, {SIZE} B, both sides on one core, blocking",
                          "ns", GOAL_RTT, link=link, **often.get(link, {})))
    for link in LINKS:
        cases.append(Case(f"spin-{link}", f"{link}, {SIZE} B, spinning on two cores",
                          "ns", GOAL_RTT, link=link, spin=True, two=True, **often.get(link, {})))
    cases.append(Case("connect", f"tcp, a new connection for each {SIZE} B, both sides on one core",
                      "ns", GOAL_CONNECT, connect=True, count=5_000))
    cases.append(Case("depth-one-core",
                      f"tcp, {SIZE} B, {DEPTH} outstanding, both sides on one core", "/s",
                      depth=DEPTH, count=100_000))
    cases.append(Case("depth-two-cores",
                      f"tcp, {SIZE} B, {DEPTH} outstanding, blocking on two cores", "/s",
                      depth=DEPTH, two=True, count=100_000))
    return cases


# ---- the floor and wiregauge -----------------------------------------------------------------


def floor(bench: Bench, case: Case, separate: bool = False) -> dict:
    client, server = case.client_and_server(bench)
    address = bench.echo(case.link, server, case.spin)
    command = on(client, bench.floor, "ping", "connect" if case.connect else case.link, address,
                 SIZE, bench.count(case.count))
    if case.spin:
        command.append("--spin")
    if case.depth > 1:
        command += ["--depth", str(case.depth)]
    if separate:
        command.append("--separate")
    said = json.loads(PROCESSES.output(command))
    return {"command": command, "p50": said["p50"], "p99": said["p99"], "mean": said["mean"],
            "rate": said["exchanges_s"]}


def floor_separate(bench: Bench, case: Case) -> dict:
    return floor(bench, case, separate=True)


def wiregauge_command(program: str, address: str, cpu: int, *more: str) -> list[str]:
    return [program, "exchange", address, "--protocol", "echo", "--out", str(SIZE),
            "--pin", str(cpu), "--no-calibration", "--no-store", "--json", "--quiet", *more]


def wiregauge(bench: Bench, case: Case) -> dict:
    return measured_by(bench.wiregauge, bench, case)


def wiregauge_before(bench: Bench, case: Case) -> dict:
    return measured_by(bench.before, bench, case)


def measured_by(program: str, bench: Bench, case: Case) -> dict:
    client, server = case.client_and_server(bench)
    scheme = {"pty": "serial"}.get(case.link, case.link)
    address = f"{scheme}://{bench.echo(case.link, server, case.spin)}"
    count = bench.count(case.count)
    more = ["--count", str(count), "--warmup", str(max(count // 10, 100))]
    if case.spin:
        more += ["--wait", "spin"]
    if case.connect:
        more += ["--connect", "each"]
    if case.depth > 1:
        more += ["--depth", str(case.depth)]
    command = wiregauge_command(program, address, client, *more)
    point = json.loads(PROCESSES.output(command))["points"][0]
    answered = point["counts"]["answered"]
    if answered != count:
        raise Failed(f"{shlex.join(command)}: {answered} of {count} answered")
    # With a connection each, from start to start: opening, exchange and closing.
    times = point["trt" if case.connect else "rtt"]
    return {"command": command, "p50": times["p50"]["value"], "p99": times["p99"]["value"],
            "mean": times["mean"]["value"], "rate": point["throughput"]["exchanges_s"]}


# ---- the peers; each starts its own server beside it -----------------------------------------


def number(pattern: str, text: str, command: list[str]) -> float:
    found = re.search(pattern, text)
    if not found:
        raise Failed(f"{shlex.join(command)}: no figure in: {text.strip()[-300:]}")
    return float(found.group(1).replace(",", ""))


def sockperf(bench: Bench, case: Case) -> dict:
    client, server = case.client_and_server(bench)
    port = free_port()
    common = ["-i", "127.0.0.1", "-p", port]
    if case.link == "tcp":
        common.append("--tcp")
    if case.spin:
        common.append("--nonblocked")
    command = on(client, "sockperf", "ping-pong", *common, "-m", SIZE, "-t", 1, "--full-rtt")
    if case.depth > 1:
        command += ["-b", str(case.depth)]
    with background(on(server, "sockperf", "server", *common),
                    port if case.link == "tcp" else None):
        text = PROCESSES.output(command)
    said = {"command": command}
    seconds = number(r"\[Valid Duration\] RunTime=([\d.]+)", text, command)
    said["rate"] = number(r"\[Valid Duration\].*ReceivedMessages=(\d+)", text, command) / seconds
    if case.depth == 1:
        said["p50"] = 1e3 * number(r"percentile 50\.000 =\s*([\d.]+)", text, command)
        said["p99"] = 1e3 * number(r"percentile 99\.000 =\s*([\d.]+)", text, command)
        said["mean"] = 1e3 * number(r"avg-rtt=([\d.]+)", text, command)
    return said


def qperf(bench: Bench, case: Case) -> dict:
    client, server = case.client_and_server(bench)
    port, data = free_port(), free_port()
    test = f"{case.link}_lat"
    command = on(client, "qperf", "-lp", port, "-ip", data, "127.0.0.1", "-t", 1, "-m", SIZE,
                 "-uu", test)
    with background(on(server, "qperf", "-lp", port), port):
        text = PROCESSES.output(command)
    # It says half a round trip.
    mean = 2 * number(r"latency\s*=\s*([\d.,]+) ns", text, command)
    return {"command": command, "mean": mean}


def iperf(bench: Bench, case: Case) -> dict:
    client, server = case.client_and_server(bench)
    port = free_port()
    command = on(client, "iperf", "-c", "127.0.0.1", "-p", port, "--bounceback",
                 "--bounceback-period", 0, "-l", SIZE, "-t", 1, "-e")
    with background(on(server, "iperf", "-s", "-B", "127.0.0.1", "-p", port), port):
        text = PROCESSES.output(command)
    return {"command": command, "mean": 1e9 / number(r"(\d+) rps", text, command)}


def netperf(bench: Bench, case: Case) -> dict:
    client, server = case.client_and_server(bench)
    port = free_port()
    test = "TCP_CRR" if case.connect else f"{case.link.upper()}_RR"
    command = on(client, "netperf", "-H", "127.0.0.1,4", "-p", port, "-t", test, "-l", 1, "--",
                 "-r", f"{SIZE},{SIZE}", "-k", "TRANSACTION_RATE,MEAN_LATENCY")
    if case.depth > 1:
        # Needs a build with --enable-burst; Debian's has it.
        command += ["-b", str(case.depth)]
    with background(on(server, "netserver", "-D", "-L", "127.0.0.1,4", "-p", port), port):
        text = PROCESSES.output(command)
    rate = number(r"TRANSACTION_RATE=([\d.]+)", text, command)
    if rate == 0:
        raise Failed(f"{shlex.join(command)}: no transactions")
    return {"command": command, "rate": rate, **({"mean": 1e9 / rate} if case.depth == 1 else {})}


def peers_of(case: Case) -> dict:
    if case.link in ("unix", "pty"):
        return {}
    if case.connect:
        return {"netperf": netperf}
    if case.depth > 1:
        return {"sockperf": sockperf, "netperf": netperf}
    if case.spin:
        return {"sockperf": sockperf}
    peers = {"sockperf": sockperf, "qperf": qperf, "netperf": netperf}
    if case.link == "tcp":
        peers["iperf 2"] = iperf
    return peers


PROGRAMS = {"sockperf": "sockperf", "qperf": "qperf", "iperf 2": "iperf", "netperf": "netperf"}


# ---- a run -----------------------------------------------------------------------------------


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


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
            if shutil.which(PROGRAMS[name]):
                there.append((name, measure))
            else:
                case.notes[name] = "not installed"
        pairs = max(len(there), case.pairs // 2 if bench.quick else case.pairs)
        for pair in range(pairs):
            # Who is first changes, so that a drift of the host favours nobody.
            if (turn + pair) % 2:
                own = take("wiregauge", wiregauge)
                base = take("floor", floor)
                if own and base:
                    own["floor"] = figures_of(base)
            else:
                base = take("floor", floor)
                take("wiregauge", wiregauge, base)
            if bench.before:
                take("wiregauge before", wiregauge_before, base)
            if case.depth > 1:
                take("floor, one by one", floor_separate, base)
            if pair < len(there):
                if case.spin:
                    bench.stop_echoes()  # they would compete with the peer's
                take(*there[pair], base)
        bench.stop_echoes()


FIGURES = ("p50", "p99", "mean", "rate")


def figures_of(said: dict) -> dict:
    return {key: said[key] for key in FIGURES if key in said}


def middle(said: list[dict]) -> dict:
    return {key: statistics.median(values) for key in FIGURES
            if (values := [one[key] for one in said if key in one])}


def ratios(said: list[dict], key: str) -> list[float]:
    return [one[key] / one["floor"][key] for one in said if "floor" in one and key in one]


def statistic(case: Case, said: dict) -> str:
    """What a tool is compared by: the median, or the mean where it says no median."""
    if case.unit == "/s":
        return "rate"
    return "p50" if "p50" in said else "mean"


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


# ---- goals -----------------------------------------------------------------------------------


def goals(cases: list[Case], stalls: list[dict]) -> list[dict]:
    found = []

    def goal(text: str, value: float, met: bool) -> None:
        found.append({"goal": text, "value": value, "met": met})

    for case in cases:
        own = case.rows.get("wiregauge")
        if not own or not case.rows.get("floor"):
            found.append({"goal": f"{case.key}: measured", "value": None, "met": False})
            continue
        if case.goal and ratios(own, "p50"):
            value = statistics.median(ratios(own, "p50"))
            goal(f"{case.key}: p50 within {case.goal:.2f} of the floor", value, value <= case.goal)
        peers = {name: said for name, said in case.rows.items() if name in PROGRAMS}
        if case.unit == "/s":
            floors = [case.rows[name] for name in FLOORS if case.rows.get(name)]
            value = middle(own)["rate"] / max(middle(one)["rate"] for one in floors)
            goal(f"{case.key}: at least {GOAL_DEPTH:.2f} of the better floor", value, value >= GOAL_DEPTH)
            best = max(peers, key=lambda name: middle(peers[name])["rate"], default=None)
            if best:
                value = middle(own)["rate"] / middle(peers[best])["rate"]
                goal(f"{case.key}: at least 1.00 of the best peer ({best})", value, value >= 1)
            continue
        for name, said in peers.items():
            # Ratios to the floor next to each, because the host was not the same all the time.
            key = statistic(case, middle(said))
            theirs, mine = ratios(said, key), ratios(own, key)
            if theirs and mine:
                value = statistics.median(mine) / statistics.median(theirs)
                goal(f"{case.key}: {key} below {name}'s", value, value < 1)
    for row in stalls:
        if "intended" in row["tool"]:
            goal("stall: p99 from the intended start over 50 ms", row["p99"] / 1e6,
                 row["p99"] > GOAL_STALL_NS)
        elif "service" in row["tool"]:
            goal("stall: p99 of the service time under 50 ms", row["p99"] / 1e6,
                 row["p99"] < GOAL_STALL_NS)
    return found


# ---- printing --------------------------------------------------------------------------------


def shown(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if unit == "/s" else f"{value / 1e3:,.2f}"


def tables(cases: list[Case], stalls: list[dict]) -> list[tuple[str, list[str], list[list[str]]]]:
    out = []
    for case in cases:
        rows = []
        order = ["floor", "wiregauge", "wiregauge before", "floor, one by one", *PROGRAMS]
        for name in order:
            said = case.rows.get(name)
            if not said:
                if name in case.notes:
                    rows.append([name, case.notes[name].splitlines()[0][:40]])
                continue
            figures = middle(said)
            key = statistic(case, figures)
            compare = ratios(said, key)
            if name == "floor":
                compared = ["1.000", ""]
            elif compare:
                star = "*" if key == "mean" else ""
                compared = [f"{statistics.median(compare):.3f}{star}",
                            f"{min(compare):.3f}..{max(compare):.3f}"]
            else:
                compared = ["-", ""]
            if case.unit == "/s":
                rows.append([name, shown(figures["rate"], "/s"), *compared, str(len(said))])
            else:
                times = [shown(figures.get(key), "ns") for key in ("p50", "p99", "mean")]
                rows.append([name, *times, *compared, str(len(said))])
        if case.unit == "/s":
            head = ["tool", "exchanges/s", "x floor", "min..max", "runs"]
        else:
            head = ["tool", "p50 us", "p99 us", "mean us", "x floor", "min..max", "runs"]
        out.append((case.title, head, rows))
    if stalls:
        out.append((f"tcp, 3 s at 1,000/s, responder stopped for {STALL_S * 1e3:.0f} ms",
                    ["tool", "p99 ms", "max ms"],
                    [[row["tool"], f"{row['p99'] / 1e6:,.3f}", f"{row['max'] / 1e6:,.3f}"]
                     for row in stalls]))
    return out


def aligned(head: list[str], rows: list[list[str]]) -> str:
    full = [row for row in rows if len(row) == len(head)]
    widths = [max(len(row[at]) for row in [head, *full]) for at in range(len(head))]
    widths[0] = max(len(row[0]) for row in [head, *rows])

    def line(row: list[str]) -> str:
        if len(row) == 2 < len(head):
            return f"  {row[0].ljust(widths[0])}  ({row[1]})"
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        return "  " + "  ".join(cells).rstrip()

    return "\n".join(line(row) for row in [head, *rows])


def as_text(parts, found: list[dict]) -> str:
    text = [f"{title}\n{aligned(head, rows)}" for title, head, rows in parts]
    text.append("* compared by the mean: the tool gives no median")
    lines = ["goals"]
    for one in found:
        value = "-" if one["value"] is None else f"{one['value']:.3f}"
        lines.append(f"  {'met   ' if one['met'] else 'MISSED'}  {value:>9}  {one['goal']}")
    return "\n\n".join([*text, "\n".join(lines)])


def as_markdown(parts, found: list[dict], about: dict) -> str:
    lines = ["# wiregauge beside the floor and its peers", ""]
    for key, value in about.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} {what}" for name, what in value.items())
        lines.append(f"- {key}: {value}")
    for title, head, rows in parts:
        lines += ["", f"## {title}", "", "| " + " | ".join(head) + " |",
                  "| --- |" + " ---: |" * (len(head) - 1)]
        lines += ["| " + " | ".join(row + [""] * (len(head) - len(row))) + " |" for row in rows]
    lines += ["", "\\* compared by the mean: the tool gives no median", "", "## Goals", "",
              "| goal | value | |", "| --- | ---: | --- |"]
    for one in found:
        value = "-" if one["value"] is None else f"{one['value']:.3f}"
        lines.append(f"| {one['goal']} | {value} | {'met' if one['met'] else '**missed**'} |")
    return "\n".join(lines) + "\n"


# ---- surroundings ----------------------------------------------------------------------------


def first_line(*command: str) -> str:
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "-"
    text = re.sub(r"\x1b\[[\d;]*m", "", said.stdout or said.stderr).strip()
    return text.splitlines()[0] if text else "-"


def about_host(bench: Bench, rounds: int) -> dict:
    cpu = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    peers = {"sockperf": ("sockperf", "--version"), "qperf": ("qperf", "--version"),
             "iperf": ("iperf", "--version"), "netperf": ("netperf", "-V")}
    versions = {name: (found[0] if (found := re.findall(r"\d+\.\d+[\w.]*", first_line(*command)))
                       else "?") if shutil.which(command[0]) else "not installed"
                for name, command in peers.items()}
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "host": platform.node(),
        "kernel": f"{platform.system()} {platform.release()}",
        "CPU": f"{cpu}, {len(os.sched_getaffinity(0))} processors",
        "load when it began": "%.2f %.2f %.2f" % os.getloadavg(),
        "wiregauge": first_line(bench.wiregauge, "--version"),
        "C compiler": first_line("cc", "--version"),
        "peers": versions,
        "rounds": rounds,
        "command": shlex.join(["bench/run.py", *sys.argv[1:]]),
    }


def build_floor() -> str:
    BUILD.mkdir(parents=True, exist_ok=True)
    target = BUILD / "floor"
    source = HERE / "floor.c"
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        subprocess.run([os.environ.get("CC", "cc"), "-std=c99", "-O2", "-Wall", "-Wextra",
                        "-Werror", "-o", str(target), str(source)], check=True)
    return str(target)


def find_wiregauge() -> str:
    given = os.environ.get("WIREGAUGE")
    if given:
        return str(Path(given).resolve())
    subprocess.run(["cargo", "build", "--release", "-p", "wiregauge-cli"], check=True, cwd=ROOT)
    return str(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "wiregauge")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short round, under a minute")
    parser.add_argument("--rounds", type=int, metavar="N",
                        help=f"rounds (default {ROUNDS}; fewer if the host is slow)")
    parser.add_argument("--only", metavar="TEXT", default="",
                        help="only the cases whose key contains TEXT, such as spin or one-core-tcp")
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
    cases = [case for case in all_cases() if args.only in case.key]
    if bench.other is None:
        note("one processor only: what needs two is left out")
        cases = [case for case in cases if not case.two]
    rounds = args.rounds or (QUICK_ROUNDS if args.quick else ROUNDS)
    # What was asked for is done; what was not is bounded.
    last = float("inf") if args.rounds else \
        QUICK_LAST_ROUND_BY_S if args.quick else LAST_ROUND_BY_S
    about = about_host(bench, rounds)
    started = time.monotonic()
    stalls: list[dict] = []
    try:
        for turn in range(rounds):
            if turn and time.monotonic() - started > last:
                about["rounds"] = turn
                break
            note(f"round {turn + 1} of {rounds}")
            one_round(bench, cases, turn)
        if args.only in "stall":
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
