"""Measuring one class in one mode with `wiregauge exchange`, and what its samples amount to.

Times are integer nanoseconds; percentiles are nearest-rank, as everywhere in wiregauge (docs/statistics.md).
"""

from __future__ import annotations

import csv
import json
import math
import statistics
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verdict import Rule, Seen, judge

# Shares at which the figures of tails are drawn, as far as the samples reach.
NINES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9998, 0.9999)
# A measurement that is not done by then hangs; a loop adds its own length.
LONGEST_S = 180
# A lost datagram costs a loop the periods until it is given up: as many as the rule accepts in a row.
UDP_TIMEOUT_PERIODS = 3


class Failed(Exception):  # noqa: N818
    """wiregauge could not measure."""


@dataclass(frozen=True)
class Plan:
    """How much is measured of every class and mode, in one round."""

    sizes: tuple[int, ...]
    count: int
    interval_ms: float
    loop_size: int
    loop_count: int
    period_ms: float
    device_sizes: tuple[int, ...]
    device_count: int
    # At the loop's size, of which the rule judges.
    device_count_judged: int


@dataclass(frozen=True)
class Row:
    """One exchange, as wiregauge's CSV tells it."""

    size: int
    first: bool
    # Not before the warm-up has ended.
    measured: bool
    answered: bool
    rtt: int
    connect: int
    access: int
    # From when the schedule wanted it to start, connection included.
    from_intended: int
    # When the request had arrived and when the response was given away, on the device's clock.
    device_ticks: tuple[int, int]

    @property
    def whole(self) -> int:
        """What the client waits for: a connection, if it is made anew, and the exchange."""
        return self.connect + self.rtt


@dataclass
class Cell:
    """One class in one mode: everything that was seen of it, over the rounds."""

    # By size, then by round: ratios are of the same round only.
    sizes: dict[int, dict[int, list[Row]]] = field(default_factory=dict)
    firsts: list[dict[str, int | None]] = field(default_factory=list)
    loop: list[list[Row]] = field(default_factory=list)
    loop_effective_n: float = 0.0
    wrong: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class DeviceTimes:
    """The device's own time of each exchange of one round, in order, by the device's clock."""

    times: list[int]
    # How many independent exchanges they are worth.
    effective_n: float


@dataclass
class DeviceCell:
    """The device's own time of one class in one mode, by size, for each round."""

    sizes: dict[int, list[DeviceTimes]] = field(default_factory=dict)


class Desk:
    """The program that measures, and where its runs are kept."""

    def __init__(self, wiregauge: str, folder: Path, keep: bool) -> None:
        self.wiregauge, self.folder, self.keep = wiregauge, folder, keep

    def exchange(self, name: str, address: str, *flags: object, extra_s: float = 0) -> dict[str, Any]:
        """Run `wiregauge exchange`; returns what it printed as JSON, and its rows under `rows`."""
        table = self.folder / f"{name}.csv"
        store = ["--store", self.folder / "runs" / name] if self.keep else ["--no-store"]
        words = [self.wiregauge, "exchange", address, *flags, "--no-calibration", *store]
        words += ["--csv", table, "--force", "--json", "--quiet"]
        command = [str(word) for word in words]
        try:
            said = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=LONGEST_S + extra_s
            )
            if said.returncode != 0:
                # One line, and nothing of where this ran.
                why = " ".join(said.stderr.split())[-300:].replace(str(self.folder), "OUT")
                raise Failed(f"{name}: exit {said.returncode}: {why}")
            run: dict[str, Any] = json.loads(said.stdout)
            run["rows"] = list(_rows(table))
        except subprocess.TimeoutExpired:
            raise Failed(f"{name}: not done after {LONGEST_S + extra_s:.0f} s") from None
        finally:
            table.unlink(missing_ok=True)
        return run


def _rows(table: Path) -> Iterable[Row]:
    """Read wiregauge's CSV, without the further rows of late and repeated answers."""

    def ns(text: str) -> int:
        # Microseconds with three decimals: no nanosecond is lost. Empty where it was not measured.
        return round(float(text or 0) * 1000)

    with table.open() as file:
        for line in csv.DictReader(file):
            if line["status"] in ("late", "duplicated"):
                continue
            rtt, connect = ns(line["delta_time_us"]), ns(line["connect_us"])
            yield Row(
                size=int(line["bytes_sent"]),
                first=line["phase"] == "first",
                measured=line["phase"] == "measured",
                answered=line["status"] in ("ok", "reordered"),
                rtt=rtt,
                connect=connect,
                access=ns(line["access_us"]),
                from_intended=ns(line["start_us"]) + rtt - ns(line["intended_us"]),
                device_ticks=(int(line["device_rx_ticks"]), int(line["device_tx_ticks"])),
            )


# ---- one round of one cell -------------------------------------------------------------------


def sweep(desk: Desk, cell: Cell, name: str, mode: str, address: str, plan: Plan, turn: int) -> None:
    """Measure every size, as Kakanakov did: so many exchanges a size, an interval between them."""
    flags = ["--protocol", "echo", "--out", ",".join(map(str, plan.sizes)), "--count", plan.count]
    flags += ["--interval", f"{plan.interval_ms:.3f}ms", *_connect(mode)]
    run = desk.exchange(name, address, *flags)
    _count_wrong(cell, run)
    by_size: dict[int, list[Row]] = {size: [] for size in plan.sizes}
    for row in run["rows"]:
        if not row.first:
            by_size[row.size].append(row)
    for size, rows in by_size.items():
        cell.sizes.setdefault(size, {})[turn] = rows
    first = next((row for row in run["rows"] if row.first), None)
    opened = run["points"][0]["open_ns"]
    if first and mode == "each":
        opened = first.connect
    cell.firsts.append({"open_ns": opened, "rtt_ns": first.rtt if first and first.answered else None})


def loop(desk: Desk, cell: Cell, name: str, mode: str, address: str, plan: Plan) -> None:
    """Measure one size as a control loop would: one exchange every period.

    By time, not by count: what cannot keep the schedule is let go after twice the time.
    """
    long_ms = plan.loop_count * plan.period_ms
    flags = ["--protocol", "echo", "--out", plan.loop_size, "--duration", f"{long_ms:.3f}ms"]
    flags += ["--interval", f"{plan.period_ms:.3f}ms", *_connect(mode)]
    if mode == "udp":
        flags += ["--timeout", f"{plan.period_ms * UDP_TIMEOUT_PERIODS:.3f}ms", "--give-up", 1000]
    run = desk.exchange(name, address, *flags, extra_s=2 * long_ms / 1e3)
    _count_wrong(cell, run)
    cell.loop.append([row for row in run["rows"] if not row.first])
    timed = run["points"][0]["from_intended"]
    cell.loop_effective_n += independent(timed) if timed else 0


def device(desk: Desk, cell: DeviceCell, name: str, address: str, plan: Plan) -> None:
    """Ask the device how long it needed itself, request and response of the same size."""
    for size in plan.device_sizes:
        count = plan.device_count_judged if size == plan.loop_size else plan.device_count
        flags = ["--out", size, "--in", size, "--count", count, "--warmup", 10]
        run = desk.exchange(f"{name}-{size}", address, *flags)
        clock = run["conditions"]["responder"]
        if not clock["tick_hz"]:
            raise Failed(f"{name}: the device has no clock")
        # Of all samples: a simulated processor's clock may be ahead of this computer's, so that wiregauge takes the
        # device's time for impossible where it exceeds the RTT.
        rows = [row for row in run["rows"] if row.measured and row.answered]
        times = [_device_ns(row, clock["tick_hz"], clock["tick_bits"]) for row in rows]
        if not any(times):
            raise Failed(f"{name}: the device's clock stands still")
        point = run["points"][0]
        worth = independent(point["device"] or point["rtt"])
        cell.sizes.setdefault(size, []).append(DeviceTimes(times, worth))


def _device_ns(row: Row, tick_hz: int, tick_bits: int) -> int:
    """Return the device's time of an exchange; its counter goes round."""
    received, sent = row.device_ticks
    return round((sent - received) % (1 << tick_bits) * 1e9 / tick_hz)


def _connect(mode: str) -> list[str]:
    return ["--connect", "each"] if mode == "each" else []


def _count_wrong(cell: Cell, run: dict[str, Any]) -> None:
    for point in run["points"]:
        counts = point["counts"]
        for what in ("exchanges", "answered", "lost", "late", "duplicated", "corrupted", "stray_bytes"):
            cell.wrong[what] = cell.wrong.get(what, 0) + counts[what]


# ---- what it amounts to ----------------------------------------------------------------------


def rank(ordered: Sequence[int], share: float) -> int | None:
    """Return the nearest-rank percentile of sorted times."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def percentiles_of(times: Iterable[int]) -> dict[str, Any]:
    """Return the percentiles of times; those beyond what so many can show are left out."""
    ordered = sorted(times)
    n = len(ordered)
    figures: dict[str, Any] = {"n": n}
    if n:
        figures.update(
            {
                f"p{share * 100:g}": rank(ordered, share)
                for share in (0.25, 0.5, 0.75, 0.99)
                if n * (1 - share) >= 1
            }
        )
        figures["min"], figures["max"] = ordered[0], ordered[-1]
    return figures


def nines(times: Iterable[int]) -> list[tuple[float, int]]:
    """Return the curve of a figure of tails: the longest stands at the share that so many can show."""
    ordered = sorted(times)
    n = len(ordered)
    curve = [(share, rank(ordered, share) or 0) for share in NINES if n * (1 - share) > 1]
    return [*curve, (1 - 1 / n, ordered[-1])] if n > 1 else []


def line_through(points: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Return the fixed part and the slope of the line through points (Theil; Sen, JASA 63:1379, 1968).

    The median of the slopes between all pairs, then the median of what is left: single points that are off do
    not bend it.
    """
    slopes = [
        (b[1] - a[1]) / (b[0] - a[0]) for at, a in enumerate(points) for b in points[at + 1 :] if a[0] != b[0]
    ]
    if not slopes:
        return None
    slope = statistics.median(slopes)
    return statistics.median(time - slope * size for size, time in points), slope


def independent(distribution: dict[str, Any]) -> float:
    """Return how many independent exchanges the tail is worth, as far as wiregauge's figures show it.

    Misses are of the tail, so it is the number at p99; in runs made before that was kept, the number for
    the mean. A percentile has an upper bound only if p^m is at most 2.5 % for the m independent samples at
    it, and has one from a few more on (docs/statistics.md): the number is held to that.
    """
    worth: float = distribution.get("p99_effective_n") or distribution["effective_n"]
    least, most = 0.0, float(distribution["n"])
    for name, bound_from, bound_always in (("p90", 36, 48), ("p99", 368, 483), ("p999", 3688, 4837)):
        if distribution[name]["high"] is None:
            most = min(most, bound_always - 1)
            break
        least = bound_from
    return min(max(worth, least), most)


def longest_run(missed: Iterable[bool]) -> int:
    """Return how many are true in a row at most."""
    longest = now = 0
    for one in missed:
        now = now + 1 if one else 0
        longest = max(longest, now)
    return longest


def bouts(missed: Sequence[bool]) -> int:
    """Return how many times misses began."""
    return sum(now and not before for before, now in zip([False, *missed], missed, strict=False))


def loop_seen(cell: Cell, rule: Rule) -> Seen:
    """Count what the loop saw; rounds are runs of their own, no row of misses goes across them."""
    rounds = [
        [not row.answered or row.from_intended > rule.deadline_ns for row in rows] for rows in cell.loop
    ]
    rows = [row for rows in cell.loop for row in rows]
    times = sorted(row.from_intended for row in rows if row.answered)
    return Seen(
        n=len(rows),
        effective_n=cell.loop_effective_n,
        misses=sum(map(sum, rounds)),
        unanswered=sum(not row.answered for row in rows),
        longest_run_of_misses=max(map(longest_run, rounds), default=0),
        bouts=sum(map(bouts, rounds)),
        median_ns=rank(times, 0.5) or 0,
        longest_ns=times[-1] if times else 0,
    )


def summary(cell: Cell, mode: str, rule: Rule) -> dict[str, Any]:
    """Return what results.json keeps of a cell."""
    found: dict[str, Any] = {"counts": cell.wrong, "first": cell.firsts, "sizes": {}}
    for size, rounds in sorted(cell.sizes.items()):
        rows = [row for rows in rounds.values() for row in rows if row.answered]
        figures: dict[str, Any] = {"whole": percentiles_of(row.whole for row in rows)}
        figures["p50_of_round"] = {
            turn: _median(row.whole for row in rows if row.answered) for turn, rows in rounds.items()
        }
        if mode == "each":
            figures["connect"] = percentiles_of(row.connect for row in rows)
            figures["access"] = percentiles_of(row.access for row in rows)
            figures["transfer"] = percentiles_of(row.rtt - row.access for row in rows)
        found["sizes"][size] = figures
    turns = sorted({turn for rounds in cell.sizes.values() for turn in rounds})
    fits = [fit for turn in turns if (fit := _fit_of_round(cell, turn))]
    if fits:
        found["fit"] = {
            what: {
                "value": statistics.median(fit[at] for fit in fits),
                "min": min(fit[at] for fit in fits),
                "max": max(fit[at] for fit in fits),
            }
            for at, what in enumerate(("fixed_ns", "ns_per_byte"))
        }
    if cell.loop:
        seen = loop_seen(cell, rule)
        times = [row.from_intended for rows in cell.loop for row in rows if row.answered]
        found["loop"] = {
            **vars(seen),
            "p99_ns": rank(sorted(times), 0.99),
            "p99.9_ns": rank(sorted(times), 0.999),
            "nines": nines(times),
            "verdict": vars(judge(seen, rule)),
        }
    return found


def _fit_of_round(cell: Cell, turn: int) -> tuple[float, float] | None:
    """Return the line of RTT against size, through the medians of one round."""
    points = []
    for size, rounds in cell.sizes.items():
        middle = _median(row.rtt for row in rounds.get(turn, []) if row.answered)
        if middle is not None:
            points.append((float(size), float(middle)))
    return line_through(points)


def _median(times: Iterable[int]) -> int | None:
    return rank(sorted(times), 0.5)


def device_summary(cell: DeviceCell, at_size: int, rule: Rule) -> dict[str, Any]:
    """Return what results.json keeps of the device's own time, and what the rule says of it at one size."""
    found: dict[str, Any] = {"sizes": {}}
    for size, rounds in sorted(cell.sizes.items()):
        medians = [_median(one.times) or 0 for one in rounds]
        found["sizes"][size] = {
            "n": sum(len(one.times) for one in rounds),
            "p50": statistics.median(medians),
            "p50_min": min(medians),
            "p50_max": max(medians),
            "p99": max(rank(sorted(one.times), 0.99) or 0 for one in rounds),
            "max": max(max(one.times) for one in rounds),
        }
    rounds = cell.sizes.get(at_size, [])
    if rounds:
        missed = [[time > rule.deadline_ns for time in one.times] for one in rounds]
        figures = found["sizes"][at_size]
        seen = Seen(
            n=figures["n"],
            effective_n=sum(one.effective_n for one in rounds),
            misses=sum(map(sum, missed)),
            unanswered=0,
            longest_run_of_misses=max(map(longest_run, missed)),
            bouts=sum(map(bouts, missed)),
            median_ns=figures["p50"],
            longest_ns=figures["max"],
        )
        found["at_size"] = at_size
        found["seen"] = vars(seen)
        found["verdict"] = vars(judge(seen, rule))
    return found
