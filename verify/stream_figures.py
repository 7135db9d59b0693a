"""The figures of a stream run, computed from its transfers as docs/statistics.md and
docs/stream.md define them, and compared with run.json."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from common import Checks, percentile, samples
from exchange_figures import RTOL, compare_distribution

#: Points shorter than this have rates for each tenth of a second.
SHORT_NS = 3_000_000_000
#: Up to this number of levels, their quantiles are exact; beyond, to 1/1024.
EXACT_LEVELS = 262_144


def levels(rate: int, times, sizes):
    """The device's backlog before and after each completion (Lindley 1952), in units of
    1e-9 bytes; the buffer is empty at times[0]."""
    level = 0
    before, after = [], []
    for gap, size in zip(np.diff(times).tolist(), sizes[1:].tolist(), strict=True):
        peak = level + rate * gap
        level = max(0, peak - size * 1_000_000_000)
        before.append(peak)
        after.append(level)
    return before, after


def check_flow(checks: Checks, run: dict, point: dict, flow: dict, columns: dict, where: str):
    """Compare the figures of one direction of one point."""
    plan = run["plan"]
    rows = {name: column[columns["way"] == flow["way"]] for name, column in columns.items()}
    ok = rows["status"] == "ok"
    measured = ok & (rows["phase"] == "measured")
    checks.equal(flow["transfers"], int(measured.sum()), "count: transfers", where)
    checks.equal(flow["bytes"], int(rows["bytes"][measured].sum()), "count: bytes", where)
    stalled = int(np.sum(rows["status"] == "stalled"))
    checks.equal(flow["stalls"], stalled, "count: stalls", where)
    submit, complete = rows["submit_ns"], rows["complete_ns"]
    times = (complete - submit)[measured]
    compare_distribution(checks, flow["transfer_time"], times, f"{where}, transfer")
    _host_gap(checks, flow, rows, measured, point["point"]["queue"], where)
    urb = measured & (rows["urb_complete_ns"] > 0)
    urb_ns = (rows["urb_complete_ns"] - rows["urb_submit_ns"])[urb]
    compare_distribution(checks, flow["urb_time"], urb_ns, f"{where}, URB")
    stack = np.maximum((complete - submit)[urb] - urb_ns, 0)
    compare_distribution(checks, flow["stack_time"], stack, f"{where}, stack")
    if not measured.any():
        checks.that(flow["rate"] is None, "no rate without transfers", where)
        return
    # Counted from the last completion of the start-up, else from the first measured one.
    at = np.flatnonzero(measured)
    settled = np.flatnonzero(ok[: at[0]])
    counted = np.concatenate((settled[-1:], at)) if len(settled) else at
    ends, sizes = complete[counted], rows["bytes"][counted]
    gaps = np.diff(ends)
    compare_distribution(checks, flow["gap"], gaps, f"{where}, gap")
    end = _end(checks, point, flow, ends, sizes, where)
    silent = end != int(ends[-1])
    elapsed = end - int(ends[0])
    if elapsed <= 0:
        return
    rate = int(sizes[1:].sum()) / elapsed * 1e9
    checks.equal(flow["rate"]["value"], rate, "figure: rate", where, 1e-6 if silent else RTOL)
    _steps(checks, flow, plan, ends, sizes, where)
    _queue(checks, flow, rows, int(ends[0]), end, 1e-6 if silent else RTOL, where)
    if flow["limit"]:
        together = sum(f["rate"]["value"] for f in point["flows"] if f["rate"])
        carried = together if flow["limit"]["shared"] else flow["rate"]["value"]
        used = carried / flow["limit"]["bytes_s"]
        checks.equal(flow["limit"]["used"], used, "figure: part of the limit", where, RTOL)
    if not silent:
        _buffers(checks, flow, plan, ends, sizes, where)


def _end(checks, point: dict, flow: dict, ends, sizes, where: str) -> int:
    """The end of the measured time: the last completion, or that of a silence after it, longer than
    every gap. The samples do not show how long that was; the point's time, or the rate, does."""
    last, moved = int(ends[-1]), int(sizes[1:].sum())
    if len(point["flows"]) == 1:
        end = int(ends[0]) + point["elapsed_ns"]
    elif flow["rate"] and flow["rate"]["value"] > 0:
        end = int(ends[0]) + round(moved * 1e9 / flow["rate"]["value"])
    else:
        return last
    gaps = np.diff(ends)
    longest = int(gaps.max()) if len(gaps) else 0
    silence = end - last
    # A rate has fifteen digits, so an end computed from it may be a nanosecond off.
    exact = abs(silence) <= (0 if len(point["flows"]) == 1 else 2)
    detail = f"{where}: {silence} ns after the last completion, longest gap {longest}"
    checks.that(exact or silence > longest, "figure: measured time", detail)
    within = silence <= point["elapsed_ns"]
    checks.that(within, "a silence is within the point's time", detail)
    return last if exact else end


def _host_gap(checks, flow, rows, measured, queue: int, where: str) -> None:
    """Completion of transfer n - q to the submission of transfer n; q: the largest number pending
    so far, at most the queue."""
    pending = np.minimum(rows["pending"], queue)
    q = np.maximum(np.maximum.accumulate(np.concatenate(([1], pending)))[1:], 1)
    n = np.arange(len(pending))
    has = (n - q >= 0) & measured
    freed = rows["complete_ns"][np.maximum(n - q, 0)]
    gaps = np.maximum(rows["submit_ns"] - freed, 0)[has]
    compare_distribution(checks, flow["host_gap"], gaps, f"{where}, host gap")


def _steps(checks, flow, plan, ends, sizes, where: str) -> None:
    """Rates over time: the bytes of a transfer are spread evenly over the gap that it ended."""
    step = 100_000_000 if plan["duration_ns"] < SHORT_NS else 1_000_000_000
    checks.equal(flow["rate_step_ns"], step, "figure: length of a step", where)
    carried = np.concatenate(([0], np.cumsum(sizes[1:]))).astype(float)
    # Several completions at one instant: the bytes of all but the first of them belong to it.
    edges = ends[0] + step * np.arange(len(flow["rate_bytes_s"]) + 1)
    at = np.interp(edges, ends, carried)
    rates = np.diff(at) * 1e9 / step
    for found, expected in zip(flow["rate_bytes_s"], rates.tolist(), strict=True):
        largest = float(sizes.max()) * 1e9 / step
        same = bool(np.any(np.diff(ends) == 0))
        atol = largest if same else 1e-3
        checks.equal(found, expected, "figure: rate over time", where, 1e-9, atol)


def _queue(checks, flow, rows, begin: int, end: int, rtol: float, where: str) -> None:
    """Mean number pending within the measured time."""
    from_ns = np.maximum(rows["submit_ns"], begin)
    to_ns = np.minimum(rows["complete_ns"], end)
    pending = int(np.maximum(to_ns - from_ns, 0).sum()) / (end - begin)
    checks.equal(flow["achieved_queue"], pending, "figure: achieved queue", where, rtol)


def _buffers(checks, flow, plan, ends, sizes, where: str) -> None:
    """The buffer of the device for each rate, worst moment and given loss."""
    checks.equal(len(flow["buffers"]), len(plan["rates_bytes_s"]), "a buffer for each rate", where)
    for rate, need in zip(plan["rates_bytes_s"], flow["buffers"], strict=True):
        here = f"{where}, {rate} B/s"
        before, after = levels(rate, ends, sizes)
        if not before:
            continue
        elapsed = int(ends[-1] - ends[0])
        # A source at its own rate: the last transfer may not be complete, and its clock is another.
        carried = int(sizes[1:].sum() + sizes[1:].max()) * 1_000_000_000
        sustained = carried >= rate * elapsed - rate * elapsed // 10_000
        # Not if the silence after the last completion counts, which is at most the longest gap.
        longest = elapsed + int(np.diff(ends).max()) + 1
        ends_late = carried < rate * longest - rate * longest // 10_000
        agrees = need["sustained"] == sustained or (ends_late and not need["sustained"])
        checks.that(agrees, "buffer: sustained", here)
        worst = math.ceil(Fraction(max(before), 1_000_000_000))
        # The silence after the last completion is not in the samples, and can only add.
        found = need["worst_bytes"]
        detail = f"{here}: found {found}, expected {worst}"
        silence = (found * 1_000_000_000 - after[-1]) / rate
        # Counted up to the end of the point; a longer silence would be part of the measured time.
        silent = found > worst and 0 <= silence <= int(np.diff(ends).max()) + 1
        checks.that(found == worst or silent, "buffer: worst backlog", detail)
        loss = need["for_loss_bytes"]
        if loss is None or need["extrapolated"]:
            continue
        # Levels are kept in thousandths of a byte.
        quantile = percentile([value // 1_000_000 for value in before], 1 - need["loss"]) / 1000
        rtol = 1e-6 if len(before) <= EXACT_LEVELS else 1 / 1024
        checks.equal(loss["value"], quantile, "buffer: for a loss", here, rtol, 1e-3)


def check_run(checks: Checks, run: dict, path) -> None:
    """Compare every point of a stream run."""
    for at, point in enumerate(run["points"]):
        columns = samples(path, point["point"]["index"])
        for flow in point["flows"]:
            where = f"{path}, point {at}, {flow['way']}"
            check_flow(checks, run, point, flow, columns, where)
