"""Hard real time, soft real time, or neither: the rule of docs/targets.md, on counted figures.

Apart from everything that measures, so that it can be held against made-up data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

HARD, SOFT, NEITHER, UNKNOWN = "hard", "soft", "neither", "cannot tell"


@dataclass(frozen=True)
class Rule:
    """What is asked. `deadline_ns` comes from the application; the rest is stated in docs/targets.md."""

    deadline_ns: float
    # One-sided, of each bound by itself.
    confidence: float = 0.95
    # The share of misses that may at most be possible, with that confidence.
    hard_share: float = 1e-3
    soft_share: float = 1e-2
    # Hard: the longest so many times under the deadline, and at most so many medians long.
    headroom: float = 2.0
    spread: float = 10.0
    # Soft: misses in a row. PROFINET IO's usual watchdog accepts three update cycles without data.
    in_a_row: int = 3


@dataclass(frozen=True)
class Seen:
    """What a periodic loop saw, or the device's own clock."""

    n: int
    # How many independent exchanges they are worth (docs/statistics.md).
    effective_n: float
    # Not answered right within the deadline, the unanswered ones included.
    misses: int
    unanswered: int
    longest_run_of_misses: int
    median_ns: float
    longest_ns: float
    # Misses in a row are one bout; 0 where they were not distinguished.
    bouts: int = 0


@dataclass(frozen=True)
class Verdict:
    """The word, why, and between which bounds the share of misses lies (each one-sided)."""

    word: str
    why: str
    share_low: float
    share_high: float


def at_most(k: int, n: int, p: float) -> float:
    """Probability of at most `k` misses in `n` independent exchanges that each miss with probability `p`."""
    if p <= 0 or k >= n:
        return 1.0
    if p >= 1:
        return 0.0
    log_p, log_q = math.log(p), math.log1p(-p)
    choose = math.lgamma(n + 1)
    terms = (
        math.exp(choose - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * log_p + (n - i) * log_q)
        for i in range(k + 1)
    )
    return min(1.0, math.fsum(terms))


def share_at_most(k: int, n: int, confidence: float) -> float:
    """Return the upper bound of the share of misses after `k` in `n`.

    Clopper & Pearson, Biometrika 26:404, 1934. For none it is 1 - (1 - confidence)^(1/n), the rule of
    three: some 3/n at 95 % (Hanley & Lippman-Hand, JAMA 249:1743, 1983).
    """
    return 1.0 if k >= n else _where(lambda p: at_most(k, n, p) > 1 - confidence)


def share_at_least(k: int, n: int, confidence: float) -> float:
    """Return the lower bound of the share of misses after `k` in `n`; 0 after none."""
    return 0.0 if k <= 0 else _where(lambda p: at_most(k - 1, n, p) > confidence)


def _where(holds: Callable[[float], bool]) -> float:
    """Return the share up to which a condition holds that holds for small ones."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return (low + high) / 2


def needed(share: float, confidence: float) -> int:
    """How many independent exchanges without a miss bound their share by this."""
    return math.ceil(math.log(1 - confidence) / math.log1p(-share))


def judge(seen: Seen, rule: Rule) -> Verdict:
    """Apply the rule."""
    if seen.n == 0:
        return Verdict(UNKNOWN, "nothing was measured", 0.0, 1.0)
    # Neighbours depend on each other: n exchanges bound no more than the independent ones they are worth, and
    # the misses of a bout are one event.
    bout = max(1.0, seen.misses / seen.bouts) if seen.bouts else 1.0
    trials = max(1, math.floor(min(seen.n, seen.effective_n, seen.n / bout)))
    scaled = seen.misses * trials / seen.n
    high = share_at_most(math.ceil(scaled), trials, rule.confidence)
    low = share_at_least(math.floor(scaled), trials, rule.confidence)

    def verdict(word: str, why: str) -> Verdict:
        return Verdict(word, why, low, high)

    misses = f"{seen.misses:,} of {seen.n:,} missed"
    if low > rule.soft_share:
        return verdict(NEITHER, f"{misses}: at least {low:.2%} do")
    if seen.longest_run_of_misses > rule.in_a_row:
        return verdict(NEITHER, f"{seen.longest_run_of_misses:,} misses in a row")
    if high > rule.soft_share:
        if seen.misses == 0:
            enough = needed(rule.soft_share, rule.confidence)
            return verdict(
                UNKNOWN, f"no miss, but only {trials:,} independent exchanges of {enough:,} needed"
            )
        return verdict(UNKNOWN, f"{misses}: up to {high:.2%} may")
    against = _against_hard(seen, rule, trials, high)
    return (
        verdict(SOFT, against) if against else verdict(HARD, f"no miss in {seen.n:,}: at most {high:.3%} may")
    )


def _against_hard(seen: Seen, rule: Rule, trials: int, high: float) -> str:
    """Say what speaks against hard real time; empty if nothing does."""
    if seen.misses:
        return f"{seen.misses:,} of {seen.n:,} missed" + (
            f", {seen.unanswered:,} of them without a right answer" if seen.unanswered else ""
        )
    if seen.longest_ns * rule.headroom > rule.deadline_ns:
        return f"no miss, but the longest took {seen.longest_ns / rule.deadline_ns:.0%} of the deadline"
    if seen.longest_ns > rule.spread * seen.median_ns:
        return f"no miss, but the longest took {seen.longest_ns / seen.median_ns:.0f} medians"
    if high > rule.hard_share:
        enough = needed(rule.hard_share, rule.confidence)
        return f"no miss, but too few to tell of hard: worth {trials:,} independent exchanges of {enough:,}"
    return ""
