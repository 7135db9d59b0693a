"""Hard real time, soft real time, neither, or no verdict: the rule of docs/targets.md, on counted figures.

Apart from everything that measures, so that it can be held against made-up data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

HARD, SOFT, NEITHER, UNKNOWN = "hard", "soft", "neither", "inconclusive"
# In time as soft real time requires; hard is not decided: too few exchanges, or delays of this host.
AT_LEAST_SOFT = "at least soft"
# From the best to the worst; what was not measured is last.
ORDER = (HARD, AT_LEAST_SOFT, SOFT, UNKNOWN, NEITHER, "-")

# The class that is this computer answering itself.
HOST = "native"


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
    # A delay up to so many times the longest one of this host by itself may be the host's.
    host: float = 2.0
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
    against = _against_hard(seen, rule)
    if against:
        return verdict(SOFT, against)
    if high > rule.hard_share:
        enough = needed(rule.hard_share, rule.confidence)
        few = (
            "no miss, but too few exchanges to prove hard real time: "
            f"{trials:,} independent exchanges of {enough:,}"
        )
        return verdict(AT_LEAST_SOFT, few)
    return verdict(HARD, f"no miss in {seen.n:,}: at most {high:.3%} may")


def judge_beside_host(seen: Seen, rule: Rule, host_delay_ns: float | None) -> Verdict:
    """Apply the rule to a target measured through this host, less what the host may have caused.

    `host_delay_ns` is the longest delay of this host by itself in the same run; None if it was not
    measured. A delay of the host can only make a verdict worse: "soft" is then "at least soft", and
    "neither" none at all.
    """
    found = judge(seen, rule)
    if found.word not in (SOFT, NEITHER):
        return found

    def undecided(because: str) -> Verdict:
        word = AT_LEAST_SOFT if found.word == SOFT else UNKNOWN
        return Verdict(word, f"{found.why}; {because}", found.share_low, found.share_high)

    if host_delay_ns is None:
        return undecided("the delays of this host by itself were not measured")
    # What would be left of the longest if the host had caused as much of it as it may have.
    longest = max(seen.median_ns, seen.longest_ns - rule.host * host_delay_ns)
    in_time = longest <= rule.deadline_ns
    without = replace(
        seen,
        longest_ns=longest,
        misses=seen.unanswered if in_time else seen.misses,
        longest_run_of_misses=min(seen.unanswered, seen.longest_run_of_misses)
        if in_time
        else seen.longest_run_of_misses,
        bouts=min(seen.unanswered, seen.bouts) if in_time else seen.bouts,
    )
    if ORDER.index(judge(without, rule).word) < ORDER.index(found.word):
        return undecided(f"this host by itself delays by up to {host_delay_ns / 1e6:.1f} ms")
    return found


def judge_all(results: dict[str, Any]) -> None:
    """Write every verdict of a run's results anew, from the counts in it."""
    known = {field.name for field in fields(Rule)}
    rule = Rule(**{name: value for name, value in results["rule"].items() if name in known})
    names = {field.name for field in fields(Seen)}

    def seen(figures: dict[str, Any]) -> Seen:
        return Seen(**{name: value for name, value in figures.items() if name in names})

    def loops(cls: dict[str, Any]) -> list[dict[str, Any]]:
        return [cell["loop"] for cell in cls["modes"].values() if "loop" in cell]

    native = [loop for cls in results["classes"] if cls["key"] == HOST for loop in loops(cls)]
    delay = max((loop["longest_ns"] - loop["median_ns"] for loop in native), default=None)
    for cls in results["classes"]:
        for loop in loops(cls):
            by_itself = cls["key"] == HOST
            found = judge(seen(loop), rule) if by_itself else judge_beside_host(seen(loop), rule, delay)
            loop["verdict"] = vars(found)
        for cell in cls["device"].values():
            # On its own clock no host delays it.
            if "seen" in cell:
                cell["verdict"] = vars(judge(seen(cell["seen"]), rule))


def _against_hard(seen: Seen, rule: Rule) -> str:
    """Return what excludes hard real time; empty if nothing does."""
    if seen.misses:
        return f"{seen.misses:,} of {seen.n:,} missed" + (
            f", {seen.unanswered:,} of them without a right answer" if seen.unanswered else ""
        )
    if seen.longest_ns * rule.headroom > rule.deadline_ns:
        return f"no miss, but the longest took {seen.longest_ns / rule.deadline_ns:.0%} of the deadline"
    if seen.longest_ns > rule.spread * seen.median_ns:
        return f"no miss, but the longest took {seen.longest_ns / seen.median_ns:.0f} medians"
    return ""
