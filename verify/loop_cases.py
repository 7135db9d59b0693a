"""Loop runs whose true configuration is known, and a predicate for each code that they can have."""

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
from loop_figures import SAMPLE_BYTES

#: A loop that works for more than this part of the time has no reserve (docs/loop.md).
BUSY = 0.90
#: Blocks below which rare delays are not known.
FEW = 1_000
XRUNS = np.array(["none", "overrun", "underrun", "both"], dtype=object)


def cells(rng, find: bool) -> list[dict]:
    """The sweep, and the preloads that are tested: without `find` those that were asked for."""
    notify = [1024, 2048, 4096][: int(rng.integers(1, 4))]
    rate = int(rng.choice([250_000, 1_000_000]))
    found = []
    for size in notify:
        cell = {"rate_hz": rate, "channels": 1, "notify_bytes": size, "ring_bytes": 1 << 20, "path": "cpu"}
        tests = 1 + int(rng.integers(0, 3)) if find else 1
        holds = find or rng.random() < 0.6
        if find or not holds:
            found.append({**cell, "preload_bytes": (1 << 20) - size, "aim": "curve"})
        if holds:
            preloads = [size * (2 << at) for at in range(tests)]
            found += [{**cell, "preload_bytes": bytes_, "aim": "hold"} for bytes_ in preloads]
    return [{"index": index, **cell} for index, cell in enumerate(found)]


def one_point(rng, path: Path, cell: dict) -> dict:
    """The blocks of a point, and the truth about it."""
    n = int(rng.choice([5, 60, 400, 1200, 1200, 2000]))
    period = round(cell["notify_bytes"] / (cell["rate_hz"] * cell["channels"] * SAMPLE_BYTES) * 1e9)
    work = period * float(rng.choice([0.001, 0.3, 0.8, 0.88, 0.92, 0.97])) * rng.uniform(0.98, 1.02, n)
    wake = rng.exponential(5e3, n)
    # Another program, or a tail of the host, now and then.
    wake[rng.random(n) < 0.01] += rng.uniform(0, 3) * period
    due = (np.arange(n) + 1) * period
    begun, done = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    before = 0
    for at in range(n):
        begun[at] = max(due[at] + wake[at], before)
        before = done[at] = begun[at] + work[at]
    stalled = rng.random(n) < (rng.choice([0.01, 0.3]) if rng.random() < 0.45 else 0.0)
    xrun = np.where(stalled, rng.integers(1, 4, n), 0)
    phase = np.array(["measured"] * n, dtype=object)
    phase[: max(1, n // 20)] = "warm-up"
    phase[0] = "first"
    columns = {
        "sequence": np.arange(n),
        "phase": phase,
        "xrun": XRUNS[xrun],
        "due_ns": due,
        "begun_ns": begun,
        "done_ns": done,
    }
    write_samples(path, cell["index"], cell, columns)
    frames = cell["preload_bytes"] // SAMPLE_BYTES
    check = {"cable_frames": None, "preload_frames": frames, "compared": 4096, "wrong": 0}
    outputs = {
        "right": {"method": "reference", "found_frames": frames, **check},
        "right with a cable": {"method": "marker", "found_frames": frames + 3, **check, "cable_frames": 3},
        "unchecked": None,
        "unheard": {"method": "marker", "found_frames": None, **check},
        "wrong": {"method": "reference", "found_frames": frames + 1, **check, "wrong": 7},
        "nowhere": {"method": "reference", "found_frames": None, **check, "wrong": 4096},
    }
    output = str(rng.choice(list(outputs), p=[0.3, 0.1, 0.2, 0.2, 0.1, 0.1]))
    late = rng.random() < 0.25
    return {
        "output": output,
        "verified": outputs[output],
        "overruns": int(np.isin(xrun, (1, 3)).sum()),
        "underruns": int(np.isin(xrun, (2, 3)).sum()),
        "device_late": {"longest_ns": int(rng.integers(1e5, 1e7)), "times": int(rng.integers(0, 9))} if late else None,
    }


def new(seed: int, home: Path) -> Case:
    """The generated loop run of this seed."""
    rng = np.random.default_rng([seed, 3])
    path = home / f"loop-{seed:06}"
    find = bool(rng.random() < 0.6)
    points = cells(rng, find)
    truth = [one_point(rng, path, cell) for cell in points]
    wait = [{"how": "sleep"}, {"how": "spin"}, {"how": "hybrid", "margin_ns": int(rng.choice([20_000, 400_000]))}]
    run = {
        "schema": 2,
        "kind": "loop",
        "plan": {
            "address": "virtual:thread",
            # With `find`, tests are no points of the plan.
            "points": points,
            "duration_ns": 1_000_000_000,
            "settle_ns": 0,
            "find": find,
            "hold_ns": 1_000_000_000,
            "process": [{"stage": "copy"}],
            "wait": wait[rng.integers(3)],
            "calibrate": False,
            "host": host_plan(rng),
        },
        "conditions": conditions(rng),
        "warnings": remarks(rng),
    }
    run = summarised(path, run)
    is_cut = rng.random() < 0.2
    for at, (summary, point) in enumerate(zip(run["points"], truth, strict=True)):
        summary.update({name: point[name] for name in ("verified", "overruns", "underruns")})
        summary["disturbances"] = disturbances(rng)
        if point["device_late"]:
            summary["disturbances"].append({"kind": "device-late", **point["device_late"]})
        point["cut"] = is_cut and at == len(truth) - 1
        summary["ending"] = ended(rng, point["cut"])
    run["state"] = state_of(run["points"][-1]["ending"])
    store(path, run)
    return Case(path, run, truth, f"loop, seed {seed}")


# Predicates: of each point, from its blocks


def by_point(holds):
    """The predicate `holds(case, blocks, cell, truth)` of each point."""

    def predicate(case: Case) -> list:
        cells = [summary["point"] for summary in case.run["points"]]
        every = zip(range(len(cells)), cells, case.truth, strict=True)
        return [holds(case, case.samples(at), cell, truth) for at, cell, truth in every]

    return predicate


def has_stalled(blocks: dict) -> bool:
    return bool((blocks["xrun"] != "none").any())


def is_alike(cell: dict, other: dict) -> bool:
    """Whether two points differ in their preload only."""
    return all(cell[key] == other[key] for key in ("rate_hz", "channels", "notify_bytes"))


def not_held(case: Case, cell: dict, blocks: dict, is_found: bool, ever: bool | None) -> bool:
    """A preload that stalled; asked for, or found by a search in which one of its kind held or none did."""
    if cell["aim"] != "hold" or not has_stalled(blocks) or case.run["plan"]["find"] != is_found:
        return False
    tests = [p["point"] for p in case.run["points"] if p["point"]["aim"] == "hold"]
    held = [not has_stalled(case.samples(test["index"])) for test in tests if is_alike(test, cell)]
    return ever is None or any(held) == ever


def duty(blocks: dict, cell: dict) -> float:
    """The part of the time spent on blocks."""
    wanted = blocks["phase"] == "measured"
    due, begun, done = (blocks[name][wanted] for name in ("due_ns", "begun_ns", "done_ns"))
    if len(due) == 0:
        return 0.0
    first = max(0, due[0] - period_ns(cell))
    return float((done - begun).sum() / (max(due[-1], done[-1]) - first))


def period_ns(cell: dict) -> float:
    return cell["notify_bytes"] / (cell["rate_hz"] * cell["channels"] * SAMPLE_BYTES) * 1e9


def busy(_, blocks, cell, __):
    share = duty(blocks, cell)
    return OPEN if abs(share - BUSY) < 1e-6 else share > BUSY


def throttled(case: Case) -> list:
    """A real-time thread that runs for longer than the kernel allows, sleeping and spinning as planned."""
    plan, limit_us = case.run["plan"], case.run["conditions"]["host"]["rt_runtime_us"]
    if plan["host"]["priority"] is None or limit_us is None or limit_us < 0:
        return [False] * len(case.truth)
    most = 0.0
    for summary in case.run["points"]:
        cell = summary["point"]
        share = duty(case.samples(cell["index"]), cell)
        if plan["wait"]["how"] == "hybrid":
            share = min(1.0, share + plan["wait"]["margin_ns"] / period_ns(cell))
        most = max(most, 1.0 if plan["wait"]["how"] == "spin" else share)
    return [OPEN if abs(most - limit_us / 1e6) < 1e-6 and most < 1 else most > limit_us / 1e6] * len(case.truth)


PREDICATES = {
    **COMMON,
    "W40": by_point(lambda _, blocks, cell, __: cell["aim"] == "curve" and has_stalled(blocks)),
    "W41 ^the requested": by_point(lambda case, blocks, cell, _: not_held(case, cell, blocks, False, None)),
    "W41 ^the preload": by_point(lambda case, blocks, cell, _: not_held(case, cell, blocks, True, True)),
    "W41 ^every": by_point(lambda case, blocks, cell, _: not_held(case, cell, blocks, True, False)),
    # Where input was lost, the output is wrong for that reason.
    "W44": by_point(lambda _, blocks, __, truth: truth["output"] in ("wrong", "nowhere") and not has_stalled(blocks)),
    "W45 ^the marker": lambda case: [truth["output"] == "unheard" for truth in case.truth],
    "W45 ^the output": lambda case: [truth["output"] == "unchecked" for truth in case.truth],
    "W47": by_point(busy),
    "W48": throttled,
    "W49": lambda case: [truth["device_late"] is not None for truth in case.truth],
    "W50": by_point(
        lambda _, blocks, cell, __: cell["aim"] == "curve" and np.sum(blocks["phase"] == "measured") < FEW
    ),
}


QUOTED: dict = {}

#: The numbers of the texts.
NUMBERS = {**COMMON_NUMBERS, "W47": percent(by_point(lambda _, blocks, cell, __: duty(blocks, cell)))}


#: Words that speak of measured curves, which have no preload, and not of tested preloads.
OF_CURVES = ("the lowest latency is longer than shown", "too few for rare delays")


def named(case: Case, text: str) -> list[int] | None:
    """The positions of the points that a warning names, without those that it does not speak of; none where it only counts
    them, or names all in one."""
    points = [summary["point"] for summary in case.run["points"]]
    found = places.of_settings(text, points, places.LOOP)
    if found is None or not any(words in text for words in OF_CURVES):
        return found
    return [at for at in found if points[at]["aim"] == "curve"]
