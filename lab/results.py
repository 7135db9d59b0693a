"""Reads run directories as the tables and tests want them. The format is docs/run-format.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vm.places import RUNS


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


def files(run: Path) -> dict[str, bytes]:
    """Everything below a folder."""
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}
