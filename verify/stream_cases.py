"""Stream runs whose true configuration is known, and a predicate for each code that they can have."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import places
from case import (
    COMMON,
    COMMON_NUMBERS,
    OPEN,
    Case,
    conditions,
    disturbances,
    ended,
    host_plan,
    percent,
    remarks,
    state_of,
    store,
    summarised,
    write_samples,
)

#: A queue that is less full than this was kept waiting; a point of few transfers for each place is not judged.
NEAR_FULL, ENOUGH = 0.8, 10
#: The clock of the device may differ by this part.
CLOCKS_DIFFER = 0.05
#: Blocks of time below which a rate has no interval (docs/statistics.md).
FEWEST_BLOCKS = 8
BLOCK_NS = 10_000_000


def flow_of(rng, cell: dict, way: str) -> tuple[dict, dict]:
    """The transfers of one direction, and the truth about it."""
    n = int(rng.choice([3, 150, 800, 2500]))
    gap = float(rng.choice([2e5, 1e6])) * rng.lognormal(0, float(rng.choice([0.05, 0.3])), n)
    if rng.random() < 0.3:
        # A device that becomes slower.
        gap *= np.linspace(1, 3, n)
    queue = cell["queue"]
    # The host holds a place back for so long after each completion.
    held = float(rng.choice([0.0, 0.01, 1.0, 6.0])) * gap.mean()
    submit, complete, pending = (np.zeros(n, dtype=np.int64) for _ in range(3))
    free_ns = 0.0
    for at in range(n):
        submit[at] = complete[at - queue] + held if at >= queue else 0
        free_ns = complete[at] = max(free_ns, submit[at]) + gap[at]
        first = max(0, at - queue)
        pending[at] = 1 + int(np.sum(complete[first:at] > submit[at]))
    status = np.array(["ok"] * n, dtype=object)
    if rng.random() < 0.3:
        status[rng.random(n) < 0.02] = "stalled"
    phase = np.array(["measured"] * n, dtype=object)
    phase[: n // 20] = "warm-up"
    phase[0] = "first"
    columns = {
        "way": np.array([way] * n, dtype=object),
        "sequence": np.arange(n),
        "phase": phase,
        "status": status,
        "submit_ns": submit,
        "complete_ns": complete,
        "urb_submit_ns": np.zeros(n, dtype=np.int64),
        "urb_complete_ns": np.zeros(n, dtype=np.int64),
        "bytes": np.where(status == "ok", cell["transfer_bytes"], 0),
        "pending": pending,
    }
    both = cell["direction"] == "both"
    words = way.upper() + (" (both)" if both else "")
    return columns, {"way": way, "words": words, **{k: cell[k] for k in ("transfer_bytes", "queue")}}


def together(flows: list) -> list:
    """The same without what came after the end of another direction."""
    end = min(columns["complete_ns"][-1] for columns, _ in flows)
    found = []
    for columns, about in flows:
        inside = columns["complete_ns"] <= end
        found.append(({name: column[inside] for name, column in columns.items()}, about))
    return found


def cells(rng) -> list[dict]:
    """The matrix."""
    directions = [["in"], ["out"], ["in"], ["out"], ["in", "out"], ["both"]][rng.integers(6)]
    sizes = [512, 16_384][: int(rng.integers(1, 3))]
    queues = [[1], [8], [1, 8]][rng.integers(3)]
    return [
        {"index": index, "direction": direction, "transfer_bytes": size, "queue": queue, "link": 0, "together": False}
        for index, (direction, size, queue) in enumerate(
            (direction, size, queue) for direction in directions for size in sizes for queue in queues
        )
    ]


def new(seed: int, home: Path) -> Case:
    """The generated stream run of this seed."""
    rng = np.random.default_rng([seed, 2])
    path = home / f"stream-{seed:06}"
    points = cells(rng)
    truth, parts = [], []
    for cell in points:
        ways = ["in", "out"] if cell["direction"] == "both" else [cell["direction"]]
        flows = together([flow_of(rng, cell, way) for way in ways])
        rows = {name: np.concatenate([columns[name] for columns, _ in flows]) for name in flows[0][0]}
        write_samples(path, cell["index"], cell, rows)
        truth += [flow for _, flow in flows]
        parts.append([flow for _, flow in flows])
    raw = rng.random() < 0.3
    address = str(rng.choice(["tcp://10.0.0.5:7700", "udp://10.0.0.5:7700", "usb://1209:0001"]))
    run = {
        "schema": 2,
        "kind": "stream",
        "plan": {
            "address": address,
            "protocol": "raw" if raw else "wiregauge",
            "points": points,
            "duration_ns": 1_000_000_000,
            "settle_ns": 0,
            "check": bool(rng.random() < 0.7),
            "timeout_ns": 1_000_000_000,
            "rates_bytes_s": [],
            "loss": 1e-6,
            "host": host_plan(rng),
            "link": {"baud": None, "quick_ack": False, "usbmon": False},
        },
        "conditions": conditions(rng),
        "warnings": remarks(rng),
    }
    if raw and run["plan"]["check"]:
        run["plan"]["pattern"] = "counter"
    run = summarised(path, run)
    is_cut = rng.random() < 0.2
    for summary, flows in zip(run["points"], parts, strict=True):
        summary["disturbances"] = disturbances(rng)
        is_last = summary is run["points"][-1]
        summary["ending"] = ended(rng, is_cut and is_last)
        for flow, about in zip(summary["flows"], flows, strict=True):
            about["cut"] = is_cut and is_last
            count(rng, run["plan"], summary, flow, about)
        limit(rng, summary)
    run["state"] = state_of(run["points"][-1]["ending"])
    store(path, run)
    return Case(path, run, truth, f"stream, seed {seed}")


def count(rng, plan: dict, summary: dict, flow: dict, about: dict) -> None:
    """What became of the bytes, and what the device says of it."""
    sent = flow["bytes"] + 4096
    lost = int(rng.choice([0, 0, 1, sent // 9]))
    wrong = {name: int(rng.choice([0, 0, 0, 0, 0, 5])) for name in ("duplicated", "corrupted", "stray")}
    about["report"] = str(rng.choice(["full", "silent", "untrue"], p=[0.6, 0.2, 0.2]))
    about.update(lost=0, wrong=0, overruns=0, times=1.0, device_s=None, jumps=0, waited=0)
    if rng.random() < 0.25 and flow["way"] == "in":
        waited = int(rng.choice([0, 5_000_000]))
        about["waited"] = waited
        names = ("bytes", "missing_bytes", "buffer_bytes", "peak_waiting_bytes")
        flow["recording"] = {"file": "x", **dict.fromkeys(names, 1), "waits": waited, "waited_ns": waited}
    if plan["protocol"] == "raw":
        flow["counts"].update(sent=None, lost=None, received=None)
        if plan["check"] and flow["way"] == "in":
            about["jumps"] = int(rng.choice([0, 3, 3]))
            flow["jumps"] = about["jumps"]
        return
    about["wrong"] = sum(wrong.values())
    flow["counts"].update(wrong)
    if about["report"] != "full":
        flow["counts"].update(sent=None, received=None, lost=None)
        flow["counts"]["sent" if flow["way"] == "out" else "received"] = sent
        if about["report"] == "untrue":
            flow["report_error"] = str(rng.choice(["it received more than was sent", "its clock stood still"]))
        return
    about["lost"] = lost
    flow["counts"].update(sent=sent, received=sent - lost + wrong["duplicated"] + wrong["stray"], lost=lost)
    about["overruns"] = int(rng.choice([0, 0, 4]))
    # Buffers on the way took what the device had not yet received, or its clock is another.
    about["times"] = float(rng.choice([1.0, 1.0, 1.02, 1.5]))
    elapsed_ns = 0
    if flow["rate"] and rng.random() < 0.85:
        about["device_s"] = flow["rate"]["value"] / about["times"]
        elapsed_ns = int(flow["bytes"] * 1e9 / about["device_s"]) if about["device_s"] else 0
    flow["device"] = {
        "bytes": flow["bytes"],
        "transfers": flow["transfers"],
        "overruns": about["overruns"],
        "elapsed_ns": elapsed_ns,
    }


def limit(rng, summary: dict) -> None:
    """A limit of the link that both directions share, some way from what was measured."""
    rates = [flow["rate"]["value"] if flow["rate"] else 0.0 for flow in summary["flows"]]
    if rng.random() < 0.3 or sum(rates) == 0:
        return
    bytes_s = sum(rates) / float(rng.choice([0.3, 0.9, 0.98, 1.3, 8.0]))
    source = "USB 2.0 high speed"
    # The clock of a device that counts too much in its time.
    fast = rng.random() < 0.6
    for flow in summary["flows"]:
        used = sum(rates) / bytes_s
        flow["limit"] = {"bytes_s": bytes_s, "shared": True, "source": source, "used": used}
        if fast and flow["device"]:
            flow["device"]["elapsed_ns"] = int(flow["device"]["elapsed_ns"] / 5)


# Predicates: of each flow, from its transfers and what both ends counted


def flows_of(case: Case):
    """Each flow with its rows, its point's summary, its own, and the truth."""
    truth = iter(case.truth)
    for summary in case.run["points"]:
        columns = case.samples(summary["point"]["index"])
        for flow in summary["flows"]:
            of_way = columns["way"] == flow["way"]
            rows = {name: column[of_way] for name, column in columns.items()}
            yield rows, summary, flow, next(truth)


def by_flow(holds):
    """The predicate `holds(case, rows, summary, flow, truth)` of each flow."""
    return lambda case: [holds(case, *one) for one in flows_of(case)]


def of_truth(holds):
    """The predicate of what only the generator knows."""
    return lambda case: [bool(holds(truth)) for truth in case.truth]


def counted(rows: dict):
    """Completions and bytes of the measured part, from the last completion of the start-up on."""
    ok = rows["status"] == "ok"
    wanted = np.flatnonzero(ok & (rows["phase"] == "measured"))
    if len(wanted) == 0:
        return np.zeros(0), np.zeros(0)
    before = np.flatnonzero(ok[: wanted[0]])[-1:]
    at = np.concatenate((before, wanted))
    return rows["complete_ns"][at], rows["bytes"][at]


def rate_of(rows: dict) -> float:
    """Bytes a second, by the host."""
    ends, sizes = counted(rows)
    return float(sizes[1:].sum() * 1e9 / (ends[-1] - ends[0])) if len(ends) > 1 else 0.0


def achieved(rows: dict) -> float:
    """The mean number of transfers pending."""
    ends, _ = counted(rows)
    if len(ends) < 2:
        return 0.0
    inside = np.minimum(rows["complete_ns"], ends[-1]) - np.maximum(rows["submit_ns"], ends[0])
    return float(np.maximum(inside, 0).sum() / (ends[-1] - ends[0]))


def shallow(_, rows, summary, __, ___):
    queue = summary["point"]["queue"]
    done = np.sum((rows["status"] == "ok") & (rows["phase"] == "measured"))
    if queue == 1 or done <= ENOUGH * queue:
        return False
    full = achieved(rows) / queue
    return OPEN if abs(full - NEAR_FULL) < 1e-3 else bool(full < NEAR_FULL)


def short(_, rows, __, flow, ___):
    """A rate without an interval: in particular where the time is too short for blocks of it."""
    ends, _ = counted(rows)
    blocks = (ends[-1] - ends[0]) / BLOCK_NS if len(ends) else 0
    return blocks < FEWEST_BLOCKS or flow["rate"] is None or flow["rate"]["low"] is None


def shares(rows, summary, flow) -> tuple | None:
    """The rates of both ends over the limit: the host's, its lower bound, the device's and the least of it; `None`
    without a limit."""
    if not flow["limit"]:
        return None
    bytes_s = flow["limit"]["bytes_s"]
    rates = [one["rate"] for one in summary["flows"]]
    devices = [by_device(one["device"]) for one in summary["flows"]]
    low = sum(one["low"] for one in rates) if all(one and one["low"] is not None for one in rates) else None
    known = None not in devices
    least = sum(
        rate * (1 - 1 / one["device"]["transfers"])
        for rate, one in zip(devices, summary["flows"], strict=True)
        if rate
    )
    return (
        flow["limit"]["used"],
        low and low / bytes_s,
        sum(devices) / bytes_s if known else None,
        least / (1 + CLOCKS_DIFFER) / bytes_s,
    )


def by_device(device: dict | None) -> float | None:
    """The rate by the clock of the device, which must have clocked some transfers."""
    if not device or not device["elapsed_ns"] or device["transfers"] < 20:
        return None
    return device["bytes"] * 1e9 / device["elapsed_ns"]


def over_limit(_, rows, summary, flow, truth):
    """The host counted more than the wire carries, or than the device received meanwhile."""
    ahead = is_ahead(rows, summary, flow, truth)
    found = shares(rows, summary, flow)
    if found is None:
        return ahead
    host, low, device, least = found
    proven = (host if low is None else low) > 1
    if host <= 1 or least > 1:
        return False if proven else ahead
    # By chance a rate at the limit is measured as more; the device's count is known to be within it then.
    return True if proven or device is None or device > 1 else ahead


def is_ahead(rows, summary, flow, truth):
    """The device still received at its own, lower rate when the host had sent everything."""
    if flow["way"] == "in" or by_device(flow["device"]) is None:
        return False
    ratio = rate_of(rows) / by_device(flow["device"])
    lasts = flow["device"]["elapsed_ns"] / summary["elapsed_ns"]
    if ratio <= 1 + CLOCKS_DIFFER or lasts <= 1 + CLOCKS_DIFFER:
        return False
    # A wide interval of the rate may include that of the device.
    return True if min(ratio, lasts) > 1.4 and flow["rate"]["low"] is None else OPEN


def no_real_bus(_, rows, summary, flow, __):
    found = shares(rows, summary, flow)
    return found is not None and found[0] > 1.0001 and found[3] > 1.0001


def device_over_limit(_, rows, summary, flow, __):
    found = shares(rows, summary, flow)
    return found is not None and found[0] <= 1 and found[3] > 1.0001


PREDICATES = {
    **COMMON,
    "W12": by_flow(lambda _, rows, *__: bool((rows["status"] == "stalled").any())),
    "W01": of_truth(lambda truth: truth["lost"] > 0),
    "W02": of_truth(lambda truth: truth["wrong"] > 0),
    "W16 ^the device": lambda case: [
        case.run["plan"]["protocol"] != "raw" and truth["report"] == "silent" for truth in case.truth
    ],
    "W23": of_truth(lambda truth: truth["overruns"] > 0),
    "W04": by_flow(shallow),
    "W05": by_flow(short),
    "W17 ^the host": by_flow(over_limit),
    "W17 ^both ends": by_flow(no_real_bus),
    "W17 ^the device": by_flow(device_over_limit),
    "W16 ^the report": lambda case: [
        case.run["plan"]["protocol"] != "raw" and truth["report"] == "untrue" for truth in case.truth
    ],
    "W34": of_truth(lambda truth: truth["jumps"] > 0),
    "W11 ^the receiver": of_truth(lambda truth: truth["waited"] > 0),
}


def lost(case: Case) -> list[float]:
    """The share of the bytes sent that was lost."""
    return [
        truth["lost"] / max(1, flow["counts"]["sent"] or 0) for _, _, flow, truth in flows_of(case)
    ]


#: Words that speak of one direction.
OF_WAY = {
    "bytes sent by the device": "in",
    "bytes sent by this host": "out",
    "the host sent": "out",
    "the host received": "in",
}

#: What the texts quote.
QUOTED = {"W16 ^the report": by_flow(lambda _, __, ___, flow, ____: flow.get("report_error") or "")}

#: The numbers of the texts.
NUMBERS = {
    **COMMON_NUMBERS,
    "W01": percent(lost),
    "W04": ("achieved", by_flow(lambda _, rows, *__: achieved(rows))),
}


def named(case: Case, text: str) -> list[int] | None:
    """The positions of the flows that a warning names, of one direction if it speaks of one; none where it only counts
    them."""
    found = places.of_settings(text, case.truth, places.STREAM)
    ways = [way for words, way in OF_WAY.items() if words in text]
    if not ways or found is None:
        return found
    of_way = [flow["way"] for _, _, flow, _ in flows_of(case)]
    return [at for at in found if of_way[at] in ways]
