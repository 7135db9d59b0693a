#!/usr/bin/env python3
"""Bulk TCP on loopback: `wiregauge stream` with its checks beside iperf3, in turns, in one run.

A round measures both tools, in an order that chance gives; a ratio is always to iperf3 in the same round. The
processor time of both ends is stored beside the rate, because it says more on a busy machine.
"""
from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TRANSFER = 128 * 1024


def cpu_of(process: subprocess.Popen) -> float:
    """Waits for the end of a process; its processor time in seconds."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def figures(rate: float, received: int, client_s: float, server_s: float) -> dict:
    return {"rate_bytes_s": rate,
            "client_ns_per_kib": client_s / received * 1e9 * 1024,
            "server_ns_per_kib": server_s / received * 1e9 * 1024}


def iperf3(way: str) -> dict:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    server = subprocess.Popen(["iperf3", "-s", "-1", "-p", port], stdout=subprocess.DEVNULL)
    time.sleep(0.2)
    command = ["iperf3", "-c", "127.0.0.1", "-p", port, "-l", str(TRANSFER), "-t", "1", "-J"]
    client = subprocess.Popen(command + ["-R"] * (way == "in"), stdout=subprocess.PIPE, text=True)
    said = json.loads(client.stdout.read())["end"]["sum_received"]
    client_s, server_s = cpu_of(client), cpu_of(server)
    return figures(said["bytes"] / said["seconds"], said["bytes"], client_s, server_s)


def wiregauge(program: str, way: str) -> dict:
    server = subprocess.Popen([program, "serve", "tcp://127.0.0.1:0"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    address = None
    while not address:
        address = re.search(r"tcp://[\d.]+:\d+", server.stdout.readline())
    command = [program, "stream", address[0], "--direction", way, "--transfer", str(TRANSFER),
               "--duration", "800ms", "--json"]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    flow = json.loads(client.stdout.read())["points"][0]["flows"][0]
    client_s = cpu_of(client)
    server.terminate()
    counts = flow["counts"]
    wrong = sum(counts[name] for name in ("lost", "corrupted", "duplicated", "stray"))
    if wrong:
        sys.exit(f"bench/stream.py: {wrong} bytes did not arrive once and right")
    return figures(flow["rate"]["value"], counts["received"], client_s, cpu_of(server))


def row(way: str, name: str, said: list[dict], base: list[dict]) -> str:
    def middle(key: str) -> float:
        return statistics.median(one[key] for one in said)

    ratios = [mine["rate_bytes_s"] / its["rate_bytes_s"] for mine, its in zip(said, base)]
    cells = [way.upper(), name, f"{middle('rate_bytes_s') / 1e9:.2f}",
             f"{statistics.median(ratios):.2f}", f"{min(ratios):.2f}..{max(ratios):.2f}",
             f"{middle('client_ns_per_kib'):.0f}", f"{middle('server_ns_per_kib'):.0f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, metavar="N")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for results.json and README.md")
    args = parser.parse_args()
    if not shutil.which("iperf3"):
        sys.exit("bench/stream.py: iperf3 is missing; apt-get install iperf3")
    program = os.environ.get("WIREGAUGE")
    if not program:
        subprocess.run(["cargo", "build", "--release", "-p", "wiregauge-cli"], check=True, cwd=ROOT)
        program = str(ROOT / "target" / "release" / "wiregauge")
    found: dict[str, dict[str, list[dict]]] = {}
    for way in ("out", "in"):
        said = found[way] = {"iperf3": [], "wiregauge": []}
        for _ in range(args.rounds):
            for name in random.sample(list(said), len(said)):
                said[name].append(iperf3(way) if name == "iperf3" else wiregauge(program, way))
    load = "%.1f %.1f %.1f" % os.getloadavg()
    lines = ["# Bulk TCP on loopback, wiregauge with its checks beside iperf3", "",
             f"{datetime.date.today()}, {platform.system()} {platform.release()}, "
             f"{len(os.sched_getaffinity(0))} processors, load at the end {load}, {args.rounds} rounds, "
             f"transfers of {TRANSFER // 1024} KiB.", "",
             "| way | tool | GB/s | x iperf3 | min..max | host CPU ns/KiB | device CPU ns/KiB |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    for way, said in found.items():
        lines += [row(way, name, of_tool, said["iperf3"]) for name, of_tool in said.items()]
    print("\n".join(lines))
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "results.json").write_text(json.dumps(found, indent=1) + "\n")
        (args.out / "README.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
