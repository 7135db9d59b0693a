"""Coverage of the confidence intervals: how often they contain the true value.

Series with a known truth (numpy, scipy) go to `crates/stats/examples/intervals.rs`, which prints
the intervals of the crate that every command uses. The truth is computed here, from the
distribution that a series was drawn from.

A 95 % interval must contain the truth in 93 to 97 of 100 runs. Above that it is only wider than
needed (a percentile lies between samples, so few samples allow no interval of exactly 95 %); below
that it is wrong. A run for which the tool gives no bound on a side makes no claim there, and cannot
be wrong.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import signal, stats

ROOT = Path(__file__).resolve().parent.parent
MS = 1e6
NAMES = ("mean", "p50", "p90", "p99", "p99.9")
PERCENTILES = (0.5, 0.9, 0.99, 0.999)

# A 95 % interval may be wrong this often, and a check fails where chance explains more than that in
# fewer than one check of a thousand.
WRONG = 0.07
BY_CHANCE = 1e-3

# Where fewer runs than SELDOM have both bounds, the coverage of these is printed too: which runs
# have them is no accident. From HARDLY_EVER on it is judged, and so many may be wrong; where fewer
# have them, those are the runs least like the others (docs/statistics.md, *Measured coverage*).
SELDOM, HARDLY_EVER = 0.5, 0.1
WRONG_WHERE_SELDOM = 0.15
# Of fewer no coverage is printed.
FEWEST_GIVEN = 10


@functools.cache
def program():
    """The example program of the crate, built if it is not there."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = target / "release" / "examples" / "intervals"
    command = ["cargo", "build", "--release", "--locked", "--quiet"]
    command += ["-p", "wiregauge-stats", "--example", "intervals"]
    subprocess.run(command, cwd=ROOT, check=True)
    return built


def ask(requests):
    """Answers to requests: pairs of a line and an array of values in nanoseconds."""
    parts = []
    for line, values in requests:
        parts += [line.encode() + b"\n", np.ascontiguousarray(values, dtype="<u8").tobytes()]
    done = subprocess.run([program()], input=b"".join(parts), stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def generator(*names):
    """Random numbers that depend on these names and on nothing else."""
    return np.random.default_rng(np.frombuffer(repr(names).encode(), dtype=np.uint8))


class Marginal:
    """What single responses follow: its inverse distribution function, in nanoseconds."""

    def __init__(self, name, ppf, mean):
        self.name, self.ppf, self.mean = name, ppf, mean

    def truths(self):
        """The true mean and percentiles."""
        return [self.mean, *(float(self.ppf(np.array([p]))[0]) for p in PERCENTILES)]


def of_scipy(name, frozen):
    """A distribution of scipy, in milliseconds."""
    return Marginal(name, lambda u: MS * frozen.ppf(u), MS * frozen.mean())


def mixture(name, parts):
    """A mixture of distributions of scipy in milliseconds: pairs of a weight and a distribution."""

    def cdf(x):
        return sum(weight * part.cdf(x) for weight, part in parts)

    low = min(part.ppf(1e-9) for _, part in parts)
    high = max(part.ppf(1 - 1e-9) for _, part in parts)
    at = np.linspace(np.log(low), np.log(high), 20_001)
    below = cdf(np.exp(at))
    logit = np.log(below) - np.log1p(-below)

    def ppf(u):
        return MS * np.exp(np.interp(np.log(u) - np.log1p(-u), logit, at))

    return Marginal(name, ppf, MS * sum(weight * part.mean() for weight, part in parts))


def whole_milliseconds():
    """Frames of 1 ms: the response comes in the first, the second, ... of them."""
    geometric = stats.geom(0.5)
    return Marginal("whole ms", lambda u: MS * geometric.ppf(u), MS * geometric.mean())


LOG_NORMAL = of_scipy("log-normal", stats.lognorm(0.5))
EXPONENTIAL = of_scipy("exponential", stats.expon(loc=0.2))
BIMODAL = mixture("bimodal", [(0.7, stats.lognorm(0.1)), (0.3, stats.lognorm(0.1, scale=4.0))])


def independent(random, n):
    """Shares below the value: uniform."""
    return random.random(n)


def autoregression(phi):
    """A Gaussian autoregression of first order, each value turned into a share."""

    def draw(random, n):
        noise = random.standard_normal(n) * np.sqrt(1 - phi * phi)
        noise[0] = random.standard_normal()
        return stats.norm.cdf(signal.lfilter([1.0], [1.0, -phi], noise))

    draw.name, draw.phi = f"autoregression {phi}", phi
    return draw


independent.name = "independent"

# Bursts: a calm response starts with this probability a stretch of so many, ten times as long.
BURST_STARTS, BURST_LENGTH = 0.002, 20
BURST_SHARE = BURST_LENGTH / (BURST_LENGTH + (1 - BURST_STARTS) / BURST_STARTS)
BURSTS = mixture(
    "bursts",
    [(1 - BURST_SHARE, stats.lognorm(0.5)), (BURST_SHARE, stats.lognorm(0.5, scale=10.0))],
)


def in_bursts(random, n):
    """Which of n responses belong to a burst."""
    long = np.zeros(n, dtype=bool)
    at = -int(random.integers(BURST_LENGTH)) if random.random() < BURST_SHARE else None
    if at is None:
        at = random.geometric(BURST_STARTS) - 1
    while at < n:
        long[max(at, 0) : at + BURST_LENGTH] = True
        at += BURST_LENGTH + random.geometric(BURST_STARTS) - 1
    return long


def burst_values(random, n):
    """Responses in bursts, in nanoseconds."""
    calm = np.exp(0.5 * random.standard_normal(n))
    return MS * calm * np.where(in_bursts(random, n), 10.0, 1.0)


class Shape:
    """How a series comes about: a marginal distribution and an order in time."""

    def __init__(self, marginal, order):
        self.marginal, self.order = marginal, order
        self.name = f"{marginal.name}, {order.name}" if order else marginal.name

    def draw(self, random, n):
        """A series in whole nanoseconds."""
        if self.order is None:
            return np.rint(burst_values(random, n)).astype(np.uint64)
        return np.rint(self.marginal.ppf(self.order(random, n))).astype(np.uint64)

    def events(self, n):
        """How many independent events a run of n has in the mean."""
        if self.order is None:
            return n * BURST_STARTS
        phi = getattr(self.order, "phi", 0.0)
        return n * (1 - phi) / (1 + phi)


SHAPES = [
    Shape(LOG_NORMAL, independent),
    Shape(LOG_NORMAL, autoregression(0.5)),
    Shape(LOG_NORMAL, autoregression(0.9)),
    Shape(LOG_NORMAL, autoregression(0.99)),
    Shape(EXPONENTIAL, independent),
    Shape(BIMODAL, independent),
    Shape(BIMODAL, autoregression(0.9)),
    Shape(whole_milliseconds(), independent),
    Shape(whole_milliseconds(), autoregression(0.9)),
    Shape(BURSTS, None),
]

# A run of fewer events does not show how they come: no method knows from such a run alone, and the
# row is printed but not judged (docs/statistics.md, *Measured coverage*).
FEWEST_EVENTS = 10

# Shares of late responses whose interval is checked.
LATE = (0.5, 0.1, 0.01, 0.001)


class Count:
    """How often an interval was given, and how often it was wrong."""

    def __init__(self):
        self.runs = self.both = self.none = self.wrong = self.wrong_both = 0

    def add(self, low, high, truth, slack=0.0):
        """One interval; a bound that is None makes no claim."""
        self.runs += 1
        both = low is not None and high is not None
        self.both += both
        self.none += low is None and high is None
        below = low is not None and truth < low - slack
        wrong = bool(below or (high is not None and truth > high + slack))
        self.wrong += wrong
        self.wrong_both += wrong and both

    def fails(self):
        """Whether it was wrong more often than chance explains."""
        return stats.binom.sf(self.wrong - 1, max(self.runs, 1), WRONG) < BY_CHANCE

    def fails_where_seldom(self):
        """The same of those with both bounds, where few runs have them."""
        if not HARDLY_EVER * self.runs <= self.both < SELDOM * self.runs:
            return False
        return stats.binom.sf(self.wrong_both - 1, self.both, WRONG_WHERE_SELDOM) < BY_CHANCE

    def text(self):
        """How many runs were not wrong, and in brackets how many have both bounds, if not all;
        where these are few, also how many of them are not wrong."""
        if self.none == self.runs:
            return "-"
        right = 100 * (1 - self.wrong / self.runs)
        if self.both == self.runs:
            return f"{right:.1f} %"
        given = f"{100 * self.both / self.runs:.0f} %"
        if FEWEST_GIVEN <= self.both < SELDOM * self.runs:
            given += f": {100 * (1 - self.wrong_both / self.both):.0f} %"
        return f"{right:.1f} % ({given})"


def batches(seeds, n):
    """Seeds in batches whose series take at most 64 MB."""
    step = max(1, 8_000_000 // n)
    return [range(at, min(at + step, seeds)) for at in range(0, seeds, step)]


def figures(late):
    """The figures whose intervals are checked."""
    missed = [f"missed {share:g}" for share in late]
    return (*NAMES, *missed, *(f"below {1 - share:g}" for share in late))


def cover(shape, n, seeds):
    """Counts of each figure for series of n."""
    truths = shape.marginal.truths()
    # Shares at which the deadline lies between two values, so that the truth has no doubt.
    limits = [float(shape.marginal.ppf(np.array([1 - late]))[0]) for late in LATE]
    late = [true_share(shape, limit) for limit in limits]
    below = [1 - true_share(shape, limit - 1) for limit in limits]
    counts = {name: Count() for name in figures(LATE)}
    # A response of the deadline itself is in time, one of the limit is not below it.
    words = " ".join(str(round(limit)) for limit in limits)
    for batch in batches(seeds, n):
        series = (shape.draw(generator("coverage", shape.name, n, seed), n) for seed in batch)
        for answer in ask((f"summary {n} {words}", values) for values in series):
            found = answer["distribution"]
            keys = ("mean", "p50", "p90", "p99", "p999")
            for name, key, truth in zip(NAMES, keys, truths):
                # Values are whole nanoseconds.
                counts[name].add(found[key]["low"], found[key]["high"], truth, 0.5)
            for asked, share, interval in zip(LATE, late, answer["missed"]):
                counts[f"missed {asked:g}"].add(interval["low"], interval["high"], share)
            for asked, share, interval in zip(LATE, below, answer["below"]):
                counts[f"below {1 - asked:g}"].add(interval["low"], interval["high"], share)
    return counts


def true_share(shape, limit):
    """The share of responses that take longer than this."""
    if shape.marginal.name == "whole ms":
        return float(stats.geom(0.5).sf(np.floor(limit / MS)))
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if shape.marginal.ppf(np.array([middle]))[0] <= limit:
            low = middle
        else:
            high = middle
    return 1 - low


def as_printed():
    """What differs between the intervals of the example and those that the program prints."""
    import common

    shape = Shape(LOG_NORMAL, independent)
    n, limit = 2000, round(2.5 * MS)
    series = [shape.draw(generator("as printed", seed), n) for seed in range(3)]
    differs = []
    with tempfile.TemporaryDirectory() as folder:
        run = common.write_exchange_run(Path(folder) / "run", series)
        points = json.loads((run / "run.json").read_text())["points"]
        flags = ("--period", "1s", "--deadline", f"{limit}ns")
        missed = common.wiregauge("deadline", run, *flags, json=True)["points"]
        answers = ask((f"summary {n} {limit}", values) for values in series)
        tails = ask((f"tail {n} {limit}", values) for values in series)
        for at, (answer, tail) in enumerate(zip(answers, tails, strict=True)):
            printed, found = points[at]["rtt"], answer["distribution"]
            for key in ("mean", "p50", "p90", "p99", "p999"):
                if printed[key] != found[key]:
                    differs.append(f"{key} of series {at}: {printed[key]}, {found[key]}")
            if missed[at]["share"] != answer["missed"][0]:
                differs.append(f"missed of series {at}: {missed[at]['share']}")
            if missed[at]["beyond"]["tail"] != tail["tail"]:
                differs.append(f"tail of series {at}: {missed[at]['beyond']['tail']}")
    return differs


QUICK = {50: 200, 200: 200, 1000: 100}
FULL = {50: 1000, 200: 1000, 1000: 1000, 10_000: 500, 100_000: 200}


def main(quick):
    """Rows of the table, and what failed."""
    rows, failures = [], [f"not as printed: {text}" for text in as_printed()]
    for n, seeds in (QUICK if quick else FULL).items():
        for shape in SHAPES:
            counts = cover(shape, n, seeds)
            rows.append((n, shape.name, *(count.text() for count in counts.values())))
            print(" | ".join(str(cell) for cell in rows[-1]), flush=True)
            for name, count in counts.items():
                if shape.events(n) < FEWEST_EVENTS:
                    continue
                where = f"{name} of {n:,} samples, {shape.name}"
                if count.fails():
                    failures.append(f"{where}: wrong in {count.wrong} of {count.runs} runs")
                if count.fails_where_seldom():
                    wrong = f"wrong in {count.wrong_both} of {count.both} with both bounds"
                    failures.append(f"{where}: {wrong}")
    return rows, failures


if __name__ == "__main__":
    found = main("--full" not in sys.argv)
    print("\n".join(found[1]))
    sys.exit(bool(found[1]))
