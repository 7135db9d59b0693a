"""`doctor`: on this host as it is, and on one that is made up."""

import pytest

import wiregauge as wg

GOVERNOR = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor"


@pytest.fixture
def governor(tmp_path, monkeypatch):
    """Give the setting of a made-up host whose processor clocks down."""
    monkeypatch.setenv("WIREGAUGE_DOCTOR_ROOT", str(tmp_path / "host"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "host" / GOVERNOR
    file.parent.mkdir(parents=True)
    file.write_text("schedutil\n")
    return file


def test_what_is_found_has_evidence_a_cost_and_a_remedy(governor):
    found = wg.doctor(only=["governor", "real-time"])
    (problem,) = found.of("problem")
    assert problem["check"] == "governor"
    assert problem["evidence"] == [f"/{GOVERNOR} = schedutil"]
    assert problem["cost"]["source"]
    assert problem["remedy"][0] in str(found)
    assert "real-time" in str(found)
    assert found.changes == []


def test_what_is_fixed_can_be_undone(governor):
    fixed = wg.doctor(only="governor", fix=True)
    assert governor.read_text() == "performance\n"
    assert [one["how"] for one in fixed.changes] == ["written"]
    assert fixed.missed == ()
    undone = wg.doctor(undo=True)
    assert governor.read_text() == "schedutil\n"
    assert f"changed  /{GOVERNOR}: performance -> schedutil" in str(undone)


def test_a_check_that_there_is_not_and_a_device_that_is_gone_are_errors(governor):
    with pytest.raises(wg.UsageError, match="governor"):
        wg.doctor(only=["gouvernor"])
    with pytest.raises(wg.LinkError, match="ttyACM7"):
        wg.doctor("serial:///dev/ttyACM7")


def test_a_run_is_judged_by_what_it_kept():
    run = wg.exchange("null://", count=20, no_store=True, progress=False)
    (found,) = wg.doctor(run=run, only=["real-time"]).findings
    assert "policy = SCHED_OTHER" in found["evidence"][0]
