"""Exchange runs with a known tail, and a predicate for each code of `wiregauge deadline`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import exchange_cases
import generate
from case import OPEN, Case
from common import write_exchange_run
from exchange_figures import by_request, measured

TIMEOUT_NS = 2_000_000_000
#: Independent long responses that a tail requires (docs/deadline.md).
FEWEST = 50
#: A response that one in so many exceeds is beyond what any of these runs can tell.
TOO_FAR = 1e12
#: Values of discrete levels.
LEVELS = 4


def new(seed: int, home: Path) -> Case:
    """The generated run of this seed, and the `deadline` that is asked of it."""
    rng = np.random.default_rng([seed, 4])
    depths = [[1], [1, 2]][rng.integers(2)]
    rtts, statuses, truth = [], [], []
    for _ in depths:
        kind = str(rng.choice(["tail", "tail", "tail", "few", "levels", "moved", "any"]))
        n = int(rng.integers(1, 40)) if kind == "few" else int(rng.choice([4000, 8000]))
        shape = generate.SHAPES[rng.integers(len(generate.SHAPES))]
        rtt = {
            "levels": lambda n=n: 1e6 * rng.integers(1, 1 + LEVELS, n),
            "moved": lambda n=n: rng.uniform(1e5, 2e5, n) + 1e6 * (np.arange(n) > n // 2),
            "any": lambda n=n, shape=shape: shape(rng, n),
        }.get(kind, lambda n=n: 1e5 + rng.exponential(8e4, n))()
        status = generate.losses(rng, n)
        rtt = np.clip(rtt, 1, TIMEOUT_NS - 1).astype(np.int64)
        rtt[status == exchange_cases.LOST] = TIMEOUT_NS
        rtts.append(rtt)
        statuses.append(status)
        truth.append({"kind": kind, "beyond": rng.random() < 0.15})
    path = write_exchange_run(
        home / f"deadline-{seed:06}", rtts, statuses, depth=depths, timeout_ns=TIMEOUT_NS, recompute=False
    )
    far = truth[0]["beyond"]
    for point in truth:
        point["beyond"] = far
    command = ("deadline", "--period", f"{int(rng.choice([1e5, 3e5, 1e6]))}ns")
    command += ("--beyond", str(TOO_FAR)) if far else ()
    run = json.loads((path / "run.json").read_text())
    where = f"deadline, seed {seed}: {[point['kind'] for point in truth]}, {command}"
    return Case(path, run, truth, where, command)


def exchanges(case: Case, at: int) -> tuple[dict, np.ndarray]:
    """The exchanges of a point, and which were answered right."""
    rows = by_request(measured(case.samples(at)))
    return rows, np.isin(rows["status"], ["ok", "reordered"])


def no_extrapolation(case: Case) -> list:
    """No tail of few responses, of discrete levels, of two levels one after the other, or too far beyond the run."""
    verdicts = []
    for at, truth in enumerate(case.truth):
        _, right = exchanges(case, at)
        none = right.sum() < FEWEST or truth["kind"] in ("few", "levels", "moved") or truth["beyond"]
        verdicts.append(True if none else OPEN)
    return verdicts


def unanswered(case: Case) -> list:
    return [bool((~exchanges(case, at)[1]).any()) for at in range(len(case.truth))]


PREDICATES = {"W60": no_extrapolation, "W61": unanswered}
QUOTED: dict = {}
NUMBERS: dict = {}
named = exchange_cases.named
