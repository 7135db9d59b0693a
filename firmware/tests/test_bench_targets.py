"""What bench/targets makes of its samples, on made-up ones; and all of it once, against this computer."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from harness import Wiregauge

REPOSITORY = Path(__file__).resolve().parents[2]
BENCH = REPOSITORY / "bench" / "targets"
sys.path.insert(0, str(BENCH))

import tables  # noqa: E402
from measure import Cell, Row, independent, line_through, longest_run, loop_seen, nines, percentiles_of, rank  # noqa: E402
from verdict import Rule  # noqa: E402

MS = 1_000_000
RULE = Rule(deadline_ns=10 * MS)


def row(late_ms: float, answered: bool = True) -> Row:
    time = round(late_ms * MS)
    return Row(
        size=100,
        first=False,
        answered=answered,
        rtt=time,
        connect=0,
        access=time,
        from_intended=time,
        device_ticks=(0, 0),
        measured=True,
    )


def test_percentiles_are_nearest_rank() -> None:
    ordered = list(range(1, 101))
    assert (rank(ordered, 0.5), rank(ordered, 0.99), rank(ordered, 1)) == (50, 99, 100)
    assert rank([7], 0.5) == 7
    assert rank([], 0.5) is None


def test_no_percentile_is_told_that_so_few_cannot_show() -> None:
    assert "p99" not in percentiles_of(range(99))
    assert percentiles_of(range(100))["p99"] == 98
    assert percentiles_of([]) == {"n": 0}


def test_a_curve_of_tails_ends_with_the_longest() -> None:
    curve = nines(range(1, 1001))
    assert curve[-1] == (0.999, 1000)
    assert [time for _, time in curve] == sorted(time for _, time in curve)
    assert curve[4] == (0.5, 500)


def test_a_line_is_found_though_one_point_is_off() -> None:
    points = [(float(size), 200.0 + 3 * size) for size in (1, 10, 20, 50, 100, 200, 500)]
    fixed, slope = line_through(points)
    assert (fixed, slope) == pytest.approx((200, 3))
    points[2] = (20.0, 9000.0)
    fixed, slope = line_through(points)
    assert (fixed, slope) == pytest.approx((200, 3))
    assert line_through([(1.0, 2.0)]) is None


def test_the_tail_is_worth_what_its_bounds_show() -> None:
    def distribution(effective_n: float, *bounded: str, n: int = 5000) -> dict[str, Any]:
        bounds = {name: {"high": 1.0 if name in bounded else None} for name in ("p90", "p99", "p999")}
        return {"n": n, "effective_n": effective_n, **bounds}

    assert independent(distribution(900, "p90", "p99")) == 900
    # Drift of a mean that is all but constant says little of the tail, whose own bounds say more.
    assert independent(distribution(40, "p90", "p99")) == 368
    assert independent(distribution(40, "p90", "p99", "p999")) == 3688
    # And the other way round.
    assert independent(distribution(4000, "p90")) == 482
    assert independent(distribution(4000)) == 47
    # The number at p99 itself, where it was kept.
    at_p99 = distribution(900, "p90", "p99") | {"p99_effective_n": 2000.0}
    assert independent(at_p99) == 2000
    assert independent(distribution(60, "p90", n=50)) == 50


def test_misses_in_a_row_are_counted_within_a_round() -> None:
    assert longest_run([]) == 0
    assert longest_run([True, False, True, True, False]) == 2
    cell = Cell(loop=[[row(1), row(11), row(11)], [row(12), row(1), row(1, answered=False)]])
    seen = loop_seen(cell, RULE)
    assert (seen.n, seen.misses, seen.unanswered, seen.longest_run_of_misses) == (6, 4, 1, 2)
    assert seen.bouts == 3
    # What was not answered has no time.
    assert seen.longest_ns == 12 * MS


def test_what_is_as_long_as_the_deadline_is_no_miss() -> None:
    assert loop_seen(Cell(loop=[[row(10)]]), RULE).misses == 0
    assert loop_seen(Cell(loop=[[row(10.001)]]), RULE).misses == 1


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory, wiregauge: Wiregauge) -> Path:
    """A whole short run against `wiregauge serve`: what it stored."""
    out = tmp_path_factory.mktemp("quick")
    command = [sys.executable, BENCH / "run.py", "--quick", "--only", "native", "--keep-runs", "--out", out]
    environment = {**os.environ, "WIREGAUGE": wiregauge.binary}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert said.returncode == 0, said.stderr
    return out


def test_every_mode_and_size_is_measured_right(quick: Path) -> None:
    results = json.loads((quick / "results.json").read_text())
    (native,) = results["classes"]
    assert native["left_out"] == {}
    assert list(native["modes"]) == ["stream", "each", "udp"]
    for mode in native["modes"].values():
        assert {int(size): one["whole"]["n"] for size, one in mode["sizes"].items()} == {
            1: 20,
            100: 20,
            500: 20,
        }
        # Half a second of one every 10 ms; on a machine that cannot keep that up, fewer.
        assert 5 <= mode["loop"]["n"] <= 51
        assert mode["counts"]["answered"] == mode["counts"]["exchanges"] == 60 + mode["loop"]["n"]
        assert len(mode["first"]) == 1
    for parts in native["modes"]["each"]["sizes"].values():
        assert parts["connect"]["p50"] > 0
        assert parts["access"]["p50"] > 0
    assert set(native["device"]) == {"stream", "udp"}


def test_the_runs_can_be_kept(quick: Path) -> None:
    kept = {path.parent.name for path in quick.glob("runs/*/run.json")}
    assert {"native-stream-sizes-0", "native-each-loop-0", "native-udp-device-0-100"} <= kept


def test_every_table_of_the_page_is_written_anew(quick: Path) -> None:
    results = json.loads((quick / "results.json").read_text())
    page = (REPOSITORY / "docs" / "targets.md").read_text()
    names = set(re.findall("<!-- table ([a-z ]+) -->", page))
    assert names == {*tables.TABLES, "run"}
    written = tables.filled(page, results, "bench/runs/somewhere")
    assert "`wiregauge serve`, native" in written
    assert "[bench/runs/somewhere]" in written
    # Nothing of the run before is left.
    assert tables.filled(written, results, "bench/runs/somewhere") == written


def test_a_class_that_does_not_come_up_fails_the_quick_run(wiregauge: Wiregauge, tmp_path: Path) -> None:
    environment = {**os.environ, "WIREGAUGE": wiregauge.binary}
    # Bash without the simulators' programs: nothing can start a board.
    environment["PATH"] = str(tmp_path)
    command = [sys.executable, BENCH / "run.py", "--quick", "--only", "lwip-apps", "--out", tmp_path / "out"]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert said.returncode == 1
    assert "lwip-apps, echo: " in said.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert "echo" in results["classes"][0]["left_out"]
