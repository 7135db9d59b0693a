"""What is compared: the situations, and the tools in them: the floor, wiregauge, and its peers."""
from __future__ import annotations

import json
import re
import shlex
import shutil
import statistics
import subprocess
import tempfile

from processes import PROCESSES, Failed, background, free_port, on

SIZE = 100
DEPTH = 16
LINKS = ("tcp", "udp", "unix", "pty")
#: Behind a reply on a serial line faster than 19200 baud (Modbus over Serial Line V1.02, 2.5.1.1).
SILENCE_US = 1750
#: What is asked: its title, the flags of wiregauge, the silence before a request, the clients.
QUERIES = {
    "modbus": ("Modbus TCP, 10 holding registers", "--protocol modbus --read holding:0+10", 0,
               ("pymodbus", "libmodbus", "tokio-modbus")),
    "rtu": ("Modbus RTU on a pty, 10 holding registers",
            "--protocol modbus --read holding:0+10 --baud 115200", SILENCE_US,
            ("pymodbus", "libmodbus", "tokio-modbus")),
    "scpi": ("SCPI over TCP, READ?", "--protocol scpi --send READ?", 0, ("pyvisa-py",)),
}

GOAL_RTT = 1.02
GOAL_CONNECT = 1.05


# ---- cases -----------------------------------------------------------------------------------


class Bench:
    """The programs, the processors, the folder for sockets, and the echo servers."""

    def __init__(self, wiregauge: str, floor: str, cpus: list[int], quick: bool,
                 before: str | None = None) -> None:
        self.wiregauge, self.floor, self.quick, self.before = wiregauge, floor, quick, before
        #: The floor of queries, and the commands of their clients.
        self.query_floor, self.clients = "", {}
        self.cpu, self.other = cpus[-1], cpus[-2] if len(cpus) > 1 else None
        self.folder = tempfile.mkdtemp(prefix="bench-")
        self.servers: dict[tuple, tuple[subprocess.Popen, str]] = {}

    def count(self, default: int) -> int:
        return default // 2 if self.quick else default

    def echo(self, link: str, cpu: int, spin: bool) -> str:
        """Address of the server in C that the floor and wiregauge share: of an echo, or of queries."""
        key = (link, cpu, spin)
        if key not in self.servers:
            at = f"{self.folder}/{cpu}{spin:d}.sock" if link == "unix" else "127.0.0.1:0"
            command = on(cpu, self.floor, "serve", link, at, *(["--spin"] if spin else []))
            if link in QUERIES:
                command = on(cpu, self.query_floor, "serve", link)
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
        self.query = QUERIES.get(link)
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
    for link, (title, _, silence_us, _) in QUERIES.items():
        cases.append(Case(f"query-{link}", f"{title}, both sides on one core, blocking", "ns",
                          GOAL_RTT, link=link,
                          **{"pairs": 4, "count": 600} if silence_us else {"count": 10_000}))
    return cases


# ---- the floor and wiregauge -----------------------------------------------------------------


def floor(bench: Bench, case: Case, separate: bool = False) -> dict:
    client, server = case.client_and_server(bench)
    address = bench.echo(case.link, server, case.spin)
    command = on(client, bench.floor, "ping", "connect" if case.connect else case.link, address,
                 SIZE, bench.count(case.count))
    if case.query:
        command = on(client, bench.query_floor, "ping", case.link, address,
                     bench.count(case.count), case.query[2])
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


ECHO = f"--protocol echo --out {SIZE}"


def wiregauge_command(program: str, address: str, cpu: int, *more: str,
                      protocol: str = ECHO) -> list[str]:
    return [program, "exchange", address, *protocol.split(), "--pin", str(cpu), "--no-calibration", "--no-store", "--json", "--quiet", *more]


def wiregauge(bench: Bench, case: Case) -> dict:
    return measured_by(bench.wiregauge, bench, case)


def wiregauge_before(bench: Bench, case: Case) -> dict:
    return measured_by(bench.before, bench, case)


def measured_by(program: str, bench: Bench, case: Case) -> dict:
    client, server = case.client_and_server(bench)
    scheme = {"pty": "serial", "rtu": "serial", "modbus": "tcp", "scpi": "tcp"}.get(case.link, case.link)
    address = f"{scheme}://{bench.echo(case.link, server, case.spin)}"
    count = bench.count(case.count)
    more = ["--count", str(count), "--warmup", str(max(count // 10, 100))]
    if case.spin:
        more += ["--wait", "spin"]
    if case.connect:
        more += ["--connect", "each"]
    if case.depth > 1:
        more += ["--depth", str(case.depth)]
    protocol = case.query[1] if case.query else ECHO
    command = wiregauge_command(program, address, client, *more, protocol=protocol)
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


def library(name: str):
    """A client of the server that the floor and wiregauge ask; how it waits for a reply is its own."""

    def ask(bench: Bench, case: Case) -> dict:
        client, server = case.client_and_server(bench)
        count = bench.count(case.count)
        warmup = max(count // 10, 100)
        command = on(client, *bench.clients[name], bench.echo(case.link, server, case.spin),
                     warmup + count, case.query[2])
        took = sorted(int(line) for line in PROCESSES.output(command).split()[warmup:])
        if len(took) != count:
            raise Failed(f"{shlex.join(command)}: {len(took)} of {count} answered")
        return {"command": command, "p50": took[count // 2], "p99": took[count - 1 - count // 100],
                "mean": statistics.fmean(took)}

    return ask


def peers_of(case: Case) -> dict:
    if case.query:
        return {name: library(name) for name in case.query[3]}
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
LIBRARIES = ("libmodbus", "tokio-modbus", "pymodbus", "pyvisa-py")
PEERS = (*PROGRAMS, *LIBRARIES)


def is_there(bench: Bench, name: str) -> bool:
    return name in bench.clients if name in LIBRARIES else shutil.which(PROGRAMS[name]) is not None
