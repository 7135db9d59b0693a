"""Exchange runs whose true configuration is known, and a predicate for each code that they can have."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import generate
import places
from case import (
    COMMON,
    COMMON_NUMBERS,
    OPEN,
    Case,
    conditions,
    disturbances,
    disturbed,
    ended,
    host_plan,
    percent,
    remarks,
    state_of,
    store,
)
from common import STATUSES, parse, percentile, wiregauge, write_exchange_run
from exchange_figures import (
    answers,
    by_request,
    counts,
    device_ns,
    measured,
    period_ns,
    start_delays,
)
from say_explain import delayed

LOST, LATE, REORDERED, CORRUPTED, UNEXPECTED = (
    STATUSES.index(name) for name in ("lost", "late", "reordered", "corrupted", "unexpected")
)
TIMEOUT_NS = 2_000_000_000
#: Protocols, and how often each is drawn.
PROTOCOLS = ("echo", "wiregauge", "lines", "text", "scpi")
QUERIES = {"list": [{"name": "READ?", "bytes": "READ?\\n"}], "reply": {"until": "\\n"}}
#: Of depths; a point of fewer exchanges for each place is not judged (docs/exchange.md).
NEAR_FULL, ENOUGH = 0.8, 10
#: Shorter silences are the link's: polls, latency timers.
SILENCE_NS = 20e6
#: Answers within this part of the median, or within this time, are constant.
CONSTANT, CONSTANT_NS = 0.02, 2e6
#: Answers below which nothing is a pattern, and whose stray bytes are a whole number for each by chance.
FEWEST, FEWEST_COUNTED = 8, 40
#: Independent samples without which p99 has no upper bound, even at the best.
FEWEST_P99 = 368
#: A median of at most so many floors is mostly the floor.
NEAR_FLOOR = 1.5
#: The clock of the device may be faster by this part.
CLOCKS_DIFFER = 0.05
#: Long responses below which no tail is extrapolated.
FEWEST_LONG = 50


def distribution(ns: float) -> dict:
    """A distribution in the form of run.json, of one value."""
    estimate = {"value": ns, "low": None, "high": None}
    names = ("min", "sd", "mean_plus_sd", "iqr", "p99_minus_p50", "max3", "max", "resolution")
    return {
        "n": 1000,
        **dict.fromkeys(names, ns),
        **dict.fromkeys(("mean", "p50", "p90", "p99", "p999"), estimate),
        "effective_n": 1000.0,
        "p99_effective_n": 1000.0,
    }


def one_point(rng, case: dict, depth: int) -> dict:
    """The samples of a point, and the truth about it."""
    n = int(rng.choice(generate.LENGTHS))
    shape = generate.SHAPES[rng.integers(len(generate.SHAPES))]
    # What this device does, if it does anything beside its echo at this size.
    device = case["device"] if rng.random() < 0.8 else "plain"
    rtt = np.clip(shape(rng, n), 1, TIMEOUT_NS - 1)
    silence = float(rng.choice([5e6, 30e6, 100e6, 1e9]))
    if device in ("terminator", "far"):
        rtt = silence + np.abs(rng.normal(0, 2e5, n))
    elif device == "slow":
        rtt = np.clip(silence * rng.lognormal(0, 0.5, n), 1, TIMEOUT_NS - 1)
    rtt = rtt.astype(np.int64)
    status = generate.losses(rng, n) if rng.random() < 0.4 else np.zeros(n, dtype=np.int64)
    stray = int(rng.choice([0, 0, 0, 1, 9, 40, rng.integers(3 * n)]))
    size = case["size"]
    surplus = None
    if device == "println":
        added = int(rng.integers(1, 5))
        how = rng.choice(["recognised", "counted", "displaced"])
        if how == "displaced":
            status[:] = CORRUPTED
            status[0] = 0
            stray = int(0.6 * size * n)
        else:
            right = int(np.isin(status, (0, REORDERED)).sum())
            surplus = {"bytes": [13, 10], "times": right, "missing": 0}
            surplus = surplus if how == "recognised" and right else None
            stray = 0 if how == "recognised" else added * right
        device = f"println {how}"
    elif device == "damage":
        status[rng.random(n) < rng.choice([0.05, 0.95])] = CORRUPTED
        stray = int(0.02 * size * n)
    elif case["protocol"] in ("text", "scpi") and rng.random() < 0.5:
        status[rng.random(n) < 0.1] = UNEXPECTED
    rtt[status == LOST] = TIMEOUT_NS
    start = generate.outstanding(rtt, depth, int(rng.choice([0, 0, 0.5, 3]) * np.median(rtt)))
    if case["interval"]:
        start = np.arange(n) * case["interval"]
        free = start[:1].repeat(depth)
        for at in range(n):
            start[at] = max(start[at], free[at % depth])
            free[at % depth] = start[at] + rtt[at]
    # Answers after the timeout: of some losses, or of all exchanges with a device that waits for a line end.
    late = np.flatnonzero((status == LOST) & (rng.random(n) < 0.5) * (rng.random() < 0.3))
    if device == "too late":
        rtt[:], status[:] = TIMEOUT_NS, LOST
        start = np.arange(n) * (TIMEOUT_NS + 1_000_000_000)
        late = np.arange(n)
    rtt, start = (np.insert(values, late + 1, values[late]) for values in (rtt, start))
    status = np.insert(status, late + 1, LATE)
    rtt[status == LATE] += 5_000_000
    return {
        "rtt": rtt,
        "status": status,
        "start": start,
        "stray": stray,
        "surplus": surplus,
        "device": device,
        "shape": shape.__name__,
        "silence": silence,
        "ticks": ticks(rng, case, start, rtt),
    }


def ticks(rng, case: dict, start, rtt):
    """The device's clock around its own time; where it reads it at the wrong moment, some times are too long."""
    if not case["tick_hz"]:
        return None
    own = rtt * rng.uniform(0.1, 0.9, len(rtt))
    wrong = rng.random(len(rtt)) < (rng.choice([0.0, 0.0, 0.02, 1.0]))
    own = np.where(wrong, rtt * rng.uniform(1.5, 4, len(rtt)) + 3e9 / case["tick_hz"], own)
    received = start + 12_345_678_901
    per_ns = case["tick_hz"] / 1e9
    wrap = 1 << case["tick_bits"]
    return tuple((at * per_ns).astype(np.int64) % wrap for at in (received, received + own))


def run_level(rng) -> dict:
    """What is the same at all points."""
    protocol = str(rng.choice(PROTOCOLS, p=[0.5, 0.2, 0.08, 0.08, 0.14]))
    devices = ("plain", "terminator", "far", "slow", "println", "damage", "too late")
    device = str(rng.choice(devices, p=[0.2, 0.25, 0.05, 0.08, 0.2, 0.12, 0.1]))
    if protocol != "echo" and device not in ("plain", "damage", "slow"):
        device = "plain"
    addresses = ["tcp://10.0.0.5:7700", "udp://10.0.0.5:7700", "serial:///dev/ttyACM0"]
    addresses += ["usb://1209:0001", "can://can0"]
    address = str(rng.choice(addresses if protocol == "echo" else addresses[:4]))
    if device == "far" and not address.startswith("tcp"):
        device = "plain"
    points = int(rng.choice([1, 1, 1, 2, 3]))
    scheduled = rng.random() < 0.25
    return {
        "protocol": protocol,
        "device": device,
        "address": address,
        "depths": [[1], [1, 2], [1, 4, 16]][points - 1] if rng.random() < 0.7 else [int(rng.choice([1, 8, 64]))],
        "size": 64,
        "interval": int(rng.choice([1e5, 2e5, 1e6, 1e7])) if scheduled else None,
        "tick_hz": int(rng.choice([0, 1_000_000, 1_000_000_000])) if protocol == "wiregauge" else 0,
        "tick_bits": 32 if rng.random() < 0.5 else 62,
    }


def new(seed: int, home: Path) -> Case:
    """The generated exchange run of this seed."""
    rng = np.random.default_rng([seed, 1])
    case = run_level(rng)
    points = [one_point(rng, case, depth) for depth in case["depths"]]
    path = write_exchange_run(
        home / f"exchange-{seed:06}",
        [point["rtt"] for point in points],
        [point["status"] for point in points],
        case["interval"],
        start_ns=[point["start"] for point in points],
        out_bytes=case["size"],
        in_bytes=case["size"],
        depth=case["depths"],
        timeout_ns=TIMEOUT_NS,
        by_end=True,
        ticks=[point["ticks"] for point in points],
        data=case["protocol"] in ("text", "scpi"),
        recompute=False,
    )
    run = json.loads((path / "run.json").read_text())
    run["plan"].update(address=case["address"], protocol=case["protocol"], host=host_plan(rng))
    run["conditions"] = conditions(rng)
    if case["protocol"] in ("text", "scpi"):
        run["plan"]["queries"] = QUERIES
    if case["tick_hz"]:
        run["conditions"]["responder"] = {
            "name": "generated",
            "max_out_bytes": 4096,
            "max_in_bytes": 4096,
            "tick_hz": case["tick_hz"],
            "tick_bits": case["tick_bits"],
            "bus": None,
        }
    run["warnings"] = remarks(rng)
    if rng.random() < 0.6:
        median = float(np.median(points[0]["rtt"]))
        floor = median / float(rng.choice([1.1, 1.3, 1.4, 1.7, 30]))
        floors = [("null", 500.0), ("tcp, an echo on this host", floor)][: int(rng.integers(1, 3))]
        run["conditions"]["before"] = {
            "floors": [{"name": name, "bytes": 64, "rtt": distribution(ns)} for name, ns in floors],
            "wake_up": dict.fromkeys(
                ("delay_p50_ns", "delay_max_ns", "clock_gap_max_ns", "clock_gaps_s"), 0
            ),
        }
    is_cut = rng.random() < 0.15
    for at, (summary, point) in enumerate(zip(run["points"], points, strict=True)):
        summarise(rng, case, summary, point)
        point["cut"] = is_cut and at == len(points) - 1
        summary["ending"] = ended(rng, point["cut"])
    run["state"] = state_of(run["points"][-1]["ending"])
    store(path, run)
    run = parse(wiregauge("export", path, "--recompute", "--json", "-"))
    store(path, run)
    shapes = [f"{point['device']}, {point['shape']}" for point in points]
    return Case(path, run, points, f"exchange, seed {seed}: {case['protocol']}, {shapes}")


def summarise(rng, case: dict, summary: dict, point: dict) -> None:
    """What the samples of a point do not contain."""
    summary["counts"]["stray_bytes"] = point["stray"]
    if point["surplus"]:
        summary["surplus"] = point["surplus"]
    # A connection to a device that is far away takes as long as an echo.
    summary["open_ns"] = int(point["silence"]) if point["device"] == "far" else 100_000
    summary["disturbances"] = disturbances(rng)
    if case["address"].startswith("usb") and rng.random() < 0.4:
        summary["disturbances"].append({"kind": "endpoint-stalled", "times": 3})
    if rng.random() < 0.5:
        right = np.sum(point["status"] == 0)
        end = int(np.max(point["start"] + point["rtt"]))
        carried = max(float(right * 2 * case["size"] * 1e9 / end), 1.0)
        bytes_s = carried / float(rng.choice([0.05, 0.5, 0.98, 1.2, 5]))
        source = "USB 2.0 full speed" if case["address"].startswith("usb") else "115,200 baud"
        summary["limit"] = {"bytes_s": bytes_s, "shared": True, "source": source, "used": 0.0}
    if case["protocol"] == "scpi" and rng.random() < 0.5:
        error = str(rng.choice(['-113,"Undefined header"', '-222,"Data out of range"']))
        summary["instrument_errors"] = [error]
    if case["address"].startswith("can"):
        names = ("error_frames", "lost_frames", "failed_messages", "remote_frames", "timestamps")
        found = {name: int(rng.choice([0, 0, 0, 2])) for name in names}
        summary["can"] = {**found, "unacknowledged": 0, "waited_ns": 0, "longest_wait_ns": 0}


# Predicates: of each point, from its samples


def rows_of(case: Case) -> list[dict]:
    """The measured rows of each point."""
    return [measured(case.samples(at)) for at in range(len(case.truth))]


def by_point(holds):
    """The predicate `holds(case, rows, summary, truth)` of each point."""

    def predicate(case: Case) -> list:
        every = zip(rows_of(case), case.run["points"], case.truth, strict=True)
        return [holds(case, rows, summary, truth) for rows, summary, truth in every]

    return predicate


def lost(_, rows, *__):
    return bool(np.isin(rows["status"], ["lost", "late"]).any())


def damaged(_, rows, __, truth):
    """Wrong bytes that no surplus byte before them explains; few of them do not show which."""
    wrong = int(np.sum(rows["status"] == "corrupted"))
    if truth["device"] == "println displaced":
        return False if wrong >= FEWEST else OPEN
    return wrong > 0


def shallow(case, rows, summary, truth):
    """Places of the queue stood empty although there was more to send."""
    depth, n = summary["point"]["depth"], counts(rows)["exchanges"]
    if period_ns(case.run) is not None or depth == 1 or n == 0:
        return False
    if n < depth:
        return not truth["cut"]
    if n <= ENOUGH * depth:
        return False
    exchanges = by_request(rows)
    late = delayed(exchanges, depth)
    # At the end all places but one may stay empty for as long as an exchange lasts, at most for the timeout.
    ends = exchanges["start_ns"] + exchanges["rtt_ns"]
    is_whole = counts(rows)["answered"] == n
    longest = exchanges["rtt_ns"].max() if is_whole else case.run["plan"]["timeout_ns"]
    drained = (depth - 1) / depth * longest / (ends.max() - exchanges["start_ns"].min())
    if late < 0.95 * (1 - NEAR_FULL):
        return False
    return True if late > 1 - NEAR_FULL + drained else OPEN


def few_samples(case, rows, summary, _):
    """p99 has no upper bound, in particular with few samples, and where the times went from one level to another."""
    values = answers(case.run, rows)["rtt_ns"]
    if len(values) == 0:
        return False
    half = len(values) // 2
    if len(values) < FEWEST_P99 or moved(values[:half], values[half:]):
        return True
    return any(times and times["p99"]["high"] is None for times in (summary["rtt"], summary["from_intended"]))


def moved(first, second) -> bool:
    """Two halves that have no value in common."""
    return bool(first.max() < second.min() or second.max() < first.min())


def behind(case, rows, *_):
    period = period_ns(case.run)
    return period is not None and bool((start_delays(by_request(rows)) > period).any())


def near_floor(case, rows, summary, _):
    """Most of a median is the time of the host, by its echo without a device."""
    before = case.run["conditions"]["before"]
    values = answers(case.run, rows)["rtt_ns"]
    if not before or len(before["floors"]) < 2 or summary["point"]["depth"] > 1 or not len(values):
        return False
    return percentile(values, 0.5) < NEAR_FLOOR * before["floors"][-1]["rtt"]["p50"]["value"]


def impossible_times(case, rows, *_) -> float:
    """The share of the responses that were longer in the device than on the way and back."""
    told, right = case.run["conditions"]["responder"], answers(case.run, rows)
    if not told or not told["tick_hz"] or not len(right["rtt_ns"]):
        return 0.0
    most = right["rtt_ns"] * (1 + CLOCKS_DIFFER) + 1e9 / told["tick_hz"]
    return float(np.mean(device_ns(case.run, 0, right) > most))


def used(case, rows, summary, _) -> float:
    """The share of the limit that the bytes of the responses and their requests used."""
    if not summary["limit"]:
        return 0.0
    right = answers(case.run, rows)
    carried = right["bytes_out"].sum() + right["bytes_in"].sum()
    return float(carried / elapsed_ns(case, rows) * 1e9 / summary["limit"]["bytes_s"])


def elapsed_ns(case: Case, rows: dict) -> int:
    """The measured time; with a schedule the last exchange takes its period."""
    exchanges = by_request(rows)
    takes = np.maximum(exchanges["rtt_ns"], period_ns(case.run) or 0)
    return np.max(exchanges["start_ns"] + takes) - np.min(exchanges["start_ns"])


def achieved(case, rows, *_) -> float:
    """The mean number of requests outstanding."""
    return float(by_request(rows)["rtt_ns"].sum() / elapsed_ns(case, rows))


def above_limit(*point):
    return OPEN if 1 < used(*point) < 1.0001 else used(*point) > 1


def unexpected(_, rows, *__) -> float:
    found = counts(rows)
    return found["unexpected"] / max(1, found["exchanges"])


def silent(case, rows, summary, truth):
    """The device answers after a timeout of its own, and no link or distance is that long."""
    plan = case.run["plan"]
    if plan["protocol"] != "echo" or plan["address"].startswith("udp:"):
        return False
    values = answers(case.run, rows)["rtt_ns"]
    if truth["device"] == "too late":
        return True if len(rows["status"]) >= 2 * FEWEST else OPEN
    if len(values) < FEWEST or np.median(values) < SILENCE_NS:
        return False
    median = percentile(values, 0.5)
    limit = summary["limit"]
    if truth["device"] == "far" or limit and 2 * 64 * 1e9 / limit["bytes_s"] > 0.25 * median:
        return False
    near = np.abs(values - median) <= max(CONSTANT * median, CONSTANT_NS)
    if truth["device"] == "terminator":
        explained = limit and 2 * 64 * 1e9 / limit["bytes_s"] > 0.15 * median
        return OPEN if explained else True
    return False if near.mean() < 0.5 else OPEN


def surplus(case, rows, summary, truth):
    """The device adds bytes to each echo; what a line adds now and then is none of it, unless their number is as if."""
    values = counts(rows)
    if not truth["device"].startswith("println"):
        responses = (values["answered"] + more for more in (0, 1))
        return OPEN if any(of and truth["stray"] % of == 0 for of in responses) and truth["stray"] else False
    if truth["device"] == "println recognised":
        return truth["surplus"] is not None
    if truth["device"] == "println displaced":
        return True if values["corrupted"] >= FEWEST else OPEN
    whole = values["answered"] == values["exchanges"] >= FEWEST_COUNTED
    return True if whole else OPEN


def unasked(case, _, __, truth):
    """Bytes that belong to no response, where a response does not say which request it answers."""
    return case.run["plan"]["protocol"] in ("lines", "text", "scpi") and truth["stray"] > 0


PREDICATES = {
    **COMMON,
    "W01": by_point(lost),
    "W02": by_point(damaged),
    "W04": by_point(shallow),
    "W05": by_point(few_samples),
    "W06": by_point(behind),
    "W12": disturbed("endpoint-stalled"),
    "W13": by_point(near_floor),
    "W16": by_point(lambda *point: impossible_times(*point) > 0),
    "W17": by_point(above_limit),
    "W18": by_point(silent),
    "W19 ^(each|echoes|[\\d,]+ of)": by_point(surplus),
    "W19 ^[\\d,]+ B": by_point(unasked),
    "W32": by_point(lambda *point: unexpected(*point) > 0),
    "W33": by_point(lambda _, __, summary, ___: bool(summary.get("instrument_errors"))),
    "W36": by_point(
        lambda _, __, summary, ___: any(
            summary.get("can", {}).get(name)
            for name in ("error_frames", "lost_frames", "failed_messages")
        )
    ),
}


#: What the texts quote.
QUOTED = {"W33": by_point(lambda _, __, summary, ___: (summary.get("instrument_errors") or [""])[0])}

#: The numbers of the texts.
NUMBERS = {
    **COMMON_NUMBERS,
    "W04": ("achieved", by_point(achieved)),
    "W16": percent(by_point(impossible_times)),
    "W17": percent(by_point(used)),
    "W32": percent(by_point(unexpected)),
}


def named(case: Case, text: str) -> list[int] | None:
    """The positions of the points that a warning names; none where it only counts them."""
    place = places.place_in(text)
    if places.counted(place):
        return None
    points = case.run["points"]
    chosen = places.named(place, points)
    return [at for at, point in enumerate(points) if point in chosen]
