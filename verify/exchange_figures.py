"""The figures of an exchange run, computed from its samples as docs/statistics.md and
docs/exchange.md define them, and compared with run.json."""

from __future__ import annotations

import numpy as np

from common import Checks, percentile, samples

#: The percentiles of a distribution, by their keys.
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
#: Rounding of a sum of floating-point numbers.
RTOL = 1e-9
#: Up to this number of samples, percentiles are exact.
EXACT = 4_194_304


def distribution(values) -> dict | None:
    """Every figure of a distribution that is defined by the samples alone."""
    values = np.asarray(values, dtype=np.int64)
    if len(values) == 0:
        return None
    ordered = np.sort(values)
    mean = float(np.mean(values.astype(np.longdouble)))
    sd = 0.0
    if len(values) > 1:
        deviation = values.astype(np.longdouble) - np.mean(values.astype(np.longdouble))
        sd = float(np.sqrt(np.sum(deviation**2) / (len(values) - 1)))
    figures = {
        "n": len(values),
        "min": int(ordered[0]),
        "max": int(ordered[-1]),
        "max3": int(ordered[-min(3, len(ordered))]),
        "mean": mean,
        "sd": sd,
        "mean_plus_sd": mean + sd,
        "iqr": percentile(values, 0.75) - percentile(values, 0.25),
    }
    figures.update({key: percentile(values, p) for key, p in PERCENTILES.items()})
    figures["p99_minus_p50"] = figures["p99"] - figures["p50"]
    return figures


def compare_distribution(checks: Checks, found, values, where: str) -> None:
    """Compare a distribution of run.json with the samples it was computed from."""
    expected = distribution(values)
    if found is None or expected is None:
        checks.that(
            found is None and expected is None,
            "distributions exist where there are samples",
            f"{where}: found {found is not None}, expected {expected is not None}",
        )
        return
    for key, value in expected.items():
        figure = found[key]["value"] if isinstance(found[key], dict) else found[key]
        # The mean of numbers around 1e9 with a spread of 1 keeps nine digits of the spread.
        rtol, atol = (RTOL, 1e-3) if key in ("mean", "sd", "mean_plus_sd") else (0.0, 0.0)
        checks.equal(figure, value, f"figure: {key}", where, rtol, atol)
    if expected["n"] <= EXACT:
        checks.equal(found["resolution"], 0, "figure: resolution", where)


def measured(columns: dict) -> dict:
    """The rows that enter statistics."""
    wanted = columns["phase"] == "measured"
    return {name: column[wanted] for name, column in columns.items()}


def by_request(columns: dict) -> dict:
    """One row for each exchange, in the order of the requests."""
    first = ~np.isin(columns["status"], ["late", "duplicated"])
    rows = {name: column[first] for name, column in columns.items()}
    order = np.argsort(rows["sequence"], kind="stable")
    return {name: column[order] for name, column in rows.items()}


def counts(columns: dict) -> dict:
    """How many exchanges ended how."""
    status = columns["status"]
    number = {name: int(np.sum(status == name)) for name in np.unique(status.astype(str))}
    count = {
        name: number.get(name, 0)
        for name in ("ok", "lost", "late", "duplicated", "reordered", "corrupted", "unexpected")
    }
    answered = count["ok"] + count["reordered"]
    return {
        "exchanges": answered + count["lost"] + count["corrupted"] + count["unexpected"],
        "answered": answered,
        # A late response counts as late instead of lost; its exchange has a row of each.
        "lost": count["lost"] - count["late"],
        "late": count["late"],
        "duplicated": count["duplicated"],
        "reordered": count["reordered"],
        "corrupted": count["corrupted"],
        "unexpected": count["unexpected"],
    }


def answers(run: dict, columns: dict) -> dict:
    """The correct responses in time, in the order in which they ended."""
    right = np.isin(columns["status"], ["ok", "reordered"])
    return {name: column[right] for name, column in columns.items()}


def period_ns(run: dict) -> int | None:
    """Time between two intended starts; None as fast as possible."""
    schedule = run["plan"]["schedule"]
    return schedule["every-ns"] if isinstance(schedule, dict) else None


def responder(run: dict, link: int) -> dict | None:
    """What the device said of itself."""
    conditions = run["conditions"]
    if link == 0:
        return conditions["responder"]
    return conditions["more_links"][link - 1]["responder"]


def trt(run: dict, depth: int, rows: dict) -> np.ndarray:
    """Start to start of consecutive requests, but of the first, which begin without an answer until the depth is reached."""
    steady = rows["sequence"][:-1] >= run["plan"]["warmup"] + max(depth, 1)
    consecutive = np.diff(rows["sequence"]) == 1
    return np.diff(rows["start_ns"])[consecutive & steady]


def start_delays(rows: dict) -> np.ndarray:
    """How late each exchange began: where it opens the link, opening it is a part of it."""
    return np.maximum(rows["start_ns"] - rows["connect_ns"] - rows["intended_ns"], 0)


def device_ns(run: dict, link: int, right: dict) -> np.ndarray:
    """The device's own time, by its clock, whose counter may have wrapped once."""
    told = responder(run, link)
    if told is None or told["tick_hz"] == 0:
        return np.array([], dtype=np.int64)
    bits = told["tick_bits"]
    ticks = (right["device_tx_ticks"] - right["device_rx_ticks"]).astype(np.uint64)
    if bits < 64:
        ticks &= np.uint64((1 << bits) - 1)
    return np.round(ticks.astype(np.float64) * (1e9 / told["tick_hz"])).astype(np.int64)


def check_point(checks: Checks, run: dict, path, at: int) -> None:
    """Compare every figure of one point with the samples."""
    point = run["points"][at]
    where = f"{path}, point {at}"
    columns = samples(path, point["point"]["index"])
    rows = measured(columns)
    exchanges = by_request(rows)
    right = answers(run, rows)
    every = period_ns(run)
    for name, number in counts(rows).items():
        checks.equal(point["counts"].get(name, 0), number, f"count: {name}", where)
    compare_distribution(checks, point["rtt"], right["rtt_ns"], f"{where}, RTT")
    compare_distribution(checks, point["trt"], trt(run, point["point"]["depth"], exchanges), f"{where}, TRT")
    if every is None:
        checks.that(point["from_intended"] is None, "no intended start without a schedule")
        checks.that("start_delay" not in point, "no start delay without a schedule")
    else:
        waited = right["start_ns"] + right["rtt_ns"] - right["intended_ns"]
        compare_distribution(checks, point["from_intended"], waited, f"{where}, from intended")
        delays = start_delays(exchanges)
        compare_distribution(checks, point["start_delay"], delays, f"{where}, start delay")
    device = device_ns(run, point["point"]["link"], right)
    compare_distribution(checks, point["device"], device, f"{where}, device")
    each = run["plan"]["connect"] == "each"
    none = np.array([], dtype=np.int64)
    parts = {
        "connect": right["connect_ns"],
        "access": right["access_ns"],
        "transfer": right["rtt_ns"] - right["access_ns"],
    }
    for name, values in parts.items():
        compare_distribution(checks, point[name], values if each else none, f"{where}, {name}")
    _stages(checks, point, right, where)
    first = columns["phase"] == "first"
    timed = first & np.isin(columns["status"], ["ok", "reordered"])
    rtt = int(columns["rtt_ns"][timed][-1]) if timed.any() else None
    checks.equal(point["first_rtt_ns"], rtt, "figure: first RTT", where)
    _queries(checks, run, point, rows, where)
    _rates(checks, run, point, exchanges, right, every, where)
    _shares(checks, run, point, exchanges, right, every, where)


def _stages(checks, point, right, where) -> None:
    """The parts of the RTT, of the exchanges for which the kernel's records are known."""
    stages = point.get("stages")
    if "kernel_rx_ns" not in right:
        checks.that(stages is None, "no parts of the RTT without the kernel's records", where)
        return
    known = right["kernel_rx_ns"] > 0
    if stages is None:
        checks.that(not known.any(), "parts of the RTT where they are known", where)
        return
    names = ("rtt_ns", "kernel_tx_ns", "kernel_tx_done_ns", "kernel_rx_ns")
    rtt, sent, done, back = (right[name][known] for name in names)
    on_bus = done > 0
    parts = {
        "rtt": rtt,
        "sending": sent,
        "request": (done - sent)[on_bus],
        "response": back - np.where(on_bus, done, sent),
        "receiving": rtt - back,
    }
    for name, values in parts.items():
        compare_distribution(checks, stages[name], values, f"{where}, part {name}")


def _queries(checks, run, point, rows, where) -> None:
    """Exchange n sends query n modulo their number; each query has figures of its own."""
    queries = (run["plan"].get("queries") or {}).get("list", [])
    given = point.get("queries", [])
    if len(queries) < 2:
        checks.equal(len(given), 0, "one query has no figures of its own", where)
        return
    names = [query["name"] for query in queries]
    shown = [query["name"] for query in given]
    checks.that(shown == names, "each query has its figures", f"{where}: {shown}")
    listed = sum(kind["times"] for kind in point.get("unexpected", []))
    unexpected = int(np.sum(rows["status"] == "unexpected"))
    checks.equal(listed, unexpected, "every unexpected reply is of a listed kind", where)
    for at, query in enumerate(given):
        here = f"{where}, {query['name']}"
        of = {name: column[rows["sequence"] % len(queries) == at] for name, column in rows.items()}
        count = counts(of)
        for name in ("exchanges", "answered", "unexpected"):
            checks.equal(query[name], count[name], f"query: {name}", here)
        compare_distribution(checks, query["rtt"], answers(run, of)["rtt_ns"], f"{here}, RTT")


def _rates(checks, run, point, exchanges, right, every, where) -> None:
    """Measured time, throughput, achieved depth, part of the limit."""
    if len(exchanges["sequence"]) == 0:
        return
    begin = int(np.min(exchanges["start_ns"] - exchanges["connect_ns"]))
    takes = np.maximum(exchanges["rtt_ns"], every or 0)
    elapsed = int(np.max(exchanges["start_ns"] + takes)) - begin
    checks.equal(point["elapsed_ns"], elapsed, "figure: measured time", where)
    rate = point["throughput"]
    expected = {
        "exchanges_s": len(right["rtt_ns"]) / elapsed * 1e9,
        "out_bytes_s": int(right["bytes_out"].sum()) / elapsed * 1e9,
        "in_bytes_s": int(right["bytes_in"].sum()) / elapsed * 1e9,
    }
    for name, value in expected.items():
        checks.equal(rate[name], value, f"figure: {name}", where, RTOL)
    depth = int(exchanges["rtt_ns"].sum()) / elapsed
    checks.equal(point["achieved_depth"], depth, "figure: achieved depth", where, RTOL)
    limit = point["limit"]
    if limit:
        out, in_ = expected["out_bytes_s"], expected["in_bytes_s"]
        carried = out + in_ if limit["shared"] else max(out, in_)
        used = carried / limit["bytes_s"]
        checks.equal(limit["used"], used, "figure: part of the limit", where, RTOL)


def _shares(checks, run, point, exchanges, right, every, where) -> None:
    """The share below each limit: no correct response is not below."""
    limits = run["plan"]["below_ns"]
    checks.equal(len(point["below"]), len(limits), "a share for each --below", where)
    times = right["rtt_ns"]
    if every is not None:
        times = right["start_ns"] + right["rtt_ns"] - right["intended_ns"]
    for limit, share in zip(limits, point["below"], strict=True):
        n = len(exchanges["sequence"])
        below = int(np.sum(times < limit)) / n if n else 0.0
        checks.equal(share["share"], below, "figure: share below", f"{where}, {limit} ns", RTOL)
        inside = share["low"] <= share["share"] <= share["high"]
        checks.that(inside, "interval of a share contains it", f"{where}, {share}")


def check_run(checks: Checks, run: dict, path) -> None:
    """Compare every point of an exchange run."""
    for at in range(len(run["points"])):
        check_point(checks, run, path, at)
