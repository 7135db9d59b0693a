"""Series of all shapes as stored exchange runs: what links do to a program that reports them."""

from __future__ import annotations

import heapq
import json
from pathlib import Path

import numpy as np

from common import STATUSES, write_exchange_run

LOST, LATE, DUPLICATED, REORDERED, CORRUPTED = (
    STATUSES.index(name) for name in STATUSES[1:6]
)


def lognormal(rng, n):
    return rng.lognormal(np.log(200e3), rng.choice([0.02, 0.2, 0.6, 1.0]), n)


def exponential(rng, n):
    return 50e3 + rng.exponential(80e3, n)


def bounded(rng, n):
    return rng.uniform(100e3, rng.choice([110e3, 200e3, 2e6]), n)


def heavy(rng, n):
    """A Pareto tail, without a variance at the smallest exponent."""
    return 80e3 * (1 + rng.pareto(rng.choice([1.1, 1.7, 2.5, 4.0]), n))


def bimodal(rng, n):
    """Two levels apart: a cache, a second core, a retry."""
    slow = rng.random(n) < rng.choice([0.5, 0.1, 0.02, 0.002])
    return np.where(slow, 4 * lognormal(rng, n), rng.lognormal(np.log(200e3), 0.05, n))


def frames(rng, n):
    """Responses at the ends of bus frames."""
    frame = rng.choice([125e3, 1e6])
    return frame * np.ceil(lognormal(rng, n) * 3 / frame) + rng.normal(0, 300, n)


def discrete(rng, n):
    """A clock that ticks coarsely."""
    step = rng.choice([1e3, 10e3, 50e3, 1e6])
    return step * np.maximum(1, np.round(lognormal(rng, n) / step))


def constant(rng, n):
    """One value, or one and a single other."""
    values = np.full(n, 123_456.0)
    if rng.random() < 0.5:
        values[rng.integers(n)] *= 50
    return values


def drifting(rng, n):
    """A trend, up or down."""
    trend = np.linspace(1, rng.choice([0.3, 1.1, 3.0, 10.0]), n)
    return trend * lognormal(rng, n)


def stepped(rng, n):
    """A device that is slow for a part of the run."""
    from_, to = np.sort(rng.integers(0, n + 1, 2))
    factor = np.ones(n)
    factor[from_:to] = rng.choice([1.5, 5.0, 30.0])
    return factor * lognormal(rng, n)


def autoregressive(rng, n):
    """Neighbours that resemble each other."""
    phi = rng.choice([0.5, 0.9, 0.99])
    noise = rng.normal(0, np.sqrt(1 - phi**2), n)
    level = np.empty(n)
    last = rng.normal()
    for at in range(n):
        last = phi * last + noise[at]
        level[at] = last
    return 200e3 * np.exp(0.4 * level)


def bursts(rng, n):
    """Trains of long responses."""
    values = rng.lognormal(np.log(150e3), 0.1, n)
    for start in rng.integers(0, n, max(1, n // rng.integers(60, 600))):
        length = rng.integers(1, 40)
        values[start : start + length] *= rng.uniform(3, 60)
    return values


def sawtooth(rng, n):
    """A phase that slips against a bus frame."""
    return 100e3 + (np.arange(n) * rng.uniform(1e3, 90e3)) % 1e6


def spikes(rng, n):
    """A quiet link with a few outliers far out."""
    values = rng.normal(300e3, 1e3, n)
    values[rng.integers(0, n, rng.integers(1, 6))] = rng.uniform(1e7, 4e8)
    return values


def alternating(rng, n):
    """Every other response is long: two buffers, or an acknowledgement that is delayed."""
    return lognormal(rng, n) * np.where(np.arange(n) % 2, rng.choice([1.05, 2.0, 40.0]), 1.0)


def periodic(rng, n):
    """Something else runs at even intervals, and delays what it meets."""
    every, length = rng.integers(5, 500), rng.integers(1, 5)
    met = (np.arange(n) + rng.integers(every)) % every < length
    return lognormal(rng, n) + met * rng.choice([1e5, 1e6, 4e7])


def draining(rng, n):
    """Stalls after which those that waited are answered at once, each after a shorter wait."""
    values = rng.normal(250e3, 5e3, n)
    for start in rng.integers(0, n, rng.integers(1, 6)):
        waited = np.arange(rng.uniform(1e6, 2e8), 0, -rng.uniform(2e5, 2e6))[: n - start]
        values[start : start + len(waited)] += waited
    return values


def warming(rng, n):
    """Long at first, then ever closer to a floor."""
    settled = rng.choice([3, 30, 1000])
    return lognormal(rng, n) * (1 + rng.choice([2.0, 100.0]) * np.exp(-np.arange(n) / settled))


def wide(rng, n):
    """All orders of magnitude alike, from a nanosecond to beyond the timeout."""
    return 10 ** rng.uniform(rng.choice([0.0, 3.0]), rng.choice([6.0, 9.0]), n)


SHAPES = (
    lognormal,
    exponential,
    bounded,
    heavy,
    bimodal,
    frames,
    discrete,
    constant,
    drifting,
    stepped,
    autoregressive,
    bursts,
    sawtooth,
    spikes,
    alternating,
    periodic,
    draining,
    warming,
    wide,
)

#: How many exchanges a point has: few samples are where statements are hardest.
LENGTHS = (1, 2, 3, 5, 8, 12, 30, 60, 200, 500, 1000, 1000, 2000, 4000, 8000)


def losses(rng, n):
    """A status for each exchange: mostly none, else single losses, bursts, damage, or nothing
    answered at all."""
    status = np.zeros(n, dtype=np.int64)
    kind = rng.random()
    if kind < 0.55:
        return status
    if kind < 0.70:
        status[rng.random(n) < rng.choice([0.001, 0.01, 0.2])] = LOST
    elif kind < 0.85:
        for start in rng.integers(0, n, rng.integers(1, 4)):
            status[start : start + rng.integers(1, 60)] = LOST
    elif kind < 0.97:
        status[rng.random(n) < 0.02] = CORRUPTED
        status[rng.random(n) < 0.02] = LOST
        status[rng.random(n) < 0.02] = REORDERED
    else:
        status[:] = LOST
    return status


def outstanding(rtt, depth: int, pause: int = 0):
    """Starts of exchanges of which `depth` are kept outstanding: each response starts the next,
    after a pause of the host."""
    start = np.zeros(len(rtt), dtype=np.int64)
    ends: list[int] = []
    for at, time in enumerate(rtt.tolist()):
        if len(ends) >= depth:
            start[at] = heapq.heappop(ends) + pause
        heapq.heappush(ends, int(start[at]) + time)
    return start


def point(rng, shape, n: int, timeout: int):
    """RTT and statuses of one point; lost ones waited for the timeout."""
    rtt = np.clip(shape(rng, n), 1, timeout - 1).astype(np.int64)
    status = losses(rng, n)
    rtt[status == LOST] = timeout
    return rtt, status


def end_early(path: Path, rng) -> None:
    """Make the last point of a stored run one that was cut short, with or without further ones in the plan."""
    file = path / "run.json"
    run = json.loads(file.read_text())
    error = "the device closed the link"
    failed = rng.random() < 0.5
    run["state"] = {"failed": {"error": error}} if failed else "interrupted"
    ending = {"how": "link-failed", "error": error} if failed else {"how": "interrupted"}
    run["points"][-1]["ending"] = ending
    further = int(rng.integers(0, 3))
    last = run["plan"]["points"][-1]
    for more in range(1, further + 1):
        point = {**last, "index": last["index"] + more, "depth": last["depth"] << more}
        run["plan"]["points"].append(point)
    file.write_text(json.dumps(run))


def run(seed: int, home: Path) -> tuple[Path, str]:
    """Write the generated run of this seed; gives its path and what it is."""
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    points = int(rng.choice([1, 1, 2, 4]))
    depths = [1, 2, 4, 8][:points] if rng.random() < 0.7 else [1] * points
    sizes = [64] * points if depths[-1] > 1 or points == 1 else [64, 256, 1024, 4096][:points]
    timeout = 500_000_000
    n = [int(rng.choice(LENGTHS)) for _ in range(points)]
    # Depth has a gain, none, or a cost, so that advice about it can be wrong.
    gain = rng.choice([0.0, 0.7, 1.0, 1.3])
    pause = rng.choice([0.0, 0.0, 0.0, 0.5, 2.0])
    parts = []
    for depth, count in zip(depths, n, strict=True):
        rtt, status = point(rng, shape, count, timeout)
        slower = depth**gain
        answered = status != LOST
        rtt[answered] = np.clip(rtt[answered] * slower, 1, timeout - 1).astype(np.int64)
        parts.append((rtt, status, outstanding(rtt, depth, int(pause * np.median(rtt)))))
    interval = None
    if depths[-1] == 1 and rng.random() < 0.3:
        interval = int(np.median(parts[0][0]) * rng.choice([0.8, 1.2, 3.0]))
    # A run that ended early: what was outstanding at its last point waited for a moment only.
    cut = rng.random() < 0.15
    if cut:
        rtt, status, _ = parts[-1]
        last = slice(max(0, len(rtt) - depths[-1]), None)
        rtt[last] = np.minimum(rtt[last], rng.integers(1_000, 100_000))
        status[last] = LOST
    limits = [int(np.quantile(parts[0][0], q)) + 1 for q in (0.1, 0.5, 0.99)]
    device = None
    if seed // 10 % 2:
        share = np.random.default_rng(seed + 2_000_000_011).choice([0.1, 0.5, 0.95])
        device = [(part[0] * share).astype(np.int64) for part in parts]
    path = write_exchange_run(
        home / f"{seed:06}-{shape.__name__}",
        [part[0] for part in parts],
        [part[1] for part in parts],
        interval,
        start_ns=[part[2] for part in parts] if interval is None else None,
        out_bytes=sizes,
        in_bytes=sizes,
        depth=depths,
        timeout_ns=timeout,
        below_ns=sorted(set(limits)),
        device_ns=device,
        by_end=True,
    )
    if cut:
        end_early(path, rng)
    text = f"seed {seed}: {shape.__name__}, n {n}, depths {depths}, interval {interval}, cut {cut}"
    return path, text
