"""What `show` says of a run against its samples: figures, intervals, peaks, answer, warnings."""

from __future__ import annotations

import math
import re

import numpy as np

import say_answer
from common import Checks, samples
from exchange_figures import answers, by_request, measured, period_ns, start_delays

#: Rounding of floating-point numbers.
NEAR = 1e-9
#: Samples below which no interval of a percentile has an upper bound, even if independent: the
#: table "A missing bound" of docs/statistics.md.
FEWEST = {"p50": 6, "p90": 36, "p99": 368, "p999": 3688}


def walk(value, path: str = ""):
    """Every value of a JSON document with its path."""
    yield path, value
    if isinstance(value, dict):
        for key, part in value.items():
            yield from walk(part, f"{path}.{key}")
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield from walk(part, f"{path}[{at}]")


def intervals(checks: Checks, document, where: str) -> None:
    """Every interval contains its estimate, whatever it is of."""
    for path, value in walk(document):
        if isinstance(value, dict) and {"value", "low", "high"} <= value.keys():
            middle, low, high = value["value"], value["low"], value["high"]
            room = NEAR * max(abs(middle or 0), 1e-300)
            holds = middle is not None
            holds = holds and (low is None or low <= middle + room)
            holds = holds and (high is None or middle <= high + room)
            checks.that(holds, "an interval contains its estimate", f"{where}{path}: {value}")
        elif isinstance(value, float):
            checks.that(math.isfinite(value), "numbers are finite", f"{where}{path}")


def is_rounded(shown: str, value: float) -> bool:
    """Whether a number as printed is this value, to the digits that it has."""
    decimals = len(shown.partition(".")[2])
    return abs(float(shown) - value) <= 0.5 * 10.0**-decimals * (1 + 1e-6)


def percentages(checks: Checks, text: str, where: str) -> None:
    """No share is over 100 % unless the sentence says how that can be."""
    for line in text.splitlines():
        if re.search(r"error|of the limit|longer|slower|faster|higher|higher than|[+-]\d", line):
            continue
        for shown in re.findall(r"([\d,]+(?:\.\d+)?) %", line):
            share = float(shown.replace(",", ""))
            name = "no share is over 100 %"
            if re.search(r"% of (the|its) period", line):
                name = "no exchange is outstanding for over 100 % of its period"
            checks.that(share <= 100, name, f"{where}: {line.strip()}")


def check_distribution(checks: Checks, found, values, where: str) -> None:
    """What a distribution says of its samples, beyond the figures themselves."""
    if found is None:
        return
    least, most = int(values.min()), int(values.max())
    order = [found["min"], *(found[key]["value"] for key in FEWEST), found["max"]]
    checks.that(order == sorted(order), "percentiles ascend from min to max", f"{where}: {order}")
    mean = found["mean"]["value"]
    inside = least - NEAR * most <= mean <= most + NEAR * most
    checks.that(inside, "the mean is between min and max", f"{where}: {mean}")
    n = len(values)
    worth = found["effective_n"]
    checks.that(0 < worth <= n * (1 + NEAR), "effective n is at most n", f"{where}: {worth}, n {n}")
    seen = set(values.tolist()) if n <= 20_000 else None
    for key, fewest in FEWEST.items():
        low, high = found[key]["low"], found[key]["high"]
        here = f"{where}, {key} {found[key]}, n {n}"
        if n < max(8, fewest):
            checks.that(high is None, "too few samples have no upper bound", here)
        for bound in (low, high):
            if bound is None:
                continue
            within = least <= bound <= most and (seen is None or int(bound) in seen)
            checks.that(within, "a bound of a percentile is one of the samples", here)
    # A low bound of p90 over a high bound of p99 would be two statements that exclude each other.
    keys = list(FEWEST)
    for lower, higher in zip(keys, keys[1:], strict=False):
        low, high = found[lower]["low"], found[higher]["high"]
        crossed = low is not None and high is not None and low > high
        checks.that(not crossed, "intervals of percentiles do not exclude each other", where)
    # A lower bound holds for every higher percentile, an upper bound for every lower one.
    lows = [-math.inf if found[key]["low"] is None else found[key]["low"] for key in keys]
    highs = [found[key]["high"] for key in keys if found[key]["high"] is not None]
    ascend = lows == sorted(lows) and highs == sorted(highs)
    checks.that(ascend, "bounds of percentiles ascend", f"{where}: {lows}, {highs}")
    bounds = (found["mean"]["low"], found["mean"]["high"])
    inside = all(b is None or least - NEAR * most <= b <= most + NEAR * most for b in bounds)
    checks.that(inside, "the interval of a mean is between min and max", f"{where}: {bounds}")


def check_modes(checks: Checks, modes, values, where: str) -> None:
    """Peaks are apart, and hold the samples that they are said to hold."""
    n = len(values)
    if n == 0:
        checks.that(not modes, "no peaks without samples", where)
        return
    ends = [bound for mode in modes for bound in (mode["low"], mode["high"])]
    checks.that(ends == sorted(ends), "peaks do not overlap", f"{where}: {modes}")
    for mode in modes:
        here = f"{where}: {mode}, n {n}"
        inside = mode["low"] * (1 - 1e-6) <= mode["peak"] <= mode["high"] * (1 + 1e-6)
        checks.that(inside, "a peak is within its range", here)
        held = int(np.sum((values >= mode["low"]) & (values <= mode["high"])))
        # More than 16,384 samples are thinned.
        room = 1e-9 if n <= 16_384 else 2e-3
        share = held / n
        checks.that(
            abs(share - mode["share"]) <= room, "a peak holds its share", f"{here}, {share}"
        )
        if len(modes) > 1:
            least = max(10, math.floor(0.01 * n))
            checks.that(held >= least - 1, "a peak has 1 % of the samples and ten", here)
    if modes:
        total = sum(mode["share"] for mode in modes)
        checks.that(total <= 1 + 1e-9, "the shares of peaks are at most all", f"{where}: {total}")


def check_point(checks: Checks, run: dict, point: dict, path, where: str) -> None:
    """What run.json says of a point."""
    rows = measured(samples(path, point["point"]["index"]))
    right = answers(run, rows)
    counts = point["counts"]
    parts = counts["answered"] + counts["lost"] + counts["late"] + counts["corrupted"]
    parts += counts.get("unexpected", 0)
    checks.that(parts == counts["exchanges"], "counts add up", f"{where}: {counts}")
    rate = point["throughput"]["exchanges_s"] * point["elapsed_ns"] / 1e9
    near = abs(rate - counts["answered"]) <= 1e-6 * max(1, counts["answered"])
    checks.that(near, "rate times time is the number of responses", where)
    depth = point["point"]["depth"]
    achieved = point["achieved_depth"]
    within = 0 <= achieved <= depth * (1 + 1e-6)
    checks.that(within, "no more are outstanding than asked for", f"{where}: {achieved} of {depth}")
    values = right["rtt_ns"]
    if len(values):
        check_distribution(checks, point["rtt"], values, f"{where}, RTT")
        if run["plan"]["schedule"] != "as-fast-as-possible":
            waited = right["start_ns"] + values - right["intended_ns"]
            check_distribution(checks, point["from_intended"], waited, f"{where}, intended")
            same = point["from_intended"]["n"] == point["rtt"]["n"]
            checks.that(same, "as many times from the intended start as RTTs", where)
    check_modes(checks, point["modes"], values, where)
    shares = [share["share"] for share in point["below"]]
    limits = [share["limit"] for share in point["below"]]
    ascend = shares == sorted(shares) if limits == sorted(limits) else True
    checks.that(ascend, "shares below ascend with the limit", f"{where}: {point['below']}")
    for share in point["below"]:
        bounds = 0 <= share["low"] <= share["share"] <= share["high"] <= 1
        checks.that(bounds, "interval of a share is within 0 and 1", f"{where}: {share}")


def check_warnings(checks: Checks, run: dict, text: str, where: str) -> None:
    """The numbers of W01; that it is said where it belongs is checked by `findings`."""
    said = re.search(r"^W01: (.*(?:\n  .*)*)", text, re.MULTILINE)
    if not said:
        return
    words = " ".join(said.group(1).split())
    missing = [
        (p["counts"]["lost"] + p["counts"]["late"]) / max(1, p["counts"]["exchanges"])
        for p in run["points"]
    ]
    least, worst = min(share for share in missing if share), max(missing)
    match = re.match(r"(?:(<? ?[\d.]+) to )?([<>]? ?[\d.]+) %", words)
    # `< 0.01` and `> 99.99` are bounds.
    near = match and all(
        shown is None or shown[0] in "<>" or is_rounded(shown, share * 100)
        for shown, share in zip(match.groups(), (least, worst), strict=True)
    )
    checks.that(near, "W01 tells the smallest and the largest loss", f"{where}: {words}; {least} {worst}")
    late = any(p["counts"]["late"] > 0 for p in run["points"])
    proposed = "or a longer --timeout" in words
    checks.that(proposed == late, "W01 proposes a longer timeout if it helps", f"{where}: {words}")
    match = re.search(r"percentiles above ([\d.]+) %", words)
    if match:
        near = is_rounded(match.group(1), (1 - worst) * 100)
        checks.that(near, "W01 tells the highest percentile", f"{where}: {words}")


def silence_ns(run: dict) -> int:
    """The silence between a reply and the next request: --idle, or 3.5 characters of Modbus RTU."""
    reply = (run["plan"].get("queries") or {}).get("reply")
    if not isinstance(reply, dict):
        return 0
    line = reply.get("modbus")
    rtu = line.get("rtu") if isinstance(line, dict) else None
    return reply.get("idle-ns", 0) + (rtu["silence_ns"] if rtu else 0)


def check_late_starts(checks: Checks, run: dict, text: str, path, where: str) -> None:
    """W06 blames the depth only where as many as it allows were outstanding when an exchange was due, or the
    silence that the plan requires was not over."""
    period = period_ns(run)
    said = re.search(r"^W06: (.*(?:\n  .*)*)", text, re.MULTILINE)
    if not said or period is None:
        return
    late = waited = 0
    for point in run["points"]:
        if point.get("start_delay") is None or point["start_delay"]["max"] <= period:
            continue
        rows = by_request(samples(path, point["point"]["index"]))
        ends = rows["start_ns"] + rows["rtt_ns"] + silence_ns(run)
        is_late = (start_delays(rows) > period) & (rows["phase"] == "measured")
        for at in np.flatnonzero(is_late):
            outstanding = int(np.sum(ends[:at] > rows["intended_ns"][at]))
            late += 1
            waited += outstanding >= point["point"]["depth"]
    words = " ".join(said.group(1).split())
    if waited == late:
        expected = ": exchanges waited for earlier ones."
    elif waited == 0:
        expected = ": the host started them late,"
    else:
        expected = f": {waited:,} waited for earlier ones; the host started the other {late - waited:,} late"
    checks.that(expected in words, "W06 names the cause", f"{where}: {words}; {waited} of {late}")


def check(checks: Checks, run: dict, brief: str, full: str, path, where: str) -> None:
    """Everything that `show` says of an exchange run."""
    intervals(checks, run["points"], where)
    for at, point in enumerate(run["points"]):
        check_point(checks, run, point, path, f"{where}, point {at}")
    say_answer.check(checks, run, say_answer.of_terminal(brief), path, where)
    check_warnings(checks, run, full, where)
    check_late_starts(checks, run, full, path, where)
    percentages(checks, brief + full, where)
