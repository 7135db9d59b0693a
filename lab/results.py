"""Reads run directories as the tables and tests want them. The format is docs/run-format.md."""

from __future__ import annotations

import csv
import json
import subprocess
from itertools import zip_longest
from pathlib import Path
from typing import Any

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
