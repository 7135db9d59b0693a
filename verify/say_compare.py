"""What `compare` says of two runs against the samples of both."""

from __future__ import annotations

import re

import numpy as np

from common import Checks, percentile, samples
from exchange_figures import answers, by_request, device_ns, measured, period_ns, trt
from say_figures import intervals, is_rounded

#: The figures of a time.
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
#: Figures of which more is better.
HIGHER = ("exchanges", "throughput", "in-throughput", "out-throughput", "below")
#: Figures that the answer and the default table are about.
IMPORTANT = ("p50", "p99", "exchanges", "lost", "below")
#: Shares: their change is in points.
SHARES = ("lost", "below")
#: The parts of the time of an exchange, and their names in a sentence.
PARTS = {
    "waiting.p50": "waiting",
    "rtt.p50": "RTT",
    "device.p50": "device",
    "host.p50": "host",
    "wire.p50": "wire",
    "host+wire.p50": "host and wire",
    "device+wire.p50": "device and wire",
}
#: Sizes of the units of printed values.
UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "%": 0.01, "/s": 1}


def figures(run: dict, path, index: int, scheduled: bool) -> dict:
    """The figures that are compared, of one point: times of the correct responses, from the intended start if all runs
    have a schedule. The rate is that of the run, which exchange_figures.py holds to the samples."""
    rows = by_request(measured(samples(path, index)))
    right = answers(run, rows)
    point = run["points"][index]
    starts = trt(run, point["point"]["depth"], rows)
    found = {"trt": float(starts.mean()) if len(starts) else None}
    found["lost"] = 1 - len(right["rtt_ns"]) / len(rows["rtt_ns"])
    found["exchanges"] = point["throughput"]["exchanges_s"]
    if len(right["rtt_ns"]):
        times = right["rtt_ns"]
        if scheduled:
            times = times + right["start_ns"] - right["intended_ns"]
        found.update({name: percentile(times, p) for name, p in PERCENTILES.items()})
        found["mean"] = float(times.mean())
        found["max"] = int(times.max())
        found.update(medians(run, rows, point["point"]["link"]))
    return found


def medians(run: dict, rows: dict, link: int) -> dict:
    """The medians of all parts that this run measured, of the correct responses."""
    right = answers(run, rows)
    rtt = right["rtt_ns"]
    parts = {"waiting.p50": right["start_ns"] - right["intended_ns"], "rtt.p50": rtt}
    device = host = None
    if has_clock(run, link, right):
        device = device_ns(run, link, right)
        parts.update({"device.p50": device, "host+wire.p50": rtt - device})
    if has_records(right):
        host = right["kernel_tx_ns"] + rtt - right["kernel_rx_ns"]
        parts.update({"host.p50": host, "device+wire.p50": rtt - host})
    if device is not None and host is not None:
        parts["wire.p50"] = rtt - device - host
    return {name: percentile(np.maximum(part, 0), 0.5) for name, part in parts.items()}


def has_clock(run: dict, link: int, right: dict) -> bool:
    """Whether the device's clock timed these responses; one that stands still is none."""
    device = device_ns(run, link, right)
    return len(device) > 0 and bool(device.any())


def has_records(right: dict) -> bool:
    """Whether the kernel's records cover these responses."""
    return "kernel_rx_ns" in right and bool((right["kernel_rx_ns"] > 0).all())


def parts(sides: list) -> set:
    """The parts that can be compared: those that both runs measured at every point."""
    clocks, records, answered = True, True, False
    for run, path in sides:
        if run["plan"]["connect"] == "each":
            return set()
        for cell in run["points"]:
            index, link = cell["point"]["index"], cell["point"]["link"]
            right = answers(run, measured(samples(path, index)))
            if len(right["rtt_ns"]):
                answered = True
                clocks = clocks and has_clock(run, link, right)
                records = records and has_records(right)
    if not answered:
        return set()
    scheduled = all(period_ns(run) is not None for run, _ in sides)
    of_rtt = {
        (True, True): {"device.p50", "host.p50", "wire.p50"},
        (True, False): {"device.p50", "host+wire.p50"},
        (False, True): {"host.p50", "device+wire.p50"},
        (False, False): {"rtt.p50"} if scheduled else set(),
    }
    return of_rtt[clocks, records] | ({"waiting.p50"} if scheduled else set())


def check(checks: Checks, found: dict, before: tuple, after: tuple, where: str) -> None:
    """Everything that `compare` says; `before` and `after` are pairs of run.json and path."""
    intervals(checks, found, where)
    scheduled = all(period_ns(run) is not None for run, _ in (before, after))
    shown = [one["figure"] for point in found["points"] for one in point["figures"]]
    checks.that(found["compared"] == len(shown) - shown.count("max"), "intervals are counted", where)
    given, expected = set(shown) & set(PARTS), parts([before, after])
    checks.that(given == expected, "parts are those that both runs measured", f"{where}: {given}")
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


def verdict(compared: dict) -> str:
    """A verdict in the words of a figure."""
    name, found = compared["figure"], compared["verdict"]
    if found in ("no-difference-shown", "cannot-tell"):
        return {"no-difference-shown": "no significant difference", "cannot-tell": "inconclusive"}[found]
    words = {"lost": ("loses more", "loses less")}.get(name, ("slower", "faster"))
    words = ("lower", "higher") if name.startswith(HIGHER) else words
    return words[found == "better"]


def change(compared: dict) -> dict | None:
    """The change as it is judged: relative, or in points of a share."""
    difference = compared["difference"] or {}
    return difference.get("absolute" if compared["figure"].startswith(SHARES) else "relative")


def is_important(name: str) -> bool:
    """Whether an answer is about this figure."""
    return name.partition("(")[0] in IMPORTANT


def largest(found: dict) -> list:
    """The largest significant change of an important figure, the largest inconclusive one that is larger, and the
    largest significant change of the losses."""
    pairs = [
        (abs(change(one)["value"]), point, one)
        for point in found["points"]
        for one in point["figures"]
        if is_important(one["figure"]) and one["verdict"] != "no-difference-shown"
        if change(one) and change(one)["value"]
    ]
    pairs.sort(key=lambda pair: -pair[0])
    sure = [pair for pair in pairs if pair[2]["verdict"] in ("worse", "better")][:1]
    chosen = sure if sure and sure[0] is pairs[0] else sure + pairs[:1]
    differs = [pair for pair in pairs if pair[2]["verdict"] in ("worse", "better")]
    lost = [pair for pair in differs if pair[2]["figure"] == "lost"][:1]
    return chosen + [pair for pair in lost if not any(pair is one for one in chosen)]


def is_value(shown: str, value: float) -> bool:
    """Whether a value with its unit, as printed, is this one."""
    parsed = re.fullmatch(r"([\d.,]+(?:e[+-]?\d+)?) ?(\D+)", shown)
    if parsed is None:
        return False
    number, unit = parsed.groups()
    number = number.replace(",", "")
    if "e" in number:
        return abs(float(number) * UNITS[unit] / value - 1) < 1e-3
    return is_rounded(number, value / UNITS[unit])


def is_change(shown: str, value: float) -> bool:
    """Whether a signed change, as printed, is this one, in percent or points."""
    return re.fullmatch(r"[+-][\d.]+", shown) is not None and is_rounded(shown, value * 100)


def check_text(checks: Checks, found: dict, text: str, where: str) -> None:
    """The answer names the largest change, and which part it is in; the table has the important figures."""
    # Below the heading, whose last line is that of the side after.
    block = re.split(r"\n\s*\n", text.partition("\nafter: ")[2])[1]
    lines = re.sub(r"\n {2,}", " ", block).split("\n")
    chosen = largest(found)
    several = len(found["points"]) > 1
    if chosen:
        said = lines[0].rstrip(".").split("; ")
        detail = f"{where}: {lines[0]}"
        checks.that(len(said) == len(chosen), "an answer names the largest change", detail)
        for sentence, (_, _, one) in zip(said, chosen, strict=False):
            pattern = rf"(.*: )?{re.escape(one['figure'])} .* to .* \(([+-][\d.]+) .*\): (.*)"
            parsed = re.fullmatch(pattern, sentence)
            holds = parsed is not None and bool(parsed[1]) == several
            checks.that(holds, "an answer names the largest change", detail)
            if not holds:
                continue
            found_change = change(one)
            is_size = is_change(parsed[2], found_change["value"])
            checks.that(is_size, "an answer has the size of the change", detail)
            bare = found_change["low"] is None and found_change["high"] is None
            words = verdict(one) + (", no interval" if bare else "")
            checks.that(parsed[3] == words, "an answer has the verdict of its change", detail)
    else:
        holds = lines[0].startswith(("No significant difference", "All ", "Of "))
        checks.that(holds, "an answer without a change is the verdict", f"{where}: {lines[0]}")
    origin = [line for line in lines if line.startswith("p50 is ")]
    check_origin(checks, chosen[0][1] if chosen else None, origin, where)
    check_rows(checks, found, text, where)


def check_origin(checks: Checks, point: dict | None, said: list, where: str) -> None:
    """Which part the change of the median is in: each with its own change and verdict, the largest first."""
    figures = {one["figure"]: one for one in point["figures"]} if point else {}
    p50 = figures.get("p50")
    known = {name: one for name, one in figures.items() if name in PARTS}
    longer = p50["difference"]["absolute"]["value"] if p50 and p50["difference"] else 0
    is_open = longer != 0 and p50["verdict"] != "no-difference-shown"
    is_sure = is_open and p50["verdict"] in ("worse", "better")
    complete = all(one["difference"] for one in known.values())
    expected = (is_open if known else is_sure) and complete
    checks.that(bool(said) == expected, "an origin where the median differs", f"{where}: {said}")
    if not said or not expected:
        return
    whole, _, rest = said[0].rstrip(".").partition("; " if not known else ": ")
    shown, way = re.fullmatch(r"p50 is (.*) (longer|shorter)", whole).groups()
    holds = is_value(shown, abs(longer)) and (way == "longer") == (longer > 0)
    checks.that(holds, "the median differs by what is said", f"{where}: {said[0]}")
    if not known:
        checks.that(rest == "where: not known", "no part is named without a clock", f"{where}: {rest}")
        return
    named = re.findall(r"([A-Za-z ]+?) ([+-])?(\S+ (?:ns|us|µs|ms|s|min)) \(([a-z ]+)\)(?:, |$)", rest)
    checks.that(len(named) == len(known), "every part is named", f"{where}: {rest}")
    sizes = []
    for name, sign, size, words in named:
        one = next((known[key] for key in known if PARTS[key] == name.strip()), None)
        value = one["difference"]["absolute"]["value"] if one else np.nan
        sizes.append(abs(value))
        holds = one is not None and is_value(size, abs(value)) and (sign == "-") == (value < 0)
        holds = holds and words == verdict(one)
        checks.that(holds, "a part has its change and verdict", f"{where}: {name} in {rest}")
    checks.that(sizes == sorted(sizes, reverse=True), "the largest part comes first", f"{where}: {rest}")


def check_rows(checks: Checks, found: dict, text: str, where: str) -> None:
    """The default table has before, after and change of every important figure, and of those that differ."""
    rows = iter(re.findall(r"^ {2}(\S+) {2,}(\S.*)$", text.partition("hold jointly\n")[2], re.MULTILINE))
    cells = [(name, re.split(r" {2,}", rest)) for name, rest in rows]
    table = [(name, rest) for name, rest in cells if len(rest) == 5 and name != "figure"]
    expected = [
        one
        for point in found["points"]
        for one in point["figures"]
        if one["figure"] == "max"
        or one["verdict"] in ("worse", "better")
        or is_important(one["figure"])
    ]
    names = [name for name, _ in table]
    detail = f"{where}: {names}"
    checks.that(names == [one["figure"] for one in expected], "the table has the important", detail)
    for one, (name, (before, after, size, interval, words)) in zip(expected, table, strict=False):
        here = f"{where}, {name}: {before}, {after}, {size}, {interval}, {words}"
        difference = one["difference"]
        checks.that((difference is None) == (before == "-"), "a figure is shown where it is", here)
        if difference is None:
            continue
        for shown, side in ((before, "before"), (after, "after")):
            holds = is_value(shown, difference[side]["value"])
            checks.that(holds, "a figure is shown as it is", here)
        judged = change(one)
        if judged:
            holds = is_change(size.split(" ")[0], judged["value"])
            checks.that(holds, "a change is shown as it is", here)
            bare = judged["low"] is None and judged["high"] is None
            marks = "-" if name == "max" else "~" if bare else None
            holds = interval == marks if marks else re.search(r"\d", interval) is not None
            checks.that(holds, "a change without interval is marked", here)
        checks.that(words == ("-" if name == "max" else verdict(one)), "a row has its verdict", here)
