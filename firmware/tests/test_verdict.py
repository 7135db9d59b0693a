"""The rule of docs/targets.md by which a class is called hard real time, soft or neither, on made-up data."""

import math
import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "targets"))

from verdict import (
    AT_LEAST_SOFT,
    HARD,
    NEITHER,
    SOFT,
    UNKNOWN,
    Rule,
    Seen,
    at_most,
    judge,
    judge_all,
    judge_beside_host,
    needed,
    share_at_least,
    share_at_most,
)

RULE = Rule(deadline_ns=10e6)
STEADY = Seen(
    n=10_000,
    effective_n=10_000,
    misses=0,
    unanswered=0,
    longest_run_of_misses=0,
    median_ns=0.4e6,
    longest_ns=1.5e6,
)


def word(**changes: float) -> str:
    return judge(replace(STEADY, **changes), RULE).word


def test_the_binomial_sum_is_that_of_small_cases() -> None:
    assert at_most(0, 2, 0.5) == pytest.approx(0.25)
    assert at_most(1, 2, 0.5) == pytest.approx(0.75)
    assert at_most(2, 2, 0.5) == 1
    # 10 choose 3 and so on, at 0.2: 0.8791261184 (any table of the binomial distribution).
    assert at_most(3, 10, 0.2) == pytest.approx(0.8791261184)


@pytest.mark.parametrize("n", [10, 100, 1_000, 100_000])
def test_no_miss_gives_the_rule_of_three(n: int) -> None:
    high = share_at_most(0, n, 0.95)
    assert high == pytest.approx(1 - 0.05 ** (1 / n), rel=1e-6)
    assert high < 3 / n
    assert n < 100 or high == pytest.approx(3 / n, rel=0.02)


def test_the_bounds_are_those_of_clopper_and_pearson() -> None:
    # One-sided 97.5 % is a side of the two-sided 95 %: 10 of 100 give 4.900 % to 17.622 %.
    assert share_at_least(10, 100, 0.975) == pytest.approx(0.049005, abs=1e-5)
    assert share_at_most(10, 100, 0.975) == pytest.approx(0.176223, abs=1e-5)


def test_so_many_without_a_miss_are_needed() -> None:
    assert needed(1e-2, 0.95) == 299
    assert needed(1e-3, 0.95) == 2_995
    for share in (1e-2, 1e-3):
        enough = needed(share, 0.95)
        assert share_at_most(0, enough, 0.95) <= share < share_at_most(0, enough - 1, 0.95)


def test_the_upper_bound_holds_as_often_as_it_says() -> None:
    dice, share, n = random.Random(1), 0.02, 200
    held = 0
    for _ in range(500):
        misses = sum(dice.random() < share for _ in range(n))
        held += share <= share_at_most(misses, n, 0.95)
    # 95 % of 500 are 475, SD 4.9; the bound is exact or better.
    assert held >= 460


def test_many_steady_exchanges_are_hard() -> None:
    assert word() == HARD


def test_a_single_miss_is_not_hard() -> None:
    assert word(misses=1, longest_run_of_misses=1, longest_ns=11e6) == SOFT


def test_a_single_loss_is_not_hard() -> None:
    found = judge(replace(STEADY, misses=1, unanswered=1, longest_run_of_misses=1), RULE)
    assert found.word == SOFT
    assert "without a right answer" in found.why


def test_what_comes_near_the_deadline_is_not_hard() -> None:
    assert word(longest_ns=4.9e6, median_ns=4e6) == HARD
    assert word(longest_ns=5.1e6, median_ns=4e6) == SOFT


def test_a_tail_unlike_the_rest_is_not_hard() -> None:
    assert word(longest_ns=3.9e6) == HARD
    assert word(longest_ns=4.1e6) == SOFT


def test_too_few_tell_of_soft_but_not_of_hard() -> None:
    found = judge(replace(STEADY, n=500, effective_n=500), RULE)
    assert found.word == AT_LEAST_SOFT
    assert "500 independent exchanges of 2,995" in found.why


def test_dependent_exchanges_count_for_fewer() -> None:
    assert word(effective_n=2_000) == AT_LEAST_SOFT
    assert word(effective_n=200) == UNKNOWN


def test_misses_that_come_together_are_one_event() -> None:
    scattered = replace(STEADY, misses=60, bouts=60, longest_run_of_misses=1)
    together = replace(STEADY, misses=60, bouts=20, longest_run_of_misses=3)
    assert judge(scattered, RULE).share_high < judge(together, RULE).share_high
    assert judge(scattered, RULE).share_low > judge(together, RULE).share_low
    assert (judge(scattered, RULE).word, judge(together, RULE).word) == (SOFT, SOFT)
    rare = replace(STEADY, n=1_000, effective_n=1_000, misses=3)
    assert judge(replace(rare, bouts=3, longest_run_of_misses=1), RULE).word == SOFT
    assert judge(replace(rare, bouts=1, longest_run_of_misses=3), RULE).word == UNKNOWN


def test_a_handful_tells_nothing() -> None:
    assert word(n=50, effective_n=50) == UNKNOWN
    assert word(n=0, effective_n=0) == UNKNOWN


def test_some_misses_are_soft_and_many_are_neither() -> None:
    assert word(misses=50, longest_run_of_misses=1) == SOFT
    assert word(misses=100, longest_run_of_misses=1) == UNKNOWN
    assert word(misses=200, longest_run_of_misses=1) == NEITHER


def test_an_outage_is_neither_however_rare() -> None:
    assert word(misses=3, longest_run_of_misses=3) == SOFT
    assert word(misses=4, longest_run_of_misses=4) == NEITHER


def test_all_missed_is_neither() -> None:
    assert word(misses=10_000, longest_run_of_misses=10_000, median_ns=17e6, longest_ns=20e6) == NEITHER
    # Even a few show it.
    assert word(n=20, effective_n=20, misses=20, longest_run_of_misses=1) == NEITHER


def test_the_deadline_decides() -> None:
    slow = replace(STEADY, median_ns=4e6, longest_ns=4.9e6)
    assert judge(slow, RULE).word == HARD
    assert judge(slow, replace(RULE, deadline_ns=9e6)).word == SOFT


def test_more_misses_never_make_it_better() -> None:
    order = {HARD: 0, SOFT: 1, UNKNOWN: 2, NEITHER: 3}
    words = [order[word(misses=misses, longest_run_of_misses=min(misses, 1))] for misses in range(0, 400, 5)]
    assert words == sorted(words)
    assert set(words) == {0, 1, 2, 3}


def test_the_bounds_are_told() -> None:
    found = judge(replace(STEADY, misses=50, longest_run_of_misses=1), RULE)
    assert found.share_low < 0.005 < found.share_high
    assert math.isclose(judge(STEADY, RULE).share_high, 1 - 0.05 ** (1 / 10_000), rel_tol=1e-6)


def test_a_tail_that_the_host_has_as_well_does_not_speak_against_hard() -> None:
    # Three milliseconds now and then: of the target beside a quiet host, perhaps of the host beside this one.
    seen = replace(STEADY, longest_ns=4.4e6)
    assert judge_beside_host(seen, RULE, 0.1e6).word == SOFT
    found = judge_beside_host(seen, RULE, 3.9e6)
    assert found.word == AT_LEAST_SOFT
    assert "this host by itself delays by up to 3.9 ms" in found.why


def test_misses_that_the_host_may_have_caused_are_no_verdict() -> None:
    late = replace(STEADY, misses=33, bouts=17, longest_run_of_misses=4, median_ns=8.7e6, longest_ns=14e6)
    assert judge_beside_host(late, RULE, 0.1e6).word == NEITHER
    assert judge_beside_host(late, RULE, 3.9e6).word == UNKNOWN
    # What is lost is not late, and nothing makes a median shorter.
    lost = replace(late, unanswered=33)
    slow = replace(
        late, misses=10_000, bouts=1, longest_run_of_misses=10_000, median_ns=17e6, longest_ns=20e6
    )
    assert judge_beside_host(lost, RULE, 3.9e6).word == NEITHER
    assert judge_beside_host(slow, RULE, 3.9e6).word == NEITHER


def test_hard_beside_a_noisy_host_is_hard() -> None:
    assert judge_beside_host(STEADY, RULE, 3.9e6).word == HARD


def test_without_the_host_by_itself_nothing_is_held_against_a_target() -> None:
    late = replace(STEADY, misses=4, longest_run_of_misses=4)
    assert judge_beside_host(replace(STEADY, longest_ns=4.4e6), RULE, None).word == AT_LEAST_SOFT
    assert judge_beside_host(late, RULE, None).word == UNKNOWN
    assert judge_beside_host(STEADY, RULE, None).word == HARD


def test_every_verdict_of_a_run_is_written_from_its_counts() -> None:
    def loop(**changes: float) -> dict[str, object]:
        return {"udp": {"loop": vars(replace(STEADY, **changes)) | {"verdict": {"word": "stale"}}}}

    own = {"udp": {"seen": vars(replace(STEADY, longest_ns=4.4e6)), "verdict": {"word": "stale"}}}
    results = {
        "rule": vars(RULE),
        "classes": [
            {"key": "native", "modes": loop(longest_ns=4.3e6), "device": {}},
            {"key": "uno", "modes": loop(longest_ns=4.4e6), "device": own},
        ],
    }
    judge_all(results)
    native, uno = results["classes"]
    assert native["modes"]["udp"]["loop"]["verdict"]["word"] == SOFT
    assert uno["modes"]["udp"]["loop"]["verdict"]["word"] == AT_LEAST_SOFT
    # On its own clock it is its own.
    assert uno["device"]["udp"]["verdict"]["word"] == SOFT
