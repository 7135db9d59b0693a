"""The printed tables of a run, cell by cell against its run.json, which the samples confirmed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile

from common import Checks, wiregauge

#: Nanoseconds of a unit.
TIME = {"us": 1e3, "ms": 1e6}
#: A percentile whose bound is further away than this part of it has its interval beside it.
ROUGH = 0.2
#: A value is in the middle of its interval up to this part of the width.
OFF_CENTRE = 0.01
#: Bytes a second of a unit.
RATE = {"kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}


@dataclass
class Table:
    """A table as printed: title, heads of the columns, rows of cells."""

    title: str
    heads: list[str]
    rows: list[list[str]]

    def column(self, head: str, which: int = 0) -> list[str]:
        """The cells below a head; the same head may occur several times."""
        at = [index for index, name in enumerate(self.heads) if name == head][which]
        return [row[at] for row in self.rows]


def split(line: str) -> list[str]:
    """The cells of a line: two blanks or more are between them."""
    return re.split(r" {2,}", line.strip())


def tables(text: str) -> list[Table]:
    """The tables of a text: a title at the margin, then indented lines with as many cells each."""
    found: list[Table] = []
    title, lines = "", []

    def close():
        rows = [split(line) for line in lines]
        # Footnotes below the rows have other cells.
        rows = list(takewhile(lambda row: len(row) == len(rows[0]), rows))
        if len(rows) > 1:
            found.append(Table(title, rows[0], rows[1:]))

    for line in [*text.splitlines(), ""]:
        if line.startswith("  ") and title:
            lines.append(line)
        else:
            close()
            title, lines = line.strip(), []
    return found


def number(cell: str) -> tuple[float, int] | None:
    """The number that a cell shows and its decimals."""
    match = re.search(r"-?[\d,]+(?:\.(\d+))?(?:e-?\d+)?", cell.removeprefix("+-"))
    if not match:
        return None
    return float(match.group(0).replace(",", "")), len(match.group(1) or "")


def check_cell(checks: Checks, cell: str, value, scale: float, what: str, where: str) -> None:
    """A cell shows a value to the digits that it has; `-` shows that there is none."""
    if value is None:
        checks.that(cell in ("-", "?"), f"table: {what}", f"{where}: `{cell}` for no value")
        return
    shown = number(cell)
    if shown is None:
        checks.that(False, f"table: {what}", f"{where}: `{cell}` for {value / scale}")
        return
    half = 0.5 * 10.0 ** -shown[1]
    near = abs(shown[0] - value / scale) <= half * (1 + 1e-6) + 1e-12 * abs(value / scale)
    checks.that(near, f"table: {what}", f"{where}: `{cell}` for {value / scale}")


def check_percentile(checks: Checks, cell: str, estimate, scale, what, where) -> None:
    """A percentile has its interval if a bound is missing or far: `47.70 (10.92 .. ?)`."""
    if estimate is None:
        check_cell(checks, cell, None, scale, what, where)
        return
    check_cell(checks, cell, estimate["value"], scale, what, where)
    here = f"{where}: {cell}, {estimate}"
    value, low, high = (estimate[name] for name in ("value", "low", "high"))
    checks.that(cell.endswith("?)") == (high is None), "table: mark of a missing bound", here)
    far = any(bound is not None and abs(bound - value) > ROUGH * value for bound in (low, high))
    rough = high is None or far
    checks.that((" (" in cell) == rough, "table: interval of a rough percentile", here)


def check_percent(checks: Checks, cell: str, share: float, what: str, where: str) -> None:
    """A share in percent."""
    check_cell(checks, cell, share, 0.01, what, where)


def check_interval(checks: Checks, cell: str, estimate, scale, what, where) -> None:
    """Half of an interval; both bounds where its value is not in the middle."""
    value, low, high = ((estimate or {}).get(name) for name in ("value", "low", "high"))
    if low is None or high is None:
        check_cell(checks, cell, None, scale, what, where)
        return
    off = abs(low + high - 2 * value) / max(high - low, 1e-300)
    if abs(off - OFF_CENTRE) > 1e-9:
        here = f"{where}: {cell}, {estimate}"
        checks.that((" .. " in cell) == (off > OFF_CENTRE), "half of a symmetric interval", here)
    if " .. " in cell:
        for bound, shown in zip((low, high), cell.split(" .. "), strict=True):
            check_cell(checks, shown, bound, scale, what, where)
    else:
        check_cell(checks, cell, (high - low) / 2, scale, what, where)


def unit(title: str, units: dict, after: str = "in ") -> float:
    """The unit that a title names."""
    for name, scale in units.items():
        if re.search(rf"{re.escape(after)}{re.escape(name)}\b", title):
            return scale
    raise KeyError(f"no unit in `{title}`")


def _pick(distribution, key):
    return None if distribution is None else distribution[key]


def _value(distribution, key):
    estimate = _pick(distribution, key)
    return estimate["value"] if isinstance(estimate, dict) else estimate


def _row(checks, table, row, cells, where) -> None:
    """Check (head, which of that name, how, value) of one row."""
    for head, which, how, value, scale in cells:
        cell = table.column(head, which)[row]
        how(checks, cell, value, scale, f"{head}", f"{where}, {table.title}, row {row + 1}")


def check_exchange(checks: Checks, run: dict, text: str, where: str) -> None:
    """The tables of an exchange run, printed with --full."""
    points = sorted(run["points"], key=lambda point: point["point"]["index"])
    plain, quantile = check_cell, check_percentile
    for table in tables(text):
        if len(table.rows) != len(points):
            continue
        for at, point in enumerate(points):
            rtt, trt, late = point["rtt"], point["trt"], point["from_intended"]
            cells = []
            if table.title.startswith("RTT in"):
                scale = unit(table.title, TIME)
                mean = _pick(rtt, "mean")
                cells = [
                    ("n", 0, plain, point["counts"]["answered"], 1),
                    ("min", 0, plain, _pick(rtt, "min"), scale),
                    ("mean", 0, plain, _value(rtt, "mean"), scale),
                    ("95 % CI", 0, check_interval, mean, scale),
                    ("SD", 0, plain, _pick(rtt, "sd"), scale),
                    ("mean+SD", 0, plain, _pick(rtt, "mean_plus_sd"), scale),
                    ("max3", 0, plain, _pick(rtt, "max3"), scale),
                    ("max", 0, plain, _pick(rtt, "max"), scale),
                    ("first", 0, plain, point["first_rtt_ns"], scale),
                ]
                cells += [
                    (head, 0, quantile, _pick(rtt, key), scale)
                    for head, key in (("p50", "p50"), ("p90", "p90"), ("p99", "p99"))
                ]
                cells.append(("p99.9", 0, quantile, _pick(rtt, "p999"), scale))
            elif table.title.startswith("TRT in"):
                scale = unit(table.title, TIME)
                rate = point["throughput"]
                cells = [
                    ("achieved depth", 0, plain, point["achieved_depth"], 1),
                    ("TRT mean", 0, plain, _value(trt, "mean"), scale),
                    ("SD", 0, plain, _pick(trt, "sd"), scale),
                    ("p99", 0, quantile, _pick(trt, "p99"), scale),
                    ("exchanges/s", 0, plain, rate["exchanges_s"], 1),
                    ("OUT kB/s", 0, plain, rate["out_bytes_s"], 1e3),
                    ("IN kB/s", 0, plain, rate["in_bytes_s"], 1e3),
                ]
                if "% of limit" in table.heads:
                    cell = table.column("% of limit")[at]
                    check_percent(checks, cell, point["limit"]["used"], "% of limit", where)
            elif table.title.startswith("Time from the intended start"):
                scale = unit(table.title, TIME)
                cells = [
                    ("mean", 0, plain, _value(late, "mean"), scale),
                    ("p50", 0, quantile, _pick(late, "p50"), scale),
                    ("p90", 0, quantile, _pick(late, "p90"), scale),
                    ("p99", 0, quantile, _pick(late, "p99"), scale),
                    ("p99.9", 0, quantile, _pick(late, "p999"), scale),
                    ("max3", 0, plain, _pick(late, "max3"), scale),
                    ("max", 0, plain, _pick(late, "max"), scale),
                ]
            elif table.title.startswith("Percentage of exchanges below"):
                heads = [head for head in table.heads if head.startswith("<")]
                for index, share in enumerate(point["below"]):
                    # Limits that differ in digits that are not shown have the same head.
                    head = heads[index]
                    cell = table.column(head, heads[:index].count(head))[at]
                    check_percent(checks, cell, share["share"], "share below", where)
            elif table.title.startswith("Parts of an exchange"):
                scale = unit(table.title, TIME)
                for index, name in enumerate(("connect", "access", "transfer")):
                    part = point[name]
                    cells += [
                        (f"{name} p50", 0, quantile, _pick(part, "p50"), scale),
                        ("p99", index, quantile, _pick(part, "p99"), scale),
                        ("mean", index, plain, _value(part, "mean"), scale),
                    ]
            elif table.title.startswith("Device time"):
                scale = unit(table.title, TIME)
                device = point["device"]
                cells = [
                    ("mean", 0, plain, _value(device, "mean"), scale),
                    ("SD", 0, plain, _pick(device, "sd"), scale),
                    ("p50", 0, quantile, _pick(device, "p50"), scale),
                    ("p99", 0, quantile, _pick(device, "p99"), scale),
                    ("max", 0, plain, _pick(device, "max"), scale),
                ]
            _row(checks, table, at, cells, where)
    _failed(checks, run, text, where)


def _failed(checks: Checks, run: dict, text: str, where: str) -> None:
    """The table of failed exchanges, in the order of the points that have some."""
    heads = ("exchanges", "answered", "late", "duplicated", "reordered", "corrupted", "unexpected")
    failed = [table for table in tables(text) if table.title.startswith("Failed exchanges")]
    points = sorted(run["points"], key=lambda point: point["point"]["index"])

    def clean(count):
        rest = ("duplicated", "reordered", "stray_bytes")
        return count["answered"] == count["exchanges"] and not any(count[name] for name in rest)

    unclean = [point["counts"] for point in points if not clean(point["counts"])]
    rows = failed[0].rows if failed else []
    same = len(rows) == len(unclean)
    checks.that(
        same, "table: failed exchanges", f"{where}: {len(rows)} rows, {len(unclean)} points"
    )
    for at, count in enumerate(unclean if same else []):
        for head in heads:
            cell = failed[0].column(head)[at]
            check_cell(checks, cell, count.get(head, 0), 1, f"failed: {head}", where)
        missing = {"lost": count["exchanges"] - count["answered"], "unanswered": count["lost"]}
        for head, value in missing.items():
            check_cell(checks, failed[0].column(head)[at], value, 1, f"failed: {head}", where)


def check_stream(checks: Checks, run: dict, text: str, where: str) -> None:
    """The tables of a stream run, printed with --full."""
    points = sorted(run["points"], key=lambda point: point["point"]["index"])
    rows = [(point, flow) for point in points for flow in point["flows"]]
    plain, quantile = check_cell, check_percentile
    for table in tables(text):
        if len(table.rows) != len(rows):
            continue
        for at, (point, flow) in enumerate(rows):
            cells = []
            if table.title.startswith("Rates"):
                name = next(unit for unit in RATE if unit in table.heads)
                scale = RATE[name]
                cells = [
                    (name, 0, plain, _pick(flow["rate"], "value"), scale),
                    ("95 % CI", 0, check_interval, flow["rate"], scale),
                    ("transfers", 0, plain, flow["transfers"], 1),
                    ("achieved queue", 0, plain, flow["achieved_queue"], 1),
                ]
                if "% of limit" in table.heads and flow["limit"]:
                    cell = table.column("% of limit")[at]
                    share = _share_of_limit(point, flow)
                    if share is None:
                        checks.that(cell == "-", "table: % of limit", f"{where}: {cell}")
                    else:
                        check_percent(checks, cell, share, "% of limit", where)
            elif table.title.startswith("Times in"):
                scale = unit(table.title, TIME)
                for index, name in enumerate(("gap", "host_gap", "transfer_time")):
                    part = flow[name]
                    head = ("gap p50", "host gap p50", "transfer p50")[index]
                    cells += [
                        (head, 0, quantile, _pick(part, "p50"), scale),
                        ("p99", index, quantile, _pick(part, "p99"), scale),
                    ]
                    if index < 2:
                        cells.append(("max", index, plain, _pick(part, "max"), scale))
            _row(checks, table, at, cells, where)
    _buffers(checks, rows, text, where)


def _share_of_limit(point: dict, flow: dict) -> float | None:
    """The share of the limit by the host's count, or by the device's where that is above it."""
    limit = flow["limit"]
    if limit["used"] < 1.00005:
        return limit["used"]
    passed = 0.0
    for one in point["flows"] if limit["shared"] else [flow]:
        count = one["device"]
        if not count or not count["elapsed_ns"] or 1 <= count["transfers"] < 20:
            return None
        passed += count["bytes"] * 1e9 / count["elapsed_ns"]
    share = passed / limit["bytes_s"]
    return share if share < 1.00005 else None


def _buffers(checks: Checks, rows, text: str, where: str) -> None:
    """The table of buffers."""
    flows = [(flow, need) for _, flow in rows for need in flow["buffers"]]
    needs = [need for _, need in flows]
    found = [table for table in tables(text) if table.title.startswith("Buffer that the device")]
    if not needs:
        return
    same = bool(found) and len(found[0].rows) == len(needs)
    checks.that(same, "table: buffers", f"{where}: {len(needs)} expected")
    heads = found[0].heads if same else []
    for_loss = next((head for head in heads if head.startswith("buffer for loss ")), "")
    checks.that(not same or bool(for_loss), "table: buffers", f"{where}: {heads}")
    for at, need in enumerate(needs if for_loss else []):
        cell = found[0].column("largest backlog")[at]
        if need["sustained"]:
            check_cell(checks, cell, need["worst_bytes"], 1, "worst backlog", where)
        else:
            checks.that(cell == "not carried", "table: worst backlog", f"{where}: {cell}")
        mark = found[0].column(for_loss)[at].startswith("~")
        counts = flows[at][0]["counts"]
        counted = counts["sent"] if counts["sent"] is not None else counts["received"]
        lost_more = (counts["lost"] or 0) > need["loss"] * max(1, counted or 0)
        marked = need["sustained"] and need["extrapolated"] and not lost_more
        checks.that(mark == marked, "table: mark of an extrapolation", f"{where}: {need}")


def _tested(checks: Checks, run: dict, text: str, where: str) -> None:
    """The table of tested preloads."""
    points = [point for point in run["points"] if point["point"]["aim"] == "hold"]
    found = [table for table in tables(text) if table.title.startswith("Tested preloads")]
    checks.equal(len(found[0].rows) if found else 0, len(points), "table: tested preloads", where)
    for at, point in enumerate(points if found else []):
        bytes_s = point["point"]["rate_hz"] * point["point"]["channels"] * 2
        cells = {
            "preload B": (point["point"]["preload_bytes"], 1),
            "latency ms": (point["point"]["preload_bytes"] / bytes_s * 1e9, 1e6),
            "overruns": (point["overruns"], 1),
            "underruns": (point["underruns"], 1),
            "lowest ms": (point["needed_ns"], 1e6),
        }
        for head, (value, scale) in cells.items():
            check_cell(checks, found[0].column(head)[at], value, scale, head, where)
        cell = found[0].column("stalls/min (95 %)")[at]
        stalls, minutes = point["overruns"] + point["underruns"], point["elapsed_ns"] / 60e9
        counted = cell.partition(" (")[0] if stalls else ""
        checks.equal(not cell.startswith("<"), stalls > 0, "table: stalls a minute", where)
        if counted:
            check_cell(checks, counted, stalls / minutes, 1, "stalls a minute", where)


def check_loop(checks: Checks, run: dict, text: str, where: str) -> None:
    """The tables of a loop run, printed with --full."""
    _tested(checks, run, text, where)
    points = [point for point in run["points"] if point["point"]["aim"] == "curve"]
    plain = check_cell
    for table in tables(text):
        if len(table.rows) != len(points):
            continue
        for at, point in enumerate(points):
            wake, work, service = point["wake"], point["work"], point["service"]
            host = point["host_delay"]
            cells = []
            if table.title.startswith("Lowest latency without a stall"):
                last = point["curve"][-1]["per_minute_high"]
                ratio = point["needed_ns"] / point["floor_ns"]
                cells = [
                    ("latency ms", 0, plain, point["needed_ns"], 1e6),
                    ("floor ms", 0, plain, point["floor_ns"], 1e6),
                    ("buffer B", 0, plain, point["needed_bytes"], 1),
                    ("stalls/min (95 %)", 0, plain, last, 1),
                    ("latency/floor", 0, plain, ratio, 1),
                ]
                check_percent(checks, table.column("duty")[at], point["duty"], "duty", where)
            elif table.title.startswith("Wake-up ("):
                cells = [
                    ("blocks", 0, plain, point["blocks"], 1),
                    ("wake p50", 0, plain, _value(wake, "p50"), 1e3),
                    ("p99", 0, plain, _value(wake, "p99"), 1e3),
                    ("max", 0, plain, _value(wake, "max"), 1e3),
                    ("work p50", 0, plain, _value(work, "p50"), 1e3),
                    ("p99", 1, plain, _value(work, "p99"), 1e3),
                    ("p99.9", 0, plain, _value(work, "p999"), 1e3),
                    ("max", 1, plain, _value(work, "max"), 1e3),
                    ("service p99", 0, plain, _value(service, "p99"), 1e3),
                    ("p99.9", 1, plain, _value(service, "p999"), 1e3),
                    ("max", 2, plain, _value(service, "max"), 1e3),
                ]
            elif table.title.startswith("Host delay"):
                cells = [
                    ("p50", 0, plain, _value(host, "p50"), 1e3),
                    ("p99", 0, plain, _value(host, "p99"), 1e3),
                    ("p99.9", 0, plain, _value(host, "p999"), 1e3),
                    ("max", 0, plain, _value(host, "max"), 1e3),
                ]
            _row(checks, table, at, cells, where)


#: The beginnings of titles that each kind of run must have.
TITLES = {
    "exchange": ("RTT in", "TRT in"),
    "stream": ("Rates", "Times in"),
    "loop": ("Throughput of|Lowest latency|Tested preloads",),
}
CHECKS = {"exchange": check_exchange, "stream": check_stream, "loop": check_loop}


def check_run(checks: Checks, run: dict, path) -> int:
    """Compare the printed tables of a stored run; gives the number of tables recognised."""
    text = wiregauge("show", path, "--full")
    before = sum(checks.counts.values())
    CHECKS[run["kind"]](checks, run, text, str(path))
    for title in TITLES[run["kind"]]:
        there = any(re.match(title, table.title) for table in tables(text))
        checks.that(there, "the expected tables are printed", f"{path}: {title}")
    found = sum(checks.counts.values()) - before
    checks.that(found > 0, "a printed table was compared", str(path))
    return found
