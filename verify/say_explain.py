"""What `explain` says of an exchange run: its split, its verdicts, its advice and its model."""

from __future__ import annotations

import heapq
import re

import say_answer
from common import Checks, samples
from exchange_figures import answers, by_request, measured, trt
from say_figures import intervals, percentages

#: A gain that is worth advice (docs/explain.md), and one that is scatter.
GAIN, SCATTER = 1.25, 1.05
#: What is no right answer, beside a late one.
FAILED = ("lost", "corrupted", "unexpected")
#: Requests that started later than they could, as a part of the time, from which that is said.
DELAYED = 0.1
#: Requests in the device on average from which a higher depth is not tried.
OCCUPIED = 0.9
#: The part of the time of all places that lost requests hold, from which nothing else limits (with some room), and
#: the other verdicts that name a limit.
LOSING = 0.12
LIMITS = ("bus", "device", "faster-depth", "host-behind", "latency-timer", "slowest-stage")
#: Words that name another cause than depth.
CAUSES = re.compile(r"lost|loss|timeout|not answered|other conditions")
#: A rate tells something of a depth with so many exchanges for each outstanding one, and at most so
#: many of them unanswered (docs/explain.md).
ENOUGH, UNANSWERED = 10, 1e-3


def delayed(rows: dict, depth: int) -> float:
    """The part of the places of the queue that stood empty while there was more to send."""
    ends: list[int] = []
    idle, free_since = 0, int(rows["start_ns"][0])
    for start, rtt in zip(rows["start_ns"].tolist(), rows["rtt_ns"].tolist(), strict=True):
        if len(ends) >= depth:
            free_since = heapq.heappop(ends)
        idle += max(0, start - free_since)
        heapq.heappush(ends, start + rtt)
    elapsed = int(rows["start_ns"][-1]) - int(rows["start_ns"][0])
    return idle / (elapsed * depth) if elapsed > 0 else 0.0


def alike(points: list, point: dict) -> list:
    """The points that differ in depth only."""
    keys = ("out_bytes", "in_bytes", "link", "together")
    return [p for p in points if all(p["point"][k] == point["point"][k] for k in keys)]


def clean(point: dict) -> bool:
    """Every exchange was answered right."""
    return point["counts"]["answered"] == point["counts"]["exchanges"]


def telling(point: dict) -> bool:
    """The rate of a point tells what its depth is worth."""
    counts = point["counts"]
    few = counts["exchanges"] < ENOUGH * point["point"]["depth"]
    return not few and counts["exchanges"] - counts["answered"] <= UNANSWERED * counts["exchanges"]


def check_split(checks: Checks, run: dict, split: dict, path, where: str) -> None:
    """The parts of the RTT are means of the samples and add up."""
    rows = measured(samples(path, split["point"]["index"]))
    right = answers(run, rows)["rtt_ns"]
    if len(right) == 0:
        checks.that(split["rtt_ns"] is None, "no split without responses", where)
        return
    checks.equal(split["rtt_ns"], float(right.mean()), "explain: mean RTT", where, 1e-9)
    starts = trt(run, split["point"]["depth"], by_request(rows))
    mean = float(starts.mean()) if len(starts) else None
    checks.equal(split["trt_ns"], mean, "explain: mean TRT", where, 1e-9, 1e-3)
    parts = [split[name] or 0 for name in ("device_ns", "host_ns", "wire_ns")]
    checks.equal(sum(parts), split["rtt_ns"], "explain: parts add up", where, 1e-9)
    checks.that(min(parts) >= 0, "explain: no part is negative", f"{where}: {parts}")


def check_verdict(checks: Checks, run: dict, split: dict, path, where: str) -> None:
    """A verdict and its advice against the other points of the run."""
    points = {p["point"]["index"]: p for p in run["points"]}
    here = points[split["point"]["index"]]
    depth, rate = here["point"]["depth"], here["throughput"]["exchanges_s"]
    deeper = [p for p in alike(run["points"], here) if p["point"]["depth"] > depth]
    rates = {p["point"]["depth"]: p["throughput"]["exchanges_s"] for p in deeper}
    verdict, words = split["verdict"], split["words"]
    kind = verdict["kind"]
    detail = f"{where}: {words}; {rate:.6g}/s here, deeper {rates}"
    if kind == "faster-depth":
        there = rates.get(verdict["depth"])
        checks.that(there is not None, "a faster depth was measured", detail)
        if there:
            checks.equal(
                verdict["faster"], there / rate, "a gain is that of the rates", detail, 1e-9
            )
            # N outstanding are at most N times as fast as one, unless something else differs.
            explained = there / rate <= verdict["depth"] / depth * 1.1 or CAUSES.search(words) or verdict["smaller"]
            name = "a gain beyond what depth can give is not called overlap"
            lossless = "" if clean(here) else ", with losses"
            checks.that(explained, name + lossless, detail)
    if kind == "faster-depth" and verdict["smaller"]:
        there = {p["point"]["depth"]: p for p in alike(run["points"], here) if telling(p)}
        for other in (verdict["smaller"], verdict["depth"]):
            found = there.get(other)
            faster = found is not None and found["throughput"]["exchanges_s"] > SCATTER * rate
            checks.that(faster, "an outlier is slower than both depths", detail)
        checks.that(
            verdict["smaller"] < depth < verdict["depth"], "an outlier lies between", detail
        )
    if kind == "slowest-stage":
        best = max((p["throughput"]["exchanges_s"] for p in deeper if telling(p)), default=0)
        checks.that(best <= GAIN * rate, "`a higher depth does not help` is not refuted", detail)
        same = [p for p in alike(run["points"], here) if telling(p)]
        needs = min(p["trt"]["mean"]["value"] for p in same)
        checks.equal(verdict["needs_ns"], needs, "a stage needs no more than the shortest TRT", detail, 1e-9)
    tried = re.search(r"Try --depth (\d+)", words)
    if tried:
        # What the plan has already is no advice.
        keys = ("out_bytes", "in_bytes", "link", "together")
        same = [p for p in run["plan"]["points"] if all(p[k] == here["point"][k] for k in keys)]
        new = all(p["depth"] <= depth for p in same) or telling(here) and any(map(telling, deeper))
        checks.that(new, "advice to try a depth is not one of the plan", detail)
        useless = [p for p in deeper if telling(p) and telling(here)]
        useless = [p for p in useless if p["throughput"]["exchanges_s"] <= SCATTER * rate]
        checks.that(not useless, "advice to try a depth is not refuted by the run", detail)
        checks.that(int(tried.group(1)) > depth, "a depth to try is deeper", detail)
    if "higher --depth" in words or tried:
        occupied = (split["device_ns"] or 0) / split["trt_ns"]
        name = "a higher depth is tried only where the device has room"
        checks.that(occupied <= OCCUPIED + 1e-6, name, f"{detail}; {occupied:.3g} requests in it")
    if "higher --depth" in words and kind == "behind":
        period = run["plan"]["schedule"]["every-ns"]
        behind = [p for p in deeper if say_answer.lateness(path, p, period)[2]]
        name = "a higher depth is not tried where one did not keep the schedule"
        checks.that(not behind, name, detail)
    if kind in LIMITS or kind == "losses":
        rows = by_request(measured(samples(path, here["point"]["index"])))
        places_ns = here["elapsed_ns"] * depth
        of = {name: float(rows["rtt_ns"][rows["status"] == name].sum()) for name in FAILED}
        detail = f"{where}: {words}; {of}"
        # Wrong answers took time as well, which the summary does not tell from that of losses.
        # A timeout that a busy host noticed late counts as the timeout.
        timeouts = int((rows["status"] == "lost").sum()) * run["plan"]["timeout_ns"]
        least = min(of["lost"], timeouts) / places_ns
        if kind == "losses":
            near = least - 1e-6 <= verdict["waited"] <= sum(of.values()) / places_ns + 1e-6
            checks.that(near, "losses take the time that the samples say", detail)
        else:
            checks.that(least < LOSING, "nothing but losses limits where they hold the places", detail)
    if kind == "depth-unknown" and verdict["unfinished"]:
        planned = [p for p in run["plan"]["points"] if p["depth"] == verdict["unfinished"]]
        checks.that(bool(planned), "an unfinished depth is one of the plan", detail)
        same = [p for p in alike(run["points"], here) if p["point"]["depth"] == verdict["unfinished"]]
        checks.that(not any(map(telling, same)), "an unfinished depth tells nothing", detail)
    if kind in ("schedule", "behind"):
        period = run["plan"]["schedule"]["every-ns"]
        _, end, grows = say_answer.lateness(path, here, period)
        detail = f"{where}: {words}; the last exchange began {end / period:.2f} periods late, {grows}"
        checks.that(grows == (kind == "behind"), "a schedule that is not kept does not limit", detail)
        kept = kind == "behind" or (verdict["under_way"] is not None) == (end <= period)
        checks.that(kept, "the schedule limits where it is kept", detail)
        if kind == "behind":
            checks.equal(verdict["late_ns"], end, "the lateness is that of the last start", detail)
    if kind == "host-behind":
        rows = by_request(measured(samples(path, here["point"]["index"])))
        late = delayed(rows, depth)
        detail = f"{where}: {words}; places were empty for {late:.2%}"
        checks.that(late >= DELAYED, "the host is behind only where requests were late", detail)


def check_model(checks: Checks, run: dict, model: dict, path, where: str) -> None:
    """What the model says of the link against the points that it was fitted to."""
    figures = model["model"]
    # One whose points do not determine it is kept for predictions, and not printed.
    said = figures is not None or model["why_not"] is not None
    checks.that(said, "a model, or why there is none", where)
    if model["why_not"] is not None:
        return
    off = [abs(residual["off"]) for residual in figures["residuals"]]
    checks.equal(figures["worst"], max(off), "the worst error is the largest", where, 1e-9)
    points = [p for p in run["points"] if p["rtt"] and clean(p)]
    points = [p for p in points if p["point"]["link"] == model["link"]]
    fits = figures["worst"] <= GAIN - 1
    for key in ("out_bytes_s", "in_bytes_s"):
        most = figures[key]
        if most is None:
            continue
        cost = figures["slowest"][key.replace("bytes_s", "ns_a_byte")]
        checks.that(cost["low"] > 0, "a maximum rests on a significant time per byte", where)
        if not fits:
            continue
        for point in points:
            rate = point["throughput"][key]
            detail = f"{where}: at most {most['value']:.6g} B/s, {rate:.6g} at {point['point']}"
            room = most["value"] * (1 + figures["worst"]) * GAIN
            checks.that(rate <= room, "no point exceeds the maximum of the model", detail)


def check(checks: Checks, run: dict, found: dict, text: str, path, where: str) -> None:
    """Everything that `explain` says of an exchange run; `found` is its JSON."""
    intervals(checks, found, f"{where}, explain")
    percentages(checks, text, f"{where}, explain")
    for split in found["exchanges"]:
        here = f"{where}, point {split['point']['index']}"
        check_split(checks, run, split, path, here)
        check_verdict(checks, run, split, path, here)
    for model in found["models"]:
        check_model(checks, run, model, path, where)
