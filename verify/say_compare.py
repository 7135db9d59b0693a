"""What `compare` says of two runs against the samples of both."""

from __future__ import annotations

import numpy as np

from common import Checks, percentile, samples
from exchange_figures import by_request, measured, period_ns, trt
from say_figures import intervals

#: The figures of a time.
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
#: Figures of which more is better.
HIGHER = ("exchanges", "throughput", "in-throughput", "out-throughput", "below")


def figures(run: dict, path, index: int, scheduled: bool) -> dict:
    """The figures that are compared, of one point: a lost exchange counts as the timeout, and times count from the
    intended start if all runs have a schedule."""
    rows = by_request(measured(samples(path, index)))
    rows_ended = measured(samples(path, index))
    right = np.isin(rows["status"], ["ok", "reordered"])
    timeout = run["plan"]["timeout_ns"]
    late = np.zeros(len(right), dtype=np.int64)
    waited = rows["rtt_ns"]
    if scheduled:
        late = rows["start_ns"] - rows["intended_ns"]
        waited = waited + late
    times = np.where(right, waited, np.maximum(waited, late + timeout))
    starts = trt(rows)
    found = {name: percentile(times, p) for name, p in PERCENTILES.items()}
    found["mean"] = float(times.mean())
    found["trt"] = float(starts.mean()) if len(starts) else None
    found["lost"] = float(np.mean(~right))
    ended = (rows_ended["start_ns"] + rows_ended["rtt_ns"])[
        np.isin(rows_ended["status"], ["ok", "reordered"])
    ]
    if len(ended):
        elapsed = int(ended.max()) - int(rows["start_ns"].min())
        found["exchanges"] = len(ended) / elapsed * 1e9
    return found


def check(checks: Checks, found: dict, before: tuple, after: tuple, where: str) -> None:
    """Everything that `compare` says; `before` and `after` are pairs of run.json and path."""
    intervals(checks, found, where)
    scheduled = all(period_ns(run) is not None for run, _ in (before, after))
    numbers = sum(len(point["figures"]) for point in found["points"])
    checks.that(found["compared"] == numbers, "intervals are counted", where)
    for point in found["points"]:
        name = point["point"]
        sides = []
        for run, path in (before, after):
            for cell in run["points"]:
                asked = cell["point"]
                key = f"OUT {asked['out_bytes']:,} B, IN {asked['in_bytes']:,} B, depth {asked['depth']}"
                if matches(name, key, asked):
                    sides.append(figures(run, path, asked["index"], scheduled))
        if len(sides) != 2:
            checks.that(False, "compared points are those of the runs", f"{where}: {name}")
            continue
        for compared in point["figures"]:
            one(checks, compared, sides, f"{where}, {name}, {compared['figure']}")


def matches(name, key: str, asked: dict) -> bool:
    """Whether a point of a comparison is this cell."""
    if isinstance(name, str):
        return name.startswith(key)
    values = dict(name) if not isinstance(name, dict) else name
    same = str(values.get("out")) == str(asked["out_bytes"])
    same = same and str(values.get("in")) == str(asked["in_bytes"])
    same = same and str(values.get("link")) == str(asked["link"])
    same = same and (values.get("together") == "yes") == asked["together"]
    return same and str(values.get("depth")) == str(asked["depth"])


def one(checks: Checks, compared: dict, sides: list, where: str) -> None:
    """One figure: both sides, the difference, the verdict."""
    difference, verdict = compared["difference"], compared["verdict"]
    if difference is None:
        checks.that(verdict == "cannot-tell", "no verdict without a difference", where)
        return
    name = compared["figure"]
    for side, key in zip(sides, ("before", "after"), strict=True):
        if side.get(name) is not None:
            value = difference[key]["value"]
            room = 1e-6 * max(1.0, abs(side[name]))
            checks.equal(value, side[name], f"compare: {name}", f"{where}, {key}", 1e-6, room)
    absolute = difference["absolute"]
    away = difference["after"]["value"] - difference["before"]["value"]
    room = 1e-9 * (abs(difference["after"]["value"]) + abs(difference["before"]["value"]))
    checks.equal(absolute["value"], away, "compare: difference", where, 1e-9, room)
    low, high = absolute["low"], absolute["high"]
    more = low is not None and low > 0
    less = high is not None and high < 0
    worse, better = (less, more) if name.startswith(HIGHER) else (more, less)
    expected = "worse" if worse else "better" if better else None
    if expected is None:
        bounded = low is not None and high is not None
        expected = "no-difference-shown" if bounded else "cannot-tell"
    checks.that(verdict == expected, "a verdict is that of its interval", f"{where}: {verdict}")
    relative = difference.get("relative")
    if relative:
        for bound, other in (("low", low), ("high", high)):
            if relative[bound] is not None and other is not None:
                same = np.sign(relative[bound]) == np.sign(other) or abs(relative[bound]) < 1e-9
                checks.that(same, "both intervals of a difference agree", f"{where}: {difference}")


def check_same(checks: Checks, found: dict, where: str) -> None:
    """A run compared with its own copy differs in nothing."""
    for point in found["points"]:
        for compared in point["figures"]:
            detail = f"{where}, {compared['figure']}: {compared['verdict']}"
            same = compared["verdict"] not in ("worse", "better")
            checks.that(same, "a run does not differ from itself", detail)
            difference = compared["difference"]
            if difference:
                zero = difference["absolute"]["value"] == 0
                checks.that(zero, "a run's difference from itself is 0", detail)
