"""What `deadline` says beyond the count: intervals, and the tail against what was counted."""

from __future__ import annotations

import re

import numpy as np
from scipy.stats import poisson

from common import Checks
from deadline_figures import responses
from exchange_figures import period_ns

#: A count this improbable under the fitted tail contradicts it. A property over thousands of levels
#: must not fail by chance.
IMPROBABLE = 1e-6
#: A printed share has two digits.
TWO_DIGITS = 0.06


def exceeding(tail: dict, n: int, level: float) -> float:
    """The share of responses over a level, by the generalised Pareto distribution."""
    excess = level - tail["threshold"]
    shape, scale = tail["shape"], tail["scale"]
    if abs(shape) < 1e-12:
        beyond = np.exp(-excess / scale)
    else:
        inner = 1 + shape * excess / scale
        beyond = inner ** (-1 / shape) if inner > 0 else 0.0
    return tail["over"] / n * float(beyond)


def agrees(expected: float, counted: int, together: float) -> bool:
    """Whether a count is plausible where `expected` is the mean, and events come in clusters."""
    together = max(1.0, together)
    mean, seen = expected / together, counted / together
    more = poisson.sf(np.ceil(seen) - 1, mean) if counted > expected else 1.0
    fewer = poisson.cdf(np.floor(seen), mean) if counted < expected else 1.0
    return min(more, fewer) > IMPROBABLE


def check_tail(checks: Checks, point: dict, values: np.ndarray, where: str) -> None:
    """The fitted tail against the responses that it was fitted to."""
    beyond = point["beyond"]
    refused, tail = beyond["refused"], beyond["tail"]
    one = (refused is None) == (beyond["one_in"] is not None)
    checks.that(one, "a tail is refused or told, not both", f"{where}: {beyond}")
    checks.that((refused is None) == (beyond["why"] is None), "a refusal has a reason", where)
    if tail is None or len(values) == 0:
        return
    n = len(values)
    over = int(np.sum(values > tail["threshold"]))
    checks.that(over == tail["over"], "as many responses over the threshold as said", where)
    checks.that(tail["independent"] <= over + 1e-6, "effective n of a tail is at most all", where)
    together = over / max(tail["independent"], 1e-9)
    largest = int(values.max())
    if tail["shape"] < 0:
        end = tail["threshold"] - tail["scale"] / tail["shape"]
        detail = f"{where}: ends at {end}, longest {largest}"
        checks.that(end >= largest, "a tail does not end before the longest response", detail)
    # Levels that so many responses exceed, and some beyond the longest.
    ordered = np.sort(values)
    levels = [float(ordered[-k]) for k in (2, 3, 5, 10, 20, 50, 100) if k < over]
    levels += [float(largest), largest * 1.2]
    for level in levels:
        counted = int(np.sum(values > level))
        expected = n * exceeding(tail, n, level)
        detail = f"{where}: over {level}: {counted} counted, {expected:.3g} by the tail {tail}"
        agree = agrees(expected, counted, together)
        checks.that(agree, "a tail agrees with what was counted", detail)
    level, one_in = beyond["level"], beyond["one_in"]
    if level and one_in:
        counted = int(np.sum(values > level))
        detail = f"{where}: 1 in {one_in} exceeds {level} at most, {counted} of {n} do"
        agree = counted <= n / one_in or agrees(n / one_in, counted, together)
        checks.that(agree, "an upper bound is not refuted by the count", detail)


def check_late(checks: Checks, point: dict, values: np.ndarray, where: str) -> None:
    """How often a response is late, as extrapolated, against how often it was."""
    late, tail = point["beyond"]["late"], point["beyond"]["tail"]
    if late is None or len(values) == 0:
        return
    limit, n = point["limit_ns"], len(values)
    counted = int(np.sum(values > limit))
    detail = f"{where}: {late}, {counted} of {n} over {limit}"
    together = tail["over"] / max(tail["independent"], 1e-9)
    if late["how"] == "rarer":
        agree = counted == 0 or agrees(n * late["than"], counted, together)
        checks.that(agree, "`rarer than` is not refuted by the count", detail)
        checks.that(0 < late["than"] <= 1, "`rarer than` is a share", detail)
    else:
        within = limit <= values.max()
        checks.that(within, "`seen` only of a limit within the samples", detail)


def check_share(checks: Checks, point: dict, where: str) -> None:
    """The missed share, its interval and its effective number of cycles."""
    share, cycles = point["share"], point["cycles"]
    low, high = share["low"], share["high"]
    detail = f"{where}: {share}, {point['missed']} of {cycles}"
    if low is not None and high is not None:
        bounds = 0 <= low <= share["value"] <= high <= 1
        checks.that(bounds, "a counted share lies in its interval", detail)
        if point["missed"] == 0 and cycles:
            checks.that(low == 0 and high > 0, "none missed does not prove that none can", detail)
        if 0 < point["missed"] < cycles:
            checks.that(low < share["value"] < high, "an interval is not empty", detail)
    worth = point["effective_cycles"]
    checks.that(0 <= worth <= cycles * (1 + 1e-9), "effective n is at most the cycles", detail)
    runs, longest = point["runs"], point["longest_run"]
    fits = (runs == 0) == (longest == 0) and longest <= point["missed"] <= runs * longest
    checks.that(fits, "bursts hold all misses", f"{where}: {runs}, longest {longest}, {detail}")


def check_text(checks: Checks, found: dict, text: str, where: str) -> None:
    """The printed interval contains the printed share."""
    points = {str(point["point"]["depth"]): point for point in found["points"]}
    if len(points) != len(found["points"]):
        return
    number = r"(\d[\d.,e-]*)"
    heads: list[str] = []
    checked = 0
    for line in text.split("Bursts of missed cycles")[0].splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if "cycles" in cells and "missed" in cells:
            heads = cells
            continue
        if not heads or len(cells) != len(heads):
            continue
        row = dict(zip(heads, cells, strict=True))
        cycles, missed, percent, rest = (row[head] for head in ("cycles", "missed", "%", "95 % CI"))
        point = points[row["depth"]] if "depth" in row else found["points"][0]
        checked += 1
        same = int(cycles.replace(",", "")) == point["cycles"]
        same = same and int(missed.replace(",", "")) == point["missed"]
        checks.that(same, "printed cycles are those counted", f"{where}: {line}")
        exact = point["share"]["value"] * 100
        near = abs(float(percent) - exact) <= TWO_DIGITS * exact + 1e-12
        checks.that(near, "a printed share is the counted one", f"{where}: {line}; {exact}")
        ends = re.match(rf"{number} to {number}", rest)
        if ends:
            low, high = (float(end.replace(",", "")) for end in ends.groups())
            room = TWO_DIGITS * exact
            inside = low - room <= exact <= high + room
            checks.that(inside, "a printed interval contains its share", f"{where}: {line}")
    checks.that(checked == len(points), "a line for each point", f"{where}: {checked} of {len(points)}")


def check(checks: Checks, run: dict, found: dict, text: str, path, where: str) -> None:
    """Everything that `deadline` says of a run; `found` is its JSON."""
    every = period_ns(run)
    taken = found["taken"]["how"] == "as-scheduled"
    checks.that(not taken or every is not None, "a schedule is the run's own", where)
    for point in found["points"]:
        here = f"{where}, point {point['point']['index']}"
        time, right = responses(run, path, point["point"]["index"], taken)
        check_share(checks, point, here)
        check_tail(checks, point, time[right], here)
        check_late(checks, point, time[right], here)
    check_text(checks, found, text, where)
