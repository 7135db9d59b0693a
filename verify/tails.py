"""Tails continued beyond the data: what `deadline` and the buffers of `stream --loss` print.

At least 90 of 100 intervals must contain the truth, for eight distributions, for limits and levels
that the run did not reach. The truth is that of the distribution, which is what a series without
end would show. For discrete values, and for mixtures whose rare part lies apart, nothing may be
printed.
"""

import sys

import numpy as np
from scipy import stats

from coverage import BY_CHANCE, MS, ask, batches, generator

WRONG = 0.1
# A mixture passes each of a few tests at 1 % by chance.
REFUSED = 0.98

EIGHT = {
    "uniform": stats.uniform(loc=1),
    "half-normal": stats.halfnorm(loc=0.5),
    "exponential": stats.expon(loc=0.5),
    "Weibull, shape 0.7": stats.weibull_min(0.7, loc=0.5),
    "gamma, shape 3": stats.gamma(3),
    "log-normal, sigma 0.5": stats.lognorm(0.5),
    "log-normal, sigma 1": stats.lognorm(1.0),
    "Pareto, shape 0.3": stats.genpareto(0.3, loc=0.5),
}
# How often a run exceeds the limit in the mean: those that did not are asked.
SELDOM = (1.0, 0.3, 0.1, 0.03)
# One in so many runs exceeds the level.
RARE = (3.0, 10.0)


def shares(order, random, n):
    """Shares that are exceeded, in time order."""
    if order == "independent":
        return random.random(n)
    # A moving maximum with an extremal index of 0.5: long values come in clusters of two.
    frechet = -1 / np.log(random.random(n + 60))
    weights = 0.5 ** np.arange(60)
    largest = np.zeros(n)
    for lag, weight in enumerate(weights):
        np.maximum(largest, 0.5 * weight * frechet[60 - lag : 60 - lag + n], out=largest)
    return -np.expm1(-1 / largest)


def whole(values):
    """In whole nanoseconds."""
    return np.rint(values).astype(np.uint64)


class Held:
    """How many intervals were printed, and how many of them were wrong."""

    def __init__(self):
        self.runs = self.printed = self.wrong = 0

    def add(self, interval, truth):
        """None: nothing was printed."""
        self.runs += 1
        if interval is not None:
            low, high = interval
            self.printed += 1
            self.wrong += not (low or 0.0) <= truth <= (np.inf if high is None else high)

    def fails(self):
        """Whether more than the allowed part was wrong, beyond chance.

        Where fewer than a tenth of the runs print an interval, it is that part of all runs."""
        of = self.printed if self.printed >= 0.1 * self.runs else self.runs
        return stats.binom.sf(self.wrong - 1, max(of, 1), WRONG) < BY_CHANCE

    def text(self):
        """How many held, and how many were printed."""
        if self.printed < max(0.05 * self.runs, 1):
            return "-"
        held = 100 * (1 - self.wrong / self.printed)
        return f"{held:.0f} % ({100 * self.printed / self.runs:.0f} %)"


def exceeding(answer):
    """The interval of a share, or None where counting answers it."""
    return (0.0, answer["than"]) if answer["how"] == "rarer" else None


def deadline(name, order, n, seeds):
    """Intervals of the share over a limit, and of the level that one in so many exceeds."""
    distribution = EIGHT[name]
    limits = [distribution.isf(seldom / n) * MS for seldom in SELDOM]
    rarities = [rare * n for rare in RARE]
    of_limits, of_levels = [Held() for _ in SELDOM], [Held() for _ in RARE]
    words = [" ".join(f"{x:.17g}" for x in numbers) for numbers in (limits, rarities)]
    for batch in batches(seeds, 2 * n):
        requests = []
        for seed in batch:
            drawn = shares(order, generator("tails", name, order, n, seed), n)
            values = whole(MS * distribution.isf(drawn))
            requests += [(f"tail {n} {words[0]}", values), (f"levels {n} {words[1]}", values)]
        answers = ask(requests)
        for tail, levels in zip(answers[0::2], answers[1::2], strict=True):
            for at, seldom in enumerate(SELDOM):
                found = tail["exceeding"]
                interval = exceeding(found[at]) if found else None
                of_limits[at].add(interval, seldom / n)
            for at, rarity in enumerate(rarities):
                found = (levels["levels"] or [None] * len(RARE))[at]
                interval = (0.0, found) if found else None
                of_levels[at].add(interval, distribution.isf(1 / rarity) * MS)
    return of_limits + of_levels


def whole_milliseconds(random, n):
    """A clock of whole milliseconds."""
    return np.ceil(1.5 * random.exponential(size=n)) * MS


def polled(random, n):
    """A device that is polled each millisecond, with some jitter."""
    return whole_milliseconds(random, n) + 5e4 * random.random(n)


def frames(random, n):
    """Whole frames, several in a row alike."""
    return np.repeat(whole_milliseconds(random, n // 5), 5)


def ticks(random, n):
    """A clock of 50 us, with a tail of 0.3 ms."""
    return np.ceil(6 * random.exponential(size=n)) * 5e4


def two_causes(rare):
    """Exponential around 0.3 ms; so many wait for a time slice of 4 ms besides."""

    def draw(random, n):
        sliced = random.random(n) < rare / n
        return 2e5 + 4e6 * sliced + 1e5 * random.exponential(size=n)

    draw.__name__ = f"two causes, {rare} of the rare one"
    return draw


DISCRETE = (whole_milliseconds, polled, frames, ticks)
MIXED = (two_causes(10), two_causes(20), two_causes(40))


def refused(draw, n, seeds):
    """How many series have no tail."""
    count = 0
    for batch in batches(seeds, n):
        series = (whole(draw(generator(draw.__name__, n, seed), n)) for seed in batch)
        answers = ask((f"tail {len(values)}", values) for values in series)
        count += sum(answer["tail"] is None for answer in answers)
    return count


# Buffers: one byte a microsecond, so that a gap of 1 ms makes 1,000 B.
RATE = 1_000_000
LOSSES = (1e-2, 1e-3, 1e-4, 1e-5)
# Levels that this part exceeds with Pareto gaps, P(> x) = (1 + x / 2 ms)^-3, at a load of 0.5: from
# a simulation of 10^9 transfers.
HEAVY = {1e-2: 20_820.0, 1e-3: 64_970.0, 1e-4: 203_900.0}


def backlog(gaps, takes):
    """The level after each transfer, Lindley's equation from an empty buffer."""
    steps = np.cumsum(gaps - takes)
    return steps - np.minimum(np.minimum.accumulate(steps), 0)


def unlike_fifo(drawn, takes, answer):
    """What the program says of a series that differs from a FIFO buffer of our own."""
    # In thousandths of a byte, one for each nanosecond at this rate: exact.
    gaps, takes = drawn.astype(np.int64), 1000 * takes
    after = backlog(gaps, takes)
    before = np.concatenate(([0], after[:-1])) + gaps
    ordered, n = np.sort(before), len(before)
    differs = []
    for loss, need in zip(LOSSES, answer["needs"], strict=True):
        if need["worst"] != -(-int(ordered[-1]) // 1000):
            differs.append(f"worst {need['worst']} B, {ordered[-1] / 1000} B")
        made = int(gaps.sum())
        if need["sustained"] != bool((n + 1) * takes + made // 10_000 >= made):
            differs.append(f"sustained: {need['sustained']}")
        if need["for_loss"] is None or need["extrapolated"]:
            continue
        level = ordered[min(max(int(np.ceil(n * (1 - loss) - 1)), 0), n - 1)] / 1000
        if abs(need["for_loss"]["value"] / level - 1) > 1e-6:
            differs.append(f"loss {loss:g}: {need['for_loss']['value']} B, {level} B")
    return differs


def loaded_truth(loss, load):
    """The level before a transfer, with exponential gaps of 1,000 B: exponential (queue D/M/1)."""
    root = 0.5
    for _ in range(200):
        root = np.exp(-(1 - root) / load)
    return -1000 * np.log(loss) / (1 - root)


def buffer(name, load, n, seeds):
    """Intervals of the buffer for each loss, with load 0 each transfer empties it; and what differs
    from a buffer of our own."""
    heavy = stats.genpareto(1 / 3, scale=2 / 3 * 1000)
    gaps = {"exponential": stats.expon(scale=1000), "Pareto": heavy}.get(name)
    if load == 0:
        gaps = EIGHT[name]
        truths = [1000 * gaps.isf(loss) for loss in LOSSES]
        takes, scale = 1_000_000_000, 1000
    else:
        truths = [HEAVY.get(x) if name == "Pareto" else loaded_truth(x, load) for x in LOSSES]
        takes, scale = round(1000 / load), 1
    found, differs = [Held() for _ in LOSSES], []
    losses = " ".join(f"{loss:g}" for loss in LOSSES)
    for batch in batches(seeds, n):
        requests = []
        for seed in batch:
            random = generator("buffer", name, load, n, seed)
            before, drawn = np.split(scale * gaps.isf(random.random(2000 + n)), [2000])
            if load:
                # The level at the start stands for a longer first gap.
                drawn[0] += backlog(before, takes)[-1]
            requests.append((f"buffer {n} {RATE} {takes} {losses}", whole(1000 * drawn)))
        for (_, drawn), answer in zip(requests, ask(requests), strict=True):
            differs += unlike_fifo(drawn, takes, answer)
            for at, need in enumerate(answer["needs"]):
                printed = need["for_loss"]
                interval = (printed["low"], printed["high"]) if printed else None
                if truths[at] is not None:
                    found[at].add(interval, truths[at])
    return found, differs


def buffer_refused(draw, n, seeds):
    """How many series of discrete gaps have no buffer beyond the data."""
    count = 0
    for batch in batches(seeds, n):
        series = (whole(draw(generator("gaps", draw.__name__, n, seed), n)) for seed in batch)
        losses = " ".join(f"{loss:g}" for loss in LOSSES)
        answers = ask((f"buffer {len(v)} {RATE} 1000000000 {losses}", v) for v in series)
        count += sum(not any(need["extrapolated"] for need in a["needs"]) for a in answers)
    return count


LOADED = (("exponential", 0.8), ("Pareto", 0.5))
# Order, samples of a run, runs.
QUICK = [("independent", 2000, 40)]
FULL = [
    ("independent", 1000, 300),
    ("independent", 10_000, 200),
    ("independent", 100_000, 40),
    ("clusters", 10_000, 150),
]


def main(quick):
    """Rows of the tables, and what failed."""
    rows, failures = [], []

    def row(what, cells):
        rows.append((what, *cells))
        print(" | ".join((what, *cells)), flush=True)

    def judge(what, columns, found):
        row(what, [held.text() for held in found])
        for column, held in zip(columns, found):
            if held.fails():
                wrong = f"wrong in {held.wrong} of {held.printed} printed"
                failures.append(f"{what}, {column}: {wrong}")

    columns = [f"limit {x:g}/n" for x in SELDOM] + [f"level 1 in {x:g} n" for x in RARE]
    for order, n, seeds in QUICK if quick else FULL:
        for name in EIGHT:
            judge(f"{n:,}, {name}, {order}", columns, deadline(name, order, n, seeds))
    columns = [f"loss {loss:g}" for loss in LOSSES]
    jobs = [(10_000, 20)] if quick else [(1000, 200), (10_000, 100), (100_000, 30)]
    for n, seeds in jobs:
        for name, load in [(name, 0) for name in EIGHT] + list(LOADED):
            what = f"buffer, {n:,}, {name}" + (f", load {load}" if load else "")
            found, differs = buffer(name, load, n, seeds)
            judge(what, columns, found)
            if differs:
                failures.append(f"{what}: {len(differs)} differ from a FIFO: {differs[0]}")
    n, seeds = (10_000, 20) if quick else (20_000, 100)
    for draw in DISCRETE:
        for kind, refuse in (("deadline", refused), ("buffer", buffer_refused)):
            count = refuse(draw, n, seeds)
            row(f"{kind}, {n:,}, {draw.__name__}", [f"{100 * count / seeds:.0f} % refused"])
            if count < seeds:
                failures.append(f"{kind}, {draw.__name__}: {seeds - count} of {seeds} printed")
    for draw in MIXED:
        count = refused(draw, n, seeds)
        row(f"deadline, {n:,}, {draw.__name__}", [f"{100 * count / seeds:.0f} % refused"])
        if stats.binom.cdf(count, seeds, REFUSED) < BY_CHANCE:
            failures.append(f"deadline, {draw.__name__}: {seeds - count} of {seeds} printed")
    return rows, failures


if __name__ == "__main__":
    problems = main("--full" not in sys.argv)[1]
    print("\n".join(problems))
    sys.exit(bool(problems))
