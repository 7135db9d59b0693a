"""`wg.tune`: a setting that was proved, ready to be used."""

import re

import pytest

import wiregauge as wg

TUNING = {"out_sizes": 100, "count": 200, "no_calibration": True, "progress": False}


@pytest.fixture(scope="module")
def slow():
    """A responder that takes 4 ms for each exchange."""
    with wg.serve("tcp://127.0.0.1:0", service_time=0.004) as address:
        yield address


def test_what_was_found_is_proved_and_ready_to_be_used(slow):
    # So far from the limit that only a median without an interval leaves it open: a restless host has none.
    tuned = wg.tune(
        slow,
        maximise="in-throughput",
        subject_to=["p50 < 10s", "lost = 0"],
        in_sizes=[64, 4096],
        depth="1..4",
        timeout=20,
        **TUNING,
    )
    assert tuned.best["in_bytes"] == 4096
    low, high = tuned.objective.low, tuned.objective.high
    assert low is None or low <= tuned.objective.value
    assert high is None or tuned.objective.value <= high
    median, lost = tuned.verdicts
    assert lost.verdict == "met"
    assert median.verdict == ("undecided" if median.found.high is None else "met")
    assert len(tuned.missed) == (median.verdict != "met")
    assert tuned.front and tuned.knee["depth"] >= 1
    assert [point["point"]["in_bytes"] for point in tuned.run.points] == [4096]
    assert re.search(
        r"^best( setting)?: OUT 100 B, IN 4,096 B, depth [1-4]: in-throughput [\d.]+ [kM]B/s",
        str(tuned),
        re.MULTILINE,
    )
    assert "wiregauge exchange" in tuned.command

    with wg.open(slow, **tuned.open) as device:
        replies = device.exchange_many([b"x" * 20] * 4, **tuned.call)
    assert len(replies) == 4


def test_what_is_not_shown_is_told(slow):
    tuned = wg.tune(slow, minimise="trt", subject_to="p50 < 1us", depth=[1, 2], no_store=True, **TUNING)
    # "undecided" where a restless host leaves the median without an interval.
    assert tuned.verdicts[0].verdict in ("violated", "undecided")
    assert len(tuned.missed) == 1 and re.match(
        "no setting (meets|is proven to meet) all constraints; ", str(tuned)
    )
    assert tuned.run is not None


def test_a_wrong_aim_is_an_error(slow):
    with pytest.raises(wg.UsageError, match="unknown figure"):
        wg.tune(slow, minimise="speed")
    with pytest.raises(wg.UsageError, match="maximise"):
        wg.tune(slow)
    with pytest.raises(wg.LinkError):
        wg.tune("tcp://127.0.0.1:1", minimise="trt", progress=False)
