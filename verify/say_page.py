"""What the page of an exchange run says in its first sentence and its summary, against the samples."""

from __future__ import annotations

import html
import re

from common import Checks, percentile, samples
from exchange_figures import by_request, measured, start_delays

#: Of a percentile, the share of the exchanges that may have no correct answer.
BEYOND = {"p99.9": 0.001, "p99": 0.01, "p90": 0.1, "p50": 0.5}
UNITS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}


def words(page: str) -> str:
    """The text of a page without scripts, styles and figures."""
    page = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def answer_of(page: str) -> str | None:
    """The first sentence; `None` if the page has none."""
    found = re.search(r'<p class="answer">(.*?)</p>', page, re.DOTALL)
    return words(found.group(1)).strip() if found else None


def integer(text: str) -> int:
    return int(text.replace(",", ""))


def check_progress(checks: Checks, run: dict, page: str, answer: str | None, where: str) -> None:
    """Only points that were measured to their end are finished, and a run that is not whole says so."""
    done = sum(point["ending"]["how"] == "complete" for point in run["points"])
    planned = len(run["plan"]["points"])
    whole = run["state"] == "complete"
    said = re.search(r"(\d+) of (\d+) points complete", words(page))
    checks.that(bool(said) != whole, "an incomplete run is said to be one", where)
    if said and not whole:
        counts = (int(said.group(1)), int(said.group(2))) if said.group(1) else (0, planned)
        detail = f"{where}: {said.group(0)}; {done} of {planned}"
        checks.that(counts == (done, planned), "finished points have ended", detail)
    if answer is None or whole:
        return
    said = re.match(r"(\d+) of (\d+) points finished;", answer)
    true = said and (int(said.group(1)), int(said.group(2))) == (done, planned)
    checks.that(true or done == planned, "the answer names the points finished", f"{where}: {answer}")


def check_schedule(checks: Checks, run: dict, first: dict, path, answer: str, where: str) -> None:
    """A schedule is said to be kept where the starts are less than a period late, and the misses are named."""
    period = run["plan"]["schedule"]["every-ns"]
    delays = start_delays(by_request(measured(samples(path, first["point"]["index"]))))
    if len(delays) == 0:
        return
    late = percentile(delays, 0.99)
    kept = late <= period
    detail = f"{where}: {answer}; p99 of the start delays {late:.6g}, period {period}"
    checks.that(("was not kept" not in answer) == kept, "a schedule is kept as said", detail)
    said = re.search(r"([\d,]+) of ([\d,]+) cycles of \S+ \S+ missed their deadline", answer)
    checks.that(said is not None, "the answer names the missed cycles", detail)
    if said:
        missed = integer(said.group(1)) <= integer(said.group(2))
        checks.that(missed, "no more cycles are missed than there are", detail)


def check_depths(checks: Checks, same: list, answer: str, where: str) -> None:
    """Ratios are those of the rates; what is fastest is proven by intervals."""
    rates = {p["point"]["depth"]: p["throughput"]["exchanges_s"] for p in same}
    detail = f"{where}: {answer}; {rates}"
    said = re.search(r"at depth (\d+) (?:is|was) ([\d.]+) times that at depth (\d+)", answer)
    if said and len(rates) == len(same):
        ratio = rates[int(said.group(1))] / rates[int(said.group(3))]
        decimals = len(said.group(2).partition(".")[2])
        near = abs(float(said.group(2)) - ratio) <= 0.51 * 10.0**-decimals
        checks.that(near, "a ratio is that of the rates", detail)
    said = re.search(r"no depth has a higher exchange rate than depth (\d+)", answer)
    if not said or len(rates) < len(same):
        return
    lowest = int(said.group(1))
    base = next(p for p in same if p["point"]["depth"] == lowest)["trt"]["mean"]
    for point in same:
        if point["point"]["depth"] == lowest:
            continue
        mean = (point["trt"] or {}).get("mean") or {}
        bounds = (base["high"], mean.get("low"))
        proven = None not in bounds and bounds[0] < bounds[1]
        checks.that(proven, "no depth is faster only where intervals show it", detail)


def check(checks: Checks, run: dict, page: str, path, where: str) -> None:
    """Everything that the first sentence says, and how many points the summary calls finished."""
    where = f"{where}, page"
    answer = answer_of(page)
    check_progress(checks, run, page, answer, where)
    answered = [p for p in run["points"] if p["counts"]["answered"]]
    timed = any(p["counts"]["answered"] and (p["trt"] or p["rtt"]) for p in run["points"])
    shortest = "Shortest TRT" in words(page)
    checks.that(timed or not shortest, "a TRT of timeouts is no shortest one", where)
    if answer is None:
        return
    names = (
        ("lost", r"([\d,]+) of ([\d,]+) exchanges lost"),
        ("late", r"([\d,]+) late"),
        ("corrupted", r"([\d,]+) with wrong bytes"),
        ("duplicated", r"([\d,]+) duplicated"),
        ("reordered", r"([\d,]+) out of order"),
    )
    for key, pattern in names:
        count = sum(p["counts"][key] for p in run["points"])
        said = re.search(pattern, answer)
        same = integer(said.group(1)) == count if said else count == 0
        checks.that(same, "the answer names errors by kind", f"{where}: {answer}; {key} {count}")
    if not answered:
        return
    sizes = ("together", "link", "out_bytes", "in_bytes")
    least = min(tuple(p["point"][key] for key in sizes) for p in answered)
    same = [p for p in answered if tuple(p["point"][key] for key in sizes) == least]
    same.sort(key=lambda p: p["point"]["depth"])
    if run["plan"]["schedule"] != "as-fast-as-possible":
        check_schedule(checks, run, same[0], path, answer, where)
    else:
        check_depths(checks, same, answer, where)
    said = re.search(
        r"\b(p[\d.]+)(?: from the intended start)? ([\d.,]+) (ns|us|µs|ms|s)(?: at depth (\d+))?",
        answer,
    )
    if not said:
        return
    depth = int(said.group(4)) if said.group(4) else same[0]["point"]["depth"]
    there = [p for p in same if p["point"]["depth"] == depth]
    key = "from_intended" if "intended" in said.group(0) else "rtt"
    near = False
    for point in there:
        counts = point["counts"]
        share = 1 - counts["answered"] / counts["exchanges"]
        field = said.group(1).replace(".", "")
        value = point[key][field]["value"] / UNITS[said.group(3)]
        digits = said.group(2).replace(",", "")
        room = 0.51 * 10.0 ** -len(digits.partition(".")[2])
        is_it = abs(float(digits) - value) <= room
        near = near or is_it and share <= BEYOND[said.group(1)] + 1e-12
    checks.that(near, "a percentile of the answer is defined, and that of a point", f"{where}: {answer}")
