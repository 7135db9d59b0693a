"""Reads run directories as the tables and tests want them. The format is docs/run-format.md."""

from __future__ import annotations

import csv
import json
import subprocess
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from packets import Carried, carried
from vm.places import RUNS
from vm.program import BINARY

# How often each controller is booted, in turns. An ordering that holds in all of 4 boots against all of 4 others is
# chance in 1 of 35.
ROUNDS = range(1, 5)

# In turns with wiregauge.
USBTEST_ROUNDS = range(1, 3)


class Missing(Exception):
    """A run or a point that should be there is not."""


def stored(run: str) -> dict[str, Any]:
    """A run, however it ended, by its place under target/lab/runs, such as `acm/exchange`."""
    path = RUNS / run / "run.json"
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise Missing(f"{path}: {error.strerror}") from error


def points(run: str) -> list[dict[str, Any]]:
    """The points of a run that is complete."""
    found = stored(run)
    if found["state"] != "complete":
        raise Missing(f"{run}: the run is not complete but {found['state']}")
    return found["points"]


def point(run: str, **wanted: Any) -> dict[str, Any]:
    """The point whose `point` has these values."""
    found = [one for one in points(run) if all(one["point"][key] == value for key, value in wanted.items())]
    if len(found) != 1:
        raise Missing(f"{run} has {len(found)} points with {wanted}")
    return found[0]


@dataclass
class Row:
    """An exchange: times in nanoseconds of the run's clock."""

    sequence: int
    start_ns: int
    tx_ns: int
    tx_done_ns: int
    rx_ns: int
    end_ns: int


def exchanges_and_packets(speed: str) -> tuple[list[Row], list[tuple[Carried, Carried]]]:
    """The exchanges of plan `split` over the modelled bus, and of each the packets of its request and its response."""
    rows = []
    with (RUNS / f"split/modelled-{speed}.csv").open() as file:
        for line in csv.DictReader(file):
            at = {name: round(float(line[f"{name}_us"]) * 1000) for name in ("start", "kernel_tx", "kernel_tx_done", "kernel_rx")}
            start = at["start"]
            tx, tx_done, rx = (start + at[f"kernel_{name}"] for name in ("tx", "tx_done", "rx"))
            rows.append(Row(int(line["sequence"]), start, tx, tx_done, rx, start + round(float(line["delta_time_us"]) * 1000)))
    pairs: list[tuple[Carried, Carried]] = []
    request = None
    for packet in carried(RUNS / f"split/bus-{speed}.pcapng"):
        if packet.out:
            request = packet
        elif request:
            pairs.append((request, packet))
            request = None
    # HELLO came before.
    return rows, pairs[-len(rows) :]


def mean(distribution: Any) -> float:
    """The mean of a stored distribution."""
    return distribution["mean"]["value"] if isinstance(distribution["mean"], dict) else distribution["mean"]


def rate(run: str, way: str, **wanted: Any) -> float:
    """Bytes a second of one way of a stream point."""
    flow = next(flow for flow in point(run, **wanted)["flows"] if flow["way"] == way)
    return flow["rate"]["value"]


def shortest(controller: str, size: int) -> list[float]:
    """The shortest RTT of each boot with this controller, in ms: a busy host lengthens the others."""
    runs = (f"controllers-{controller}-{number}/exchange" for number in ROUNDS)
    return [point(run, in_bytes=size, depth=1)["rtt"]["min"] * 1e-6 for run in runs]


def files(run: Path) -> dict[str, bytes]:
    """Everything below a folder."""
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}


def samples(run: Path) -> list[dict[str, str]]:
    """The rows of a stored run, by wiregauge's own export."""
    done = subprocess.run([BINARY, "export", run, "--csv", "-"], capture_output=True, text=True, check=True)
    return list(csv.DictReader(done.stdout.splitlines()))


def differing(once: Path, again: Path, allowed_us: float) -> list[str]:
    """The rows of two runs that differ in anything but times (`..._us` and the device's `..._ticks`), or in the
    former by more than is allowed."""

    def same(one: dict[str, str] | None, other: dict[str, str] | None) -> bool:
        if one is None or other is None or one.keys() != other.keys():
            return False
        return all(
            value == other[name]
            or name.endswith("_ticks")
            or (name.endswith("_us") and abs(float(value) - float(other[name])) <= allowed_us)
            for name, value in one.items()
        )

    rows = zip_longest(samples(once), samples(again))
    return [f"{one}, {other}" for one, other in rows if not same(one, other)]


def usbtest_rates(way: str, size: int, queue: int) -> list[float]:
    """Bytes a second that the kernel's usbtest reached, by round."""
    path = RUNS / "usbtest" / "usbtest.jsonl"
    try:
        found = [json.loads(line) for line in path.read_text().splitlines()]
    except OSError as error:
        raise Missing(f"{path}: {error.strerror}") from error
    wanted = {"direction": way, "transfer_bytes": size, "queue": queue}
    chosen = [one for one in found if all(one[key] == value for key, value in wanted.items())]
    if len(chosen) != len(USBTEST_ROUNDS):
        raise Missing(f"{path} has {len(chosen)} lines of {wanted}")
    return [one["transfers"] * size / one["seconds"] for one in chosen]
