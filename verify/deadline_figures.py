"""Missed cycles of a control loop, counted from the samples of an exchange run as docs/deadline.md
describes the replay, and compared with `wiregauge deadline --json`."""

from __future__ import annotations

import heapq

import numpy as np

from common import Checks, percentile, samples, wiregauge
from exchange_figures import by_request, compare_distribution, measured, period_ns

#: A period this near to that of the run is the run's own.
SAME_PERIOD = 1e-3


def cycles(response, right, period: int, deadline: int, depth: int, replayed: bool, between):
    """One True for each cycle that missed, in time order."""
    low, high = between
    kept = right & (response <= deadline) & (response >= low) & (response <= high)
    if not replayed:
        return ~kept
    missed: list[bool] = []
    tick = 0
    outstanding: list[int] = []

    def answered():
        while outstanding and outstanding[0] <= tick:
            heapq.heappop(outstanding)

    for time, is_kept in zip(response.tolist(), kept.tolist(), strict=True):
        answered()
        if len(outstanding) >= depth:
            free = outstanding[0]
            missed.extend([True] * (free - tick))
            tick = free
            answered()
        missed.append(not is_kept)
        heapq.heappush(outstanding, tick + max(1, -(-time // period)))
        tick += 1
    # The ticks at which the last response is still outstanding are missed as well.
    answered()
    if len(outstanding) >= depth:
        missed.extend([True] * (outstanding[0] - tick))
    return np.array(missed, dtype=bool)


def bursts(missed) -> np.ndarray:
    """Lengths of the bursts of consecutive misses."""
    edges = np.diff(np.concatenate(([0], missed.astype(np.int8), [0])))
    return np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)


def responses(run: dict, path, index: int, taken: bool):
    """Response time of each request, whether it is right, and all of them in order."""
    rows = by_request(measured(samples(path, index)))
    right = np.isin(rows["status"], ["ok", "reordered"])
    if taken:
        time = rows["start_ns"] + rows["rtt_ns"] - rows["intended_ns"]
    elif run["plan"]["connect"] == "each":
        time = rows["connect_ns"] + rows["rtt_ns"]
    else:
        time = rows["rtt_ns"]
    return time, right


def check(checks: Checks, run: dict, path, period: int, deadline=None, jitter=None) -> dict:
    """Compare what `wiregauge deadline` counts with what the samples say; gives its JSON."""
    flags = ["--period", f"{period}ns"]
    flags += ["--deadline", f"{deadline}ns"] if deadline else []
    flags += ["--jitter", f"{jitter}ns"] if jitter else []
    found = wiregauge("deadline", path, *flags, json=True)
    deadline = deadline or period
    every = period_ns(run)
    taken = every is not None and abs(every - period) <= SAME_PERIOD * period
    for point in found["points"]:
        where = f"{path}, point {point['point']['index']}, {' '.join(flags)}"
        time, right = responses(run, path, point["point"]["index"], taken)
        compare_distribution(checks, point["response"], time[right], f"{where}, response")
        checks.equal(point["unanswered"], int(np.sum(~right)), "deadline: unanswered", where)
        between = (0, np.iinfo(np.int64).max)
        if jitter and right.any():
            median = percentile(time[right], 0.5)
            between = (max(0, median - jitter), median + jitter)
        depth = point["point"]["depth"]
        missed = cycles(time, right, period, deadline, depth, not taken, between)
        runs = bursts(missed)
        expected = {
            "cycles": len(missed),
            "missed": int(missed.sum()),
            "runs": len(runs),
            "longest_run": int(runs.max()) if len(runs) else 0,
        }
        for name, number in expected.items():
            checks.equal(point[name], number, f"deadline: {name}", where)
        mean = float(runs.mean()) if len(runs) >= 10 else None
        checks.equal(point["mean_run"], mean, "deadline: mean burst", where, 1e-9)
        share = point["share"]
        counted = missed.mean() if len(missed) else 0.0
        checks.equal(share["value"], counted, "deadline: missed share", where, 1e-9)
        limit = min(deadline, between[1])
        checks.equal(point["limit_ns"], limit, "deadline: limit", where)
    return found
