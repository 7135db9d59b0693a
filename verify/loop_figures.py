"""The figures of a loop run, computed from its blocks as docs/loop.md and docs/run-format.md
define them, and compared with run.json."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import chi2

from common import Checks, samples
from exchange_figures import RTOL, compare_distribution

#: 16-bit samples.
SAMPLE_BYTES = 2


def stalls(late: np.ndarray, limit: float) -> int:
    """Runs of consecutive blocks over the limit."""
    over = (late > limit).astype(np.int8)
    return int(np.sum(np.diff(np.concatenate(([0], over))) == 1))


def check_point(checks: Checks, run: dict, path, at: int) -> None:
    """Compare every figure of one point with its blocks."""
    point = run["points"][at]
    cell = point["point"]
    where = f"{path}, point {at}"
    columns = samples(path, cell["index"])
    wanted = columns["phase"] == "measured"
    due, begun, done = (columns[name][wanted] for name in ("due_ns", "begun_ns", "done_ns"))
    frame = cell["channels"] * SAMPLE_BYTES
    bytes_s = cell["rate_hz"] * frame
    period = cell["notify_bytes"] / bytes_s * 1e9
    checks.equal(point["blocks"], len(due), "count: blocks", where)

    def positive(times):
        return np.maximum(times, 0)

    compare_distribution(checks, point["wake"], positive(begun - due), f"{where}, wake")
    compare_distribution(checks, point["work"], positive(done - begun), f"{where}, work")
    service = positive(done - due)
    compare_distribution(checks, point["service"], service, f"{where}, service")
    # A block can begin when its last sample is in and the block before was delivered.
    before = np.concatenate(([0], columns["done_ns"][:-1]))[wanted]
    host = positive(begun - np.maximum(due, before))
    compare_distribution(checks, point["host_delay"], host, f"{where}, host delay")
    if len(due) == 0:
        return
    whole = round(period)
    floor = whole + int(host.max())
    checks.equal(point["floor_ns"], floor, "figure: floor", where)
    elapsed = int(due[-1] - positive(due[0] - whole))
    checks.equal(point["elapsed_ns"], elapsed, "figure: measured time", where)
    looped = max(int(due[-1]), int(done[-1])) - int(positive(due[0] - whole))
    duty = int(positive(done - begun).sum()) / looped
    checks.equal(point["duty"], duty, "figure: duty", where, RTOL)
    needed = whole + int(service.max())
    stalled = point["overruns"] + point["underruns"] > 0
    if cell["aim"] == "curve" or not stalled:
        checks.equal(point["needed_ns"], needed, "figure: latency needed", where)
        blocks = needed * 1e-9 * bytes_s / cell["notify_bytes"]
        up = max(1, math.ceil(blocks - 1e-6)) * cell["notify_bytes"]
        checks.equal(point["needed_bytes"], up, "figure: buffer needed", where)
        checks.that(floor <= needed, "the floor is at most the latency needed", where)
    if cell["aim"] == "curve":
        _curve(checks, point, whole + service, elapsed, where)
    else:
        checks.equal(len(point["curve"]), 0, "no curve of a tested preload", where)
        # Lateness as the device counted it: an underrun of a held preload is a late block.
        marked = np.isin(columns["xrun"], ["underrun", "both"]).sum()
        checks.that(
            (point["underruns"] > 0) == (marked > 0) or not wanted.all(),
            "underruns are marked on blocks",
            f"{where}: {point['underruns']} counted, {marked} marked",
        )


def _curve(checks: Checks, point: dict, late: np.ndarray, elapsed: int, where: str) -> None:
    """Stalls against latency: each step counted, and never fewer than at a longer latency."""
    minutes = elapsed / 60e9
    most = 0
    for step in reversed(point["curve"]):
        most = max(most, stalls(late, step["latency_ns"]))
        here = f"{where}, latency {step['latency_ns']}"
        checks.equal(step["stalls"], most, "curve: stalls", here)
        checks.equal(step["per_minute"], most / minutes, "curve: stalls a minute", here, RTOL)
        # Garwood's upper bound; the program's approximation is within 0.4 % of it.
        bound = chi2.ppf(0.95, 2 * most + 2) / 2 / minutes
        checks.equal(step["per_minute_high"], bound, "curve: upper bound", here, 5e-3)
    last = point["curve"][-1]
    checks.equal(last["latency_ns"], late.max(), "curve: ends at the latency needed", where)
    checks.equal(last["stalls"], 0, "curve: no stall at the latency needed", where)


def check_run(checks: Checks, run: dict, path) -> None:
    """Compare every point of a loop run."""
    for at in range(len(run["points"])):
        check_point(checks, run, path, at)
