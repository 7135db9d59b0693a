"""A generated run whose true configuration is known, and what is common to those of all kinds.

`findings` fails on a code without a predicate, and on one that is said or withheld fewer than 20 times. A predicate is
computed from the samples, what the device and the host counted and what the generator knows, not from what the program
computed. Only bounds of intervals are read from run.json (p99 and the rate of W05, the rate of W17): `coverage` checks those.
`NUMBERS` and `QUOTED` hold what a text must say of the points that it names. Keys are codes; of a code that makes several
statements, the code and a pattern of each: `W07 ^the hypervisor`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from common import parse, samples, wiregauge

#: A predicate says `True` (the code must be said of this point), `False` (it must not be), or this: the samples
#: leave it open.
OPEN = None
#: The part of all points that has each disturbance of the host.
DISTURBED = 0.2


@dataclass
class Case:
    """A stored run, and the truth about each of its points (of a stream: each of its flows)."""

    path: Path
    run: dict
    truth: list[dict]
    where: str
    command: tuple = ("show", "--full")
    read: dict = field(default_factory=dict)

    def said(self) -> dict[str, list[str]]:
        """The codes that the program says of the run, each with its texts."""
        return codes(wiregauge(*self.command, self.path))

    def samples(self, at: int) -> dict:
        """The stored samples of a point."""
        if at not in self.read:
            self.read[at] = samples(self.path, at)
        return self.read[at]


def codes(text: str) -> dict[str, list[str]]:
    """The warnings below the tables: of each code its texts."""
    found: dict[str, list[str]] = {}
    for code, words in re.findall(r"^(W\d\d): (.*(?:\n  .*)*)", text, re.MULTILINE):
        found.setdefault(code, []).append(" ".join(words.split()))
    return found


def texts_of(said: dict[str, list[str]], key: str) -> list[str]:
    """The texts that a key of the predicates is about."""
    code, _, pattern = key.partition(" ")
    return [text for text in said.get(code, []) if re.search(pattern, text)]


def write_samples(path: Path, index: int, cell: dict, columns: dict) -> None:
    """A file of samples: integers as uint64 but for the narrow ones, texts as strings."""
    narrow = ("bytes", "pending")
    arrays, fields = [], []
    for name, values in columns.items():
        if np.asarray(values).dtype.kind in "UO":
            kind = pa.string()
        else:
            kind = pa.uint32() if name in narrow else pa.uint64()
        arrays.append(pa.array(values, type=kind))
        fields.append(pa.field(name, kind, nullable=False))
    metadata = {
        "wiregauge.schema": "2",
        "wiregauge.address": "null:",
        "wiregauge.point": json.dumps(cell),
        "wiregauge.segment": "0",
        "wiregauge.first_row": "0",
    }
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=metadata))
    (path / "samples").mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path / "samples" / f"point-{index:04}.parquet", compression="snappy")


def summarised(path: Path, run: dict) -> dict:
    """The run with summaries that the program computes from the stored samples, as after a power cut."""
    (path / "run.json").write_text(json.dumps({**run, "state": "running", "points": []}))
    return parse(wiregauge("export", path, "--json", "-"))


def store(path: Path, run: dict) -> None:
    (path / "run.json").write_text(json.dumps(run))


def conditions(rng) -> dict:
    """What a run ran on."""
    return {
        "started": "2026-01-01T00:00:00Z",
        "command": ["generated"],
        "version": "generated",
        "host": {
            "name": "generated",
            "kernel": "generated",
            "cpu": "generated",
            "processors": 4,
            "clock_source": "tsc",
            "governor": None,
            "load": [0.0, 0.0, 0.0],
            "hypervisor": False,
            "policy": "SCHED_OTHER",
            "affinity": [],
            "memory_locked": False,
            "rt_runtime_us": [None, -1, 500_000, 950_000, 1_000_000][rng.integers(5)],
        },
        "link": {"settings": []},
        "responder": None,
        "more_links": [],
        "before": None,
        "after": None,
    }


def host_plan(rng) -> dict:
    """What was asked of the host."""
    loaded = rng.random() < 0.2
    return {
        "priority": 50 if rng.random() < 0.5 else None,
        "pin": 1 if rng.random() < 0.5 else None,
        "lock_memory": False,
        "load": {"cpu": int(loaded) * int(rng.integers(0, 3)), "memory": int(loaded)},
    }


def remarks(rng) -> list[str]:
    """What the link reported at the start."""
    return ["cannot set the real-time priority: operation not permitted"] if rng.random() < 0.2 else []


def disturbances(rng) -> list[dict]:
    """What a host that is busy, virtual or slow at storing counted while a point was measured."""
    every = [
        {"kind": "steal", "share": float(rng.uniform(0.001, 0.4))},
        {
            "kind": "preempted",
            "times": int(rng.integers(1, 500)),
            "waited_ns": int(rng.integers(1e6, 1e9)),
        },
        {"kind": "shared-processor", "share": float(rng.uniform(0.01, 0.9))},
        {
            "kind": "clock-gap",
            "longest_ns": int(rng.integers(1e5, 1e8)),
            "times": int(rng.integers(1, 9)),
        },
        {"kind": "storage-too-slow", "times": int(rng.integers(1, 9))},
        # Said by `explain` alone.
        {"kind": "urb-events-lost", "overflowed": 3, "clock_set": 0},
    ]
    return [one for one in every if rng.random() < DISTURBED]


def ended(rng, is_cut: bool) -> dict:
    """How a point ended."""
    if not is_cut:
        return {"how": "complete"}
    if rng.random() < 0.5:
        return {"how": "interrupted"}
    return {"how": "link-failed", "error": "the device closed the link"}


def state_of(ending: dict) -> object:
    """The state of a run whose last point ended so."""
    if ending["how"] == "link-failed":
        return {"failed": {"error": ending["error"]}}
    return ending["how"]


def summaries(case: Case) -> list[dict]:
    """The summary of each point; of a stream that of each flow's point."""
    return [summary for summary in case.run["points"] for _ in summary.get("flows", [None])]


def disturbed(kind: str):
    """The predicate of what the host counted."""

    def predicate(case: Case) -> list:
        return [
            any(one["kind"] == kind for one in summary["disturbances"])
            for summary in summaries(case)
        ]

    return predicate


def of_run(holds):
    """The predicate of what is one for the whole run."""
    return lambda case: [bool(holds(case))] * len(case.truth)


def counted(kind: str, key: str):
    """What the host counted of each point; 0 where there was none."""
    return lambda case: [
        sum(one[key] for one in summary["disturbances"] if one["kind"] == kind)
        for summary in summaries(case)
    ]


def percent(share):
    """The same figure of each point in percent."""
    return "%", lambda case: [one * 100 for one in share(case)]


def is_range(text: str, unit: str, values: list[float]) -> bool:
    """Whether the first number with this unit, such as `3 %` or `1 to 3 %`, is the range of these values; true of a
    text without such a number."""
    number = r"([<>]? ?[\d,]+(?:\.\d+)?)"
    found = re.search(rf"(?:{number}(?: {unit})? to )?{number} {unit}", text)
    if not found:
        return True
    low, high = found.groups()
    return is_shown(low or high, min(values)) and is_shown(high, max(values))


def is_shown(shown: str, value: float) -> bool:
    """Whether a number as printed is this value, to the digits that it has; a bound such as `< 0.01` holds."""
    number = float(shown.lstrip("<> ").replace(",", ""))
    if shown.startswith(("<", ">")):
        return value < number if shown.startswith("<") else value > number
    return abs(number - value) <= 0.5 * 10.0 ** -len(shown.partition(".")[2]) * (1 + 1e-6)


#: A number that the text of a code has, for codes that runs of every kind can have: its unit, and what it is at each point.
COMMON_NUMBERS = {
    "W07 ^the hypervisor": percent(counted("steal", "share")),
    "W07 ^other programs": percent(counted("shared-processor", "share")),
}

#: The predicates of the codes that runs of every kind can have.
COMMON = {
    "W03": lambda case: [truth["cut"] for truth in case.truth],
    "W07 ^the hypervisor": disturbed("steal"),
    "W07 ^the measuring thread": disturbed("preempted"),
    "W07 ^other programs": disturbed("shared-processor"),
    "W07 ^the clock": disturbed("clock-gap"),
    "W11 ^samples": disturbed("storage-too-slow"),
    "W15": of_run(lambda case: case.run["warnings"]),
}
