"""Shared by all parts of the checker: write stored runs, call the program, count checks.

Nothing here comes from the program's own code: files are written as docs/run-format.md describes
them, and figures are computed with numpy.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parent.parent

#: The names of `status` in an exchange run, by number.
STATUSES = ("ok", "lost", "late", "duplicated", "reordered", "corrupted", "unexpected")


def program() -> str:
    """The program under test: $WIREGAUGE, else the newest build of this repository."""
    asked = os.environ.get("WIREGAUGE")
    if asked:
        return asked
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [target / profile / "wiregauge" for profile in ("release", "debug")]
    built = [path for path in built if path.exists()]
    if not built:
        raise SystemExit("wiregauge is not built: run `make build`, or set WIREGAUGE")
    return str(max(built, key=lambda path: path.stat().st_mtime))


class Failed(Exception):
    """The program ended with an unexpected exit code."""


def wiregauge(*args, json: bool = False, codes=(0,), env=None, timeout=600):  # noqa: A002
    """Call the program; give its standard output, parsed if `json` (then `--json` is added)."""
    command = [program(), *map(str, args)] + (["--json"] if json else [])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200", **(env or {})},
        timeout=timeout,
        check=False,
    )
    if done.returncode not in codes:
        text = done.stderr.strip() or done.stdout.strip()
        raise Failed(f"{' '.join(command)}: exit code {done.returncode}: {text[-2000:]}")
    return parse(done.stdout) if json else done.stdout


def parse(text: str):
    """JSON as the program prints it."""
    return json.loads(text)


# Samples as a stored run

_WIDE = (
    "intended_ns",
    "start_ns",
    "rtt_ns",
    "connect_ns",
    "access_ns",
    "device_rx_ticks",
    "device_tx_ticks",
)
_NARROW = ("bytes_out", "bytes_in", "outstanding")


def write_exchange_run(
    path,
    rtt_ns,
    status=None,
    interval=None,
    *,
    start_ns=None,
    out_bytes=64,
    in_bytes=64,
    depth=1,
    timeout_ns=None,
    below_ns=(),
    device_ns=None,
    by_end=False,
    ticks=None,
    data=False,
    recompute=True,
):
    """Write a series of RTT as a stored exchange run, and give its path.

    rtt_ns      RTT of each measured exchange, in the order in which they ended. Several points:
                a list of arrays; then `status`, `start_ns`, `out_bytes`, `in_bytes` and `depth`
                are lists as well, or one value for all.
    status      number (index in STATUSES) or name of each; None: all `ok`.
    interval    time between two intended starts in ns; None: each starts where the one before
                it ended (depth 1).
    start_ns    start of each; None: as above; with `interval`, a start waits for the end of the
                exchange before (a control loop of depth 1).
    device_ns   time of each in the device, by a clock of 1 ns; None: the device has none.
    by_end      the series is in the order of the requests; store the rows in the order in which
                the exchanges ended, as the program does.
    ticks       device clock when the request had arrived and when the response left: for each
                point a pair of arrays, or None.
    data        add the bytes of the responses, all empty, as a run with queries has them.
    recompute   let the program compute the figures of run.json from the samples; False leaves
                zeros (enough for `deadline`, which reads the samples).
    """
    path = Path(path)
    points = _points(rtt_ns, status, start_ns, out_bytes, in_bytes, depth, device_ns, ticks)
    (path / "samples").mkdir(parents=True, exist_ok=True)
    summaries, cells = [], []
    longest = max((int(rtt.max()) for rtt, *_ in points if len(rtt)), default=0)
    for index, (rtt, state, start, out_b, in_b, deep, device, clock) in enumerate(points):
        cell = {
            "index": index,
            "out_bytes": out_b,
            "in_bytes": in_b,
            "depth": deep,
            "link": 0,
            "together": False,
        }
        cells.append(cell)
        table = _exchange_table(rtt, state, start, interval, cell, device, clock)
        if data:
            empty = pa.array([b""] * table.num_rows, type=pa.binary())
            table = table.append_column(pa.field("data", pa.binary(), nullable=False), empty)
        if by_end:
            end = table["start_ns"].to_numpy() + table["rtt_ns"].to_numpy()
            table = table.take(np.argsort(end, kind="stable"))
        metadata = {
            "wiregauge.schema": "1",
            "wiregauge.address": "null:",
            "wiregauge.point": json.dumps(cell),
        }
        table = table.replace_schema_metadata(metadata)
        # The names of statuses go through a dictionary, as the program writes them.
        pq.write_table(
            table,
            path / "samples" / f"point-{index:04}.parquet",
            compression="snappy",
            use_dictionary=["phase", "status"],
        )
        summaries.append(_empty_summary(cell))
    plan = {
        "address": "null:",
        "more_links": [],
        "protocol": "echo",
        "connect": "once",
        "points": cells,
        "limit": {"count": max(len(rtt) for rtt, *_ in points)},
        "warmup": 0,
        "schedule": "as-fast-as-possible" if interval is None else {"every-ns": int(interval)},
        "timeout_ns": int(timeout_ns or max(2 * longest, 1_000_000_000)),
        "give_up": 10,
        "wait": "block",
        "below_ns": [int(limit) for limit in below_ns],
        "keep_data": False,
        "calibrate": False,
        "batch": None,
        "host": {
            "priority": None,
            "pin": None,
            "lock_memory": False,
            "load": {"cpu": 0, "memory": 0},
        },
        "link": {"baud": None, "quick_ack": False, "usbmon": False},
    }
    run = {
        "schema": 1,
        "kind": "exchange",
        "state": "complete",
        "plan": plan,
        "conditions": {**_conditions(), "responder": None if device_ns is None else _RESPONDER},
        "points": summaries,
        "warnings": [],
    }
    (path / "run.json").write_text(json.dumps(run))
    if recompute:
        run = parse(wiregauge("export", path, "--recompute", "--json", "-"))
        (path / "run.json").write_text(json.dumps(run))
    return path


def _points(rtt_ns, *others):
    """One tuple of arrays a point."""
    several = isinstance(rtt_ns, (list, tuple)) and len(rtt_ns) and np.ndim(rtt_ns[0]) == 1
    if not several:
        return [(np.asarray(rtt_ns, dtype=np.int64), *others)]
    columns = [[np.asarray(rtt, dtype=np.int64) for rtt in rtt_ns]]
    for other in others:
        columns.append(other if isinstance(other, (list, tuple)) else [other] * len(rtt_ns))
    return list(zip(*columns, strict=True))


def statuses(status, n: int) -> np.ndarray:
    """Numbers of statuses, whatever they were given as."""
    if status is None:
        return np.zeros(n, dtype=np.int64)
    status = np.asarray(status)
    if status.dtype.kind in "US":
        return np.array([STATUSES.index(str(name)) for name in status], dtype=np.int64)
    return status.astype(np.int64)


def starts(rtt: np.ndarray, interval) -> np.ndarray:
    """When a loop of depth 1 starts each exchange."""
    if interval is None:
        return np.concatenate(([0], np.cumsum(rtt)[:-1])).astype(np.int64)
    # start(i) = max(i T, start(i-1) + rtt(i-1)): the largest backlog so far.
    due = np.arange(len(rtt), dtype=np.int64) * int(interval)
    ended = np.concatenate(([0], np.cumsum(rtt)[:-1]))
    return np.maximum.accumulate(due - ended) + ended


def _exchange_table(rtt, status, start, interval, cell, device, ticks):
    n = len(rtt)
    state = statuses(status, n)
    # Late and duplicated responses are extra rows of an exchange that has one already.
    first = (state != STATUSES.index("late")) & (state != STATUSES.index("duplicated"))
    if start is None:
        start = np.zeros(n, dtype=np.int64)
        start[first] = starts(rtt[first], interval)
        for at in np.flatnonzero(~first):
            start[at] = start[at - 1]
    start = np.asarray(start, dtype=np.int64)
    # Number 0 is the first exchange, which enters no figure.
    sequence = np.cumsum(first)
    intended = start if interval is None else (sequence - 1) * int(interval)
    head = 1_000_000
    received = np.isin(state, (1, 5), invert=True)
    columns = {
        "sequence": sequence,
        "intended_ns": intended + head,
        "start_ns": start + head,
        "rtt_ns": rtt,
        "bytes_out": np.full(n, cell["out_bytes"]),
        "bytes_in": np.where(received, cell["in_bytes"], 0),
        "outstanding": np.full(n, cell["depth"]),
    }
    if device is not None:
        arrived = start + head
        ticks = arrived, arrived + np.asarray(device, dtype=np.int64)
        # The counter of 32 bits wraps every 4.3 s.
        ticks = [time % 2**32 for time in ticks]
    if ticks is not None:
        columns["device_rx_ticks"], columns["device_tx_ticks"] = ticks
    names = np.array(STATUSES, dtype=object)[state]
    arrays, fields = [], []

    def add(name, values, kind):
        arrays.append(pa.array(values, type=kind))
        fields.append(pa.field(name, kind, nullable=False))

    one = int(np.median(rtt)) if n else 1000

    def with_first(name, first_value):
        values = np.concatenate(([first_value], columns.get(name, np.zeros(n, dtype=np.int64))))
        return values.astype(np.uint64)

    add("sequence", with_first("sequence", 0), pa.uint64())
    add("phase", ["first"] + ["measured"] * n, pa.string())
    add("status", ["ok", *names], pa.string())
    for name in _WIDE:
        add(name, with_first(name, min(one, head) if name == "rtt_ns" else 0), pa.uint64())
    for name in _NARROW:
        value = 1 if name == "outstanding" else cell[name.replace("bytes_", "") + "_bytes"]
        add(name, with_first(name, value).astype(np.uint32), pa.uint32())
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _empty_summary(cell):
    return {
        "point": cell,
        "ending": {"how": "complete"},
        "counts": dict.fromkeys(
            (
                "exchanges",
                "answered",
                "lost",
                "late",
                "duplicated",
                "reordered",
                "corrupted",
                "unexpected",
                "stray_bytes",
            ),
            0,
        ),
        "elapsed_ns": 0,
        "first_rtt_ns": None,
        "open_ns": None,
        "rtt": None,
        "from_intended": None,
        "trt": None,
        "below": [],
        "modes": [],
        "achieved_depth": 0.0,
        "throughput": {"exchanges_s": 0.0, "out_bytes_s": 0.0, "in_bytes_s": 0.0},
        "limit": None,
        "device": None,
        "connect": None,
        "access": None,
        "transfer": None,
        "resources": {
            "cpu_ns_per_exchange": 0.0,
            "voluntary_switches": 0,
            "involuntary_switches": 0,
            "run_delay_ns": 0,
            "steal_ns": 0,
            "minor_faults": 0,
        },
        "disturbances": [],
    }


def _conditions():
    return {
        "started": "2026-01-01T00:00:00Z",
        "command": ["generated"],
        "version": "generated",
        "host": {
            "name": "generated",
            "kernel": "generated",
            "cpu": "generated",
            "processors": 1,
            "clock_source": "generated",
            "governor": None,
            "load": [0.0, 0.0, 0.0],
            "hypervisor": False,
            "policy": "generated",
            "affinity": [],
            "memory_locked": False,
            "rt_runtime_us": None,
        },
        "link": {"settings": []},
        "responder": None,
        "more_links": [],
        "before": None,
        "after": None,
    }


#: What a device with a clock says of itself.
_RESPONDER = {
    "name": "generated",
    "max_out_bytes": 1 << 20,
    "max_in_bytes": 1 << 20,
    "max_outstanding": 0,
    "tick_hz": 1_000_000_000,
    "tick_bits": 32,
    "bus": None,
    "abilities": 0,
}


# Reading a stored run


def samples(run, point: int = 0) -> dict:
    """The columns of a point as numpy arrays; integers signed, so that differences can be taken."""
    folder, name = Path(run) / "samples", f"point-{point:04}"
    # A long point has further files.
    files = [folder / f"{name}.parquet", *sorted(folder.glob(f"{name}-*.parquet"))]
    table = pa.concat_tables([pq.read_table(file) for file in files])
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        if pa.types.is_integer(column.type):
            columns[name] = column.to_numpy().astype(np.int64)
        else:
            columns[name] = np.array(column.to_pylist(), dtype=object)
    return columns


def percentile(values, p: float) -> int:
    """The smallest value with at least the share `p` of all at or below it."""
    return int(np.quantile(np.asarray(values), p, method="inverted_cdf"))


# Checks


class Checks:
    """Counts what was checked, and keeps what did not hold, each with where it was seen."""

    def __init__(self, known: dict[str, str] | None = None):
        self.counts: Counter[str] = Counter()
        self.failures: list[tuple[str, str]] = []
        #: Deviations that are known: name of the check to the reason. Counted, never hidden.
        self.known = known or {}
        self.deviations: Counter[str] = Counter()

    def that(self, holds, name: str, detail="") -> bool:
        """Count one check; `detail` (a text or a function giving one) is kept if it fails."""
        self.counts[name] += 1
        if holds:
            return True
        if name in self.known:
            self.deviations[name] += 1
            return False
        self.failures.append((name, detail() if callable(detail) else str(detail)))
        return False

    def equal(self, found, expected, name: str, where="", rtol=0.0, atol=0.0) -> bool:
        """Check that two figures are equal; None equals only None."""
        if found is None or expected is None:
            same = found is None and expected is None
        else:
            same = abs(found - expected) <= atol + rtol * abs(expected)
        return self.that(same, name, f"{where}: found {found}, expected {expected}")

    def report(self, most: int = 3) -> bool:
        """Print the counts, and of each check the first that failed; True if all held."""
        for name, count in sorted(self.counts.items()):
            of_name = [detail for failed, detail in self.failures if failed == name]
            notes = [f"{len(of_name):,} FAILED"] if of_name else []
            if self.deviations[name]:
                notes.append(f"{self.deviations[name]:,} known deviations: {self.known[name]}")
            print(f"  {count:>9,} {name}" + (": " + "; ".join(notes) if notes else ""))
            for detail in of_name[:most]:
                print(f"            {detail}")
        for name in self.known:
            if self.counts[name] and not self.deviations[name]:
                print(f"  no longer seen: {name} ({self.known[name]})")
        return not self.failures


@contextmanager
def scratch(keep: str | None = None):
    """A directory for runs, removed afterwards; `keep` names one that stays."""
    if keep:
        Path(keep).mkdir(parents=True, exist_ok=True)
        yield Path(keep)
        return
    with tempfile.TemporaryDirectory(prefix="wiregauge-verify-") as name:
        yield Path(name)
