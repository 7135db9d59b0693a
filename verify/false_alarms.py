"""False alarms of a comparison, and shifts that it must find.

Two sides that are the same must seldom differ: at most in 5 of 100 comparisons of mean, p50, p90,
p99, p99.9 and the share of lost exchanges, whatever the order of the samples. A shift of 5 % in
10,000 samples must be found, by the mean and by the p50. And the 95 % interval of a single
difference must contain the true one.
"""

import sys

import numpy as np
from scipy import stats

import coverage
from coverage import (
    BY_CHANCE,
    FEWEST_EVENTS,
    MS,
    Count,
    Shape,
    ask,
    autoregression,
    batches,
    generator,
)

FIGURES = ("mean", "p50", "p90", "p99", "p99.9", "lost")
ALARMS = 0.05
# A shift is found in at least this part of the comparisons.
FOUND = 0.9
TIMEOUT = 200 * MS

# A level that wanders by so much (SD) over all runs of both sides.
DRIFT = 0.02
RUNS = 4


class Case:
    """How the runs of both sides come about."""

    def __init__(self, name, draw, runs=1, events=lambda n: n):
        self.name, self.draw, self.runs, self.events = name, draw, runs, events

    def sides(self, random, n):
        """The runs of both sides, measured alternately."""
        runs = self.draw(random, n, 2 * self.runs)
        return runs[0::2] + runs[1::2]


def of_shape(shape):
    """One run a side of a series."""

    def draw(random, n, runs):
        return [shape.draw(random, n) for _ in range(runs)]

    return Case(shape.name, draw, events=shape.events)


def stalls(starts, longest):
    """Stalls that lose up to so many exchanges in a row; a lost one has no time."""

    def draw(random, n, runs):
        series = []
        for _ in range(runs):
            values = MS * np.exp(0.5 * random.standard_normal(n))
            for at in np.flatnonzero(random.random(n) < starts):
                values[at : at + random.integers(1, longest + 1)] = TIMEOUT
            series.append(np.rint(values).astype(np.uint64))
        return series

    name = f"{starts:g} stalls an exchange, up to {longest} lost"
    return Case(name, draw)


def drifting(runs):
    """Interleaved runs of a device whose level drifts slowly over all of them."""

    def draw(random, n, runs):
        steps = np.cumsum(random.standard_normal(n * runs))
        level = DRIFT * (steps - steps.mean()) / steps.std()
        values = MS * np.exp(0.2 * random.standard_normal(n * runs) + level)
        return np.split(np.rint(values).astype(np.uint64), runs)

    return Case(f"drift, {runs} runs a side", draw, runs)


def quiet(phi):
    """A jitter of a tenth."""
    return Shape(coverage.of_scipy("quiet", stats.lognorm(0.1)), autoregression(phi))


CASES = [of_shape(shape) for shape in coverage.SHAPES]
CASES += [of_shape(quiet(0.9))]
CASES += [stalls(0.0005, 1), stalls(0.0005, 40), stalls(0.002, 40)]
CASES += [drifting(RUNS)]
SHIFTED = [
    of_shape(shape)
    for shape in (Shape(coverage.LOG_NORMAL, coverage.independent), quiet(0.0), quiet(0.9))
]


def asked(case, n, pair, family, scale=1.0):
    """A request, and the values of both sides; those of the second are so many times as large."""
    runs = case.sides(generator("compare", case.name, n, pair), n)
    if scale != 1.0:
        later = runs[len(runs) // 2 :]
        runs = runs[: len(runs) // 2] + [np.rint(run * scale).astype(np.uint64) for run in later]
    line = f"compare {family} {round(TIMEOUT)} {n} {case.runs} {case.runs}"
    return line, np.concatenate(runs)


def differs(difference):
    """Whether the interval excludes that there is none."""
    if difference is None:
        return False
    low, high = difference["absolute"]["low"], difference["absolute"]["high"]
    return (low is not None and low > 0) or (high is not None and high < 0)


def alarms(case, n, pairs):
    """How many pairs differ in any figure, and how often the interval of each alone is wrong."""
    found, counts = 0, {name: Count() for name in FIGURES}
    for batch in batches(pairs, 4 * case.runs * n):
        requests = [asked(case, n, pair, family) for pair in batch for family in (len(FIGURES), 1)]
        answers = ask(requests)
        for together, alone in zip(answers[0::2], answers[1::2], strict=True):
            found += any(differs(difference) for difference in together["differences"])
            for name, difference in zip(FIGURES, alone["differences"], strict=True):
                bounds = difference["absolute"] if difference else {"low": None, "high": None}
                counts[name].add(bounds["low"], bounds["high"], 0.0)
    return found, counts


def power(case, n, pairs):
    """How often a shift of 5 % is found by the mean and by the p50."""
    found = [0, 0]
    for batch in batches(pairs, 2 * n):
        for answer in ask(asked(case, n, pair, len(FIGURES), 1.05) for pair in batch):
            for at in range(2):
                low = answer["differences"][at]["absolute"]["low"]
                found[at] += low is not None and low > 0
    return found


def main(quick):
    """Rows of the table, and what failed."""
    sizes = {1000: 60} if quick else {300: 400, 1000: 400, 10_000: 150, 100_000: 20}
    rows, failures = [], []
    for n, pairs in sizes.items():
        for case in CASES:
            found, counts = alarms(case, n, pairs)
            cells = [f"{100 * found / pairs:.1f} %", *(count.text() for count in counts.values())]
            rows.append((n, case.name, *cells))
            print(" | ".join(str(cell) for cell in rows[-1]), flush=True)
            if stats.binom.sf(found - 1, pairs, ALARMS) < BY_CHANCE:
                failures.append(f"{found} of {pairs} pairs of {n:,}, {case.name}: false alarms")
            for name, count in counts.items():
                if count.fails() and case.events(n) >= FEWEST_EVENTS:
                    wrong = f"wrong in {count.wrong} of {count.runs}"
                    failures.append(f"difference of {name} of {n:,}, {case.name}: {wrong}")
    pairs = 20 if quick else 100
    for case in SHIFTED:
        found = power(case, 10_000, pairs)
        rows.append((10_000, case.name, *(f"{100 * count / pairs:.0f} %" for count in found)))
        print("5 % found: " + " | ".join(str(cell) for cell in rows[-1]), flush=True)
        for name, count in zip(FIGURES, found):
            if stats.binom.cdf(count, pairs, FOUND) < BY_CHANCE:
                failures.append(f"5 % more by the {name}, {case.name}: found in {count} of {pairs}")
    return rows, failures


if __name__ == "__main__":
    problems = main("--full" not in sys.argv)[1]
    print("\n".join(problems))
    sys.exit(bool(problems))
