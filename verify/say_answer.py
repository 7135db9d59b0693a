"""The answer of an exchange run, on the terminal and on its page, against the samples."""

from __future__ import annotations

import re

import numpy as np

import places
from common import Checks, percentile, samples
from deadline_figures import responses
from exchange_figures import answers, measured, period_ns, start_delays

#: A point is as fast as the fastest from this part of its rate on (docs/exchange.md).
SATURATED = 0.95
#: Rounding of floating-point numbers.
NEAR = 1e-9
#: A gain of a depth up to this part over that of the depths may be chance (docs/exchange.md).
CHANCE = 1.05
#: With more exchanges without a response in time than this, a depth is limited by losses (docs/exchange.md).
LOSSY = 1e-3
#: What a sentence has at most.
WORDS = 85
UNITS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9}
NUMBER = r"([\d,]+(?:\.\d+)?)"
TIME = NUMBER + r" (ns|us|µs|ms|s|min)\b"
#: `about 3 ms`, `2.2 ms or more`, `2.2 ms or more, up to 50 ms`, `2.2 to 3.2 ms`, `900.0 us to 1.2 ms`.
SPAN = rf"(?:about {TIME}|{TIME} or more(?:, up to {TIME})?|{NUMBER}(?: (ns|us|µs|ms|s|min))? to {TIME})"
#: A peak is named by one time if its range is narrower than this part of it (docs/exchange.md).
NARROW = 0.1
#: The longest time is named beside the slowest peak from this factor of the peak's time on (docs/exchange.md).
STALL = 10
#: A peak is slow from this factor of the time of the largest one on (docs/exchange.md).
SLOW = 2
#: `1 kHz`, `one exchange every 3 ms`.
PACE = r"(one exchange every [\d.]+ (?:ns|us|µs|ms|s)|[\d.]+ (?:Hz|kHz|MHz))"
#: Errors by the words of the sentence, and the counts that they are of.
ERRORS = {
    r"([\d,]+) of ([\d,]+) without a right answer in time": ("lost", "late", "corrupted", "unexpected"),
    r" in time \((?:[^)]*, )?([\d,]+) late": ("late",),
    r" in time \((?:[^)]*, )?([\d,]+) corrupted": ("corrupted",),
    r" in time \((?:[^)]*, )?([\d,]+) unexpected repl": ("unexpected",),
    r"([\d,]+) responses? duplicated": ("duplicated",),
    r"([\d,]+) responses? out of order": ("reordered",),
}


def whole(text: str) -> int:
    return int(text.replace(",", ""))


def is_shown(shown: str, value: float) -> bool:
    """Whether a number as printed is this value, to the digits that it has."""
    digits = shown.replace(",", "")
    return abs(float(digits) - value) <= 0.51 * 10.0 ** -len(digits.partition(".")[2])


def of_terminal(text: str) -> str:
    """The first sentence below the heading, which may be wrapped; empty where only the error is printed."""
    blocks = re.split(r"\n\s*\n", text)
    after = [block for block in blocks[1:] if re.match(r"[A-Z\d]", block)]
    first = " ".join(after[0].split()) if after else ""
    return "" if re.match(r"W\d\d:|all tables|error", first) else first


def lateness(path, point: dict, period: int) -> tuple[int, float, bool]:
    """How many exchanges began more than a period late, how late the last one, and whether the lateness grew:
    the least of each of the last four eighths exceeds the one before, and the last exceeds a period."""
    rows = measured(samples(path, point["point"]["index"]))
    first = ~np.isin(rows["status"], ["late", "duplicated"])
    rows = {name: column[first] for name, column in rows.items()}
    delays = start_delays(rows)
    late = int(np.sum(delays > period))
    if len(delays) == 0:
        return 0, 0.0, False
    end = float(delays[np.argmax(rows["sequence"])])
    # Blocks of equal length, as few as a power of two allows of at most 64.
    size = 1
    while len(delays) > 64 * size:
        size *= 2
    blocks = [delays[at : at + size].min() for at in range(0, len(delays), size)]
    count = len(blocks)
    parts = [min(blocks[at * count // 8 : (at + 1) * count // 8], default=0) for at in range(4, 8)]
    grows = count >= 8 and all(a < b for a, b in zip(parts, parts[1:], strict=False))
    return late, end, bool(grows and parts[-1] > period)


def is_pace(text: str, period: int) -> bool:
    """`1 kHz`, `one exchange every 3 ms`."""
    found = re.fullmatch(r"one exchange every ([\d.]+) (ns|us|µs|ms|s)", text)
    if found:
        return abs(float(found.group(1)) * UNITS[found.group(2)] - period) < 1e-6
    found = re.fullmatch(r"([\d.]+) (Hz|kHz|MHz)", text)
    scale = {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6}
    return bool(found) and round(1e9 / (float(found.group(1)) * scale[found.group(2)])) == period


def check_rate(checks: Checks, run: dict, points: list, answer: str, path, here: str) -> None:
    """A rate is kept at the points that are named, and the late starts are as many as said."""
    period = period_ns(run)
    found = {p["point"]["index"]: lateness(path, p, period) for p in points}
    for p in points:
        late, end, grows = found[p["point"]["index"]]
        same = p["lateness"] == {"late": late, "end_ns": int(end), "grows": grows}
        checks.that(
            same,
            "the lateness is that of the starts",
            f"{here}; {p['lateness']}: {late}, {end}, {grows}",
        )

    def those(keep) -> list[dict]:
        return [p for p in points if keep(*found[p["point"]["index"]])]

    def same(place: str | None, expected: list[dict]) -> bool:
        count = places.counted(place)
        return count == len(expected) if count else places.named(place, points) == expected

    kept = those(lambda late, end, grows: end <= period and not grows)
    missed = those(lambda late, end, grows: grows)
    late = rf"(?:: the last exchange starts {TIME} late(?: \((.*?)\))?)?(?:[;.]|$)"
    open_ = re.match(rf"This run does not show whether starts keep {PACE}{late}", answer)
    most = rf": at most {NUMBER} per s(?: \((.*?)\))?(?:[;.]|$)"
    no = re.match(rf"Starts do not keep {PACE}( at any point)?(?: at (.*?))?{most}", answer)
    yes = re.match(
        rf"Starts keep {PACE}(?: at (.*?))?(?:, {NUMBER} of {NUMBER} late)?(?:, not at (.*?))?(?:[;.]|$)",
        answer,
    )
    told = open_ or no or yes
    checks.that(told is not None, "a run with a rate says whether it was kept", here)
    if told is None:
        return
    checks.that(is_pace(told.group(1), period), "the rate is that of the run", here)
    if open_:
        checks.that(not kept and not missed, "what is known of a rate is said", here)
    elif no:
        checks.that(not kept and bool(missed), "a rate that is kept at a point is not denied", here)
        every = len(missed) == len(points)
        checks.that(
            every if no.group(2) else same(no.group(3), missed),
            "a rate is missed where it is said",
            here,
        )
        rates = [p["throughput"]["exchanges_s"] for p in missed]
        checks.that(is_shown(no.group(4), max(rates)), "at most so many a second", f"{here}; {rates}")
    else:
        _, at, late, of, not_at = yes.groups()
        checks.that(same(at, kept), "a rate is kept at the points named", here)
        checks.that(
            not_at is None or same(not_at, missed), "a rate is not kept where that is said", here
        )
        silent = (
            len(missed) == 0 or (at or "").count(" of ") or len(points) > len(kept) + len(missed)
        )
        checks.that(not_at is not None or bool(silent), "the other points are named", here)
        count = sum(found[p["point"]["index"]][0] for p in kept)
        all_ = sum(p["counts"]["exchanges"] for p in kept)
        right = (whole(late), whole(of)) == (count, all_) if late else count == 0
        checks.that(right, "late starts are counted", f"{here}; {count} of {all_}")


def check_late_responses(checks: Checks, run: dict, points: list, answer: str, path, here: str) -> None:
    """At the points that keep the rate, the part of the responses that come after the end of their period."""
    period = period_ns(run)
    late = []
    for point in points:
        how = point["lateness"] or {"end_ns": period + 1, "grows": False}
        time, right = responses(run, path, point["point"]["index"], True)
        part = float(np.mean(time[right] > period)) if right.any() else 0.0
        if how["end_ns"] <= period and not how["grows"] and part > 0:
            late.append((point, part * 100))
    said = re.search(
        rf"(?:{NUMBER}(?: %)? to )?{NUMBER} % of the responses(?: at ([^;.]*?))? come after the end of their period",
        answer,
    )
    checks.that(bool(said) == bool(late), "late responses of a rate that is kept are named", f"{here}; {late}")
    if not said or not late:
        return
    low, high, at = said.groups()
    count = places.counted(at)
    named = [point for point, _ in late]
    same = count == len(named) if count else places.named(at, points) == named
    checks.that(same, "the points with late responses are those", here)
    parts = [part for _, part in late]
    right = is_shown(low or high, min(parts)) and is_shown(high, max(parts))
    checks.that(right, "late responses have the part that is said", f"{here}; {parts}")


def carried(point: dict, one_size: bool) -> float:
    rate = point["throughput"]
    return rate["exchanges_s"] if one_size else rate["out_bytes_s"] + rate["in_bytes_s"]


def trt(point: dict) -> dict:
    return (point["trt"] or {}).get("mean") or {}


def rate(point: dict) -> float:
    return point["throughput"]["exchanges_s"]


def shorter(less: dict, more: dict) -> bool:
    bounds = (less.get("high"), more.get("low"))
    return None not in bounds and bounds[0] < bounds[1]


def is_lossy(point: dict) -> bool:
    counts = point["counts"]
    return counts["lost"] + counts["late"] > LOSSY * counts["exchanges"]


def check_fastest(checks: Checks, run: dict, points: list, answer: str, here: str) -> None:
    """The fastest point is, gains are those of the rates, and what is proven has intervals that say so."""
    one_size = len({(p["point"]["out_bytes"], p["point"]["in_bytes"]) for p in points}) == 1
    timed = [p for p in points if carried(p, one_size) > 0]
    if not timed:
        return
    most = max(carried(p, one_size) for p in timed)
    said = re.search(rf"[Ff]astest at (.*?): {NUMBER} (per s|[kMG]?B/s)", answer)
    if said:
        named = places.named(said.group(1), points)
        best = max(carried(p, one_size) for p in named)
        checks.that(best >= most * (1 - NEAR), "the fastest point is the fastest", here)
        scale = {"per s": 1, "B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}[said.group(3)]
        checks.that(is_shown(said.group(2), most / scale), "its rate is as said", f"{here}; {most}")
    limited = re.search(
        r"([Ee]very depth|[Dd]epth [^;.]*?|\d+ of \d+ points) lost exchanges(?:[;.]|$)", answer
    )
    if limited:
        name, lossy = limited.group(1).replace("Depth", "depth"), [p for p in points if is_lossy(p)]
        count = len(points) if name.lower() == "every depth" else places.counted(name)
        named = len(lossy) == count if count else places.named(name, points) == lossy
        checks.that(named, "the depths that lost exchanges are those", here)
        timed = [p for p in timed if not is_lossy(p)]
    said = re.search(
        r"(?:[Ss]aturated at (?:[^:;]*, )?depth (\d+)|[Dd]epth (\d+) is (the fastest(?: here| without losses)?))"
        rf": {NUMBER} per s"
        rf"(?:, {NUMBER} times as many as at depth (\d+)( \(not proven\))?(, more than depth alone gives)?)?",
        answer,
    )
    if not said:
        return
    saturated, depth, how, per_s, times, low, open_, more = said.groups()
    depth, how = (saturated, "saturated") if saturated else (depth, how)
    checks.that(bool(limited) == any(map(is_lossy, points)), "a depth with losses is named", here)
    rates = {p["point"]["depth"]: p for p in timed}
    if len(rates) < len(timed):
        return
    most = max(map(rate, timed))
    chosen, lowest = rates[int(depth)], rates[min(rates)]
    checks.that(is_shown(per_s, rate(chosen)), "a rate is as said", here)
    check_limit(checks, chosen, answer, here)
    planned = len(run["plan"]["points"]) == len(points)
    whole = planned and all(is_sure(p) for p in points if not (limited and is_lossy(p)))
    least = min(d for d, p in rates.items() if rate(p) >= SATURATED * most)
    expected = "the fastest here"
    if whole:
        expected = "the fastest" if least == max(rates) else "saturated"
    if limited and expected != "saturated":
        expected = "the fastest without losses"
    checks.that(how == expected, "saturation is said of whole runs", f"{here}; {expected}")
    right = int(depth) == least if whole else rate(chosen) >= most * (1 - NEAR)
    checks.that(right, "the depth of saturation is the lowest that is as fast", f"{here}; {least}")
    checks.that((times is None) == (chosen is lowest), "a gain is over the lowest depth", here)
    if times is None:
        return
    ratio = rate(chosen) / rate(lowest)
    checks.that(lowest["point"]["depth"] == int(low), "a gain is over the lowest depth", here)
    checks.that(is_shown(times, ratio), "a gain is that of the rates", f"{here}; {ratio}")
    proven = shorter(trt(chosen), trt(lowest))
    checks.that(proven == (open_ is None), "a gain is proven as said", here)
    explained = ratio <= CHANCE * int(depth) / int(low)
    if proven:
        checks.that(explained == (more is None), "what depth cannot give is said", f"{here}; {ratio}")


def is_sure(point: dict) -> bool:
    """Whether a rate is more than that of a few exchanges of a point that was cut short."""
    n, mean = point["counts"]["exchanges"], (point["trt"] or {}).get("mean") or {}
    known = mean.get("low") is not None and mean.get("high") is not None
    enough = n >= 10 * point["point"]["depth"] and (known or n >= 1000)
    return enough and point["ending"]["how"] == "complete"


def check_times(checks: Checks, run: dict, point: dict, answer: str, path, here: str) -> None:
    """Of one point: the median and the longest RTT, the share and the range of each peak that is named, and the share
    of the limit."""
    values = answers(run, measured(samples(path, point["point"]["index"])))["rtt_ns"]
    counts = point["counts"]
    unanswered = 1 - counts["answered"] / max(1, counts["exchanges"])
    said = re.search(rf"[Mm]edian RTT(?: at [^;:]*?)? {TIME}", answer)
    if said and len(values):
        median = is_shown(said.group(1), percentile(values, 0.5) / UNITS[said.group(2)])
        checks.that(median and unanswered <= 0.5, "the median RTT is as said", here)
    said = re.search(rf"(longest|longest answered) {TIME}", answer)
    if said and len(values):
        longest = is_shown(said.group(2), values.max() / UNITS[said.group(3)])
        of_all = said.group(1) != "longest" or unanswered == 0
        checks.that(longest and of_all, "the longest RTT is as said", here)
    peaks = re.findall(rf"{NUMBER} % take {SPAN}", answer)
    named = min(3, len(point["modes"]))
    checks.that(len(peaks) == (named if named > 1 else 0), "the largest peaks are named", here)
    shares = [float(peak[0].replace(",", "")) for peak in peaks]
    checks.that(shares == sorted(shares, reverse=True), "what the majority takes comes first", here)
    for peak in peaks:
        near = [m for m in point["modes"] if is_peak(m, m is point["modes"][-1], *peak)]
        checks.that(bool(near), "a peak has the share and the range that are said", here)
    check_limit(checks, point, answer, here)


def check_slow(checks: Checks, points: list, answer: str, here: str) -> None:
    """At which of several points the RTT has a slow peak, and its share."""
    slow = []
    for point in points:
        largest = max(point["modes"], key=lambda mode: mode["share"], default=None)
        if largest and point["modes"][-1]["peak"] >= SLOW * largest["peak"]:
            slow.append(point)
    said = re.search(rf"[Ss]low RTT peak at (.*?): (?:{NUMBER} to )?{NUMBER} % take about", answer)
    checks.that(bool(said) == bool(slow), "a slow peak of several points is named", here)
    if not said or not slow:
        return
    at, low, high = said.groups()
    count = places.counted(at)
    same = count == len(slow) if count else places.named(at, points) == slow
    checks.that(same, "the points with a slow peak are those", here)
    shares = [point["modes"][-1]["share"] * 100 for point in slow]
    right = is_shown(low or high, min(shares)) and is_shown(high, max(shares))
    checks.that(right, "a slow peak has the share that is said", f"{here}; {shares}")


def is_peak(mode: dict, is_slowest: bool, share: str, *span: str) -> bool:
    """Whether a share and the groups of SPAN, one time for a narrow range, are those of this peak; the slowest one has
    no upper end."""
    about, unit, least, least_unit, most, most_unit, low, low_unit, high, high_unit = span
    narrow = mode["high"] - mode["low"] < NARROW * mode["peak"]
    if not is_shown(share, mode["share"] * 100) or narrow != bool(about):
        return False
    if narrow:
        return is_shown(about, mode["peak"] / UNITS[unit])
    if is_slowest or least:
        stalls = mode["high"] > STALL * mode["peak"]
        if stalls != bool(most) or most and not is_shown(most, mode["high"] / UNITS[most_unit]):
            return False
        return is_slowest and bool(least) and is_shown(least, mode["low"] / UNITS[least_unit])
    from_ = is_shown(low, mode["low"] / UNITS[low_unit or high_unit])
    return from_ and is_shown(high, mode["high"] / UNITS[high_unit])


def check_limit(checks: Checks, point: dict, answer: str, here: str) -> None:
    """A share of the limit is that of the point which the sentence names."""
    said = re.search(rf"{NUMBER} % of the limit", answer)
    limit = point.get("limit")
    right = said is None or (limit is not None and is_shown(said.group(1), limit["used"] * 100))
    checks.that(right, "the share of the limit is that of the point named", here)


def check(checks: Checks, run: dict, answer: str, path, where: str) -> None:
    """Every part of the sentence."""
    points = sorted(run["points"], key=lambda point: point["point"]["index"])
    here = f"{where}: {answer}"
    failed = isinstance(run["state"], dict)
    if failed and not any(p["counts"]["answered"] + p["counts"]["corrupted"] for p in points):
        # The error alone is printed.
        return
    checks.that(bool(answer), "there is an answer", where)
    checks.that(len(answer.split()) <= WORDS, f"an answer has at most {WORDS} words", here)
    if not points:
        checks.that("o point was finished" in answer, "a run without points says so", here)
        return
    for pattern, keys in ERRORS.items():
        count = sum(p["counts"].get(key, 0) for p in points for key in keys)
        said = re.search(pattern, answer)
        same = whole(said.group(1)) == count if said else count == 0
        checks.that(same, "errors are counted by kind", f"{here}; {keys} {count}")
    if period_ns(run) is not None:
        check_rate(checks, run, points, answer, path, here)
        check_late_responses(checks, run, points, answer, path, here)
    else:
        check_fastest(checks, run, points, answer, here)
    if len(points) == 1:
        check_times(checks, run, points[0], answer, path, here)
    else:
        check_slow(checks, points, answer, here)
