"""The plots show what the figures of the page show: quantity, axes, limits, what the samples support."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import REPOSITORY, each_kind

import wiregauge as wg
from wiregauge import _axes, _live


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def changed(run: wg.Run, place: Path, **more: Any) -> wg.Run:
    """The same run with other figures of its points."""
    shutil.copytree(run.path, place)
    file = json.loads((place / "run.json").read_text())
    for point in file["points"]:
        point.update(more)
    (place / "run.json").write_text(json.dumps(file))
    return wg.Run(place)


def test_the_throughput_is_that_of_the_swept_direction_against_its_size(stored):
    ax = stored.plot.throughput()
    assert ax.get_xlabel() == "IN size (B, log)"
    assert ax.get_ylabel().startswith("IN throughput (")
    factor = 1e6 if "MB/s" in ax.get_ylabel() else 1e3
    first, second = stored.points[0], stored.points[2]
    (line, _) = (one for one in ax.lines if one.get_label().startswith("depth"))
    assert list(line.get_xdata()) == [48, 1000]
    rates = [point["throughput"]["in_bytes_s"] / factor for point in (first, second)]
    assert list(line.get_ydata()) == pytest.approx(rates)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["48", "1,000"]


def test_the_throughput_of_a_sweep_of_requests_is_that_of_requests(address):
    run = wg.exchange(address, out_sizes=[16, 100], in_sizes=48, count=20, no_calibration=True)
    ax = run.plot.throughput()
    assert ax.get_xlabel() == "OUT size (B, log)"
    assert ax.get_ylabel().startswith("OUT throughput (")
    echoed = wg.exchange("null://", in_sizes=[48, 100], count=20, no_calibration=True)
    assert echoed.plot.throughput().get_xlabel() == "size in each direction (B, log)"


def test_only_points_with_the_smallest_other_size_are_drawn(address):
    run = wg.exchange(address, out_sizes=[16, 100], in_sizes=[48, 200], count=20, no_calibration=True)
    (line,) = run.plot.throughput().lines
    assert list(line.get_xdata()) == [48, 200]


@pytest.mark.parametrize("run", ["exchange", "stream"], indirect=True)
def test_the_limit_of_the_medium_is_a_line_with_its_name(run, tmp_path):
    field = "throughput" if run.kind == "exchange" else "flows"
    first = run.points[0][field]
    rate = first["in_bytes_s"] if run.kind == "exchange" else first[0]["rate"]["value"]
    limit = {"bytes_s": 2 * rate, "shared": False, "used": 0.5, "source": "USB 2.0 full speed, bulk"}
    flows = {"flows": [{**flow, "limit": limit} for flow in run.points[0].get("flows", [])]}
    limited = changed(run, tmp_path / "limited", **({"limit": limit} if run.kind == "exchange" else flows))
    ax = limited.plot.throughput()
    factor = 1e6 if "MB/s" in ax.get_ylabel() else 1e3
    drawn = [line for line in ax.lines if line.get_label().startswith("limit")]
    assert [line.get_ydata()[0] for line in drawn] == pytest.approx([2 * rate / factor])
    assert drawn[0].get_label().endswith(": USB 2.0 full speed")
    assert ax.get_ylim()[1] >= 2 * rate / factor


def test_the_legend_of_a_stream_names_direction_and_queue(streamed):
    labels = [text.get_text() for text in streamed.plot.throughput().get_legend().get_texts()]
    assert labels == ["IN", "OUT", "IN (both)", "OUT (both)"]


@each_kind
def test_the_tail_that_few_samples_support_is_thin(run):
    ax = run.plot.percentiles(0)
    solid, thin = ax.lines
    samples = round(1 / (1 - thin.get_xdata()[-1]))
    assert solid.get_linewidth() > 1.5 * thin.get_linewidth()
    assert solid.get_color() == thin.get_color()
    # Ten samples lie beyond the end of the thick part.
    assert (1 - solid.get_xdata()[-1]) * samples == pytest.approx(10, rel=0.01)
    assert thin.get_xdata()[0] == solid.get_xdata()[-1]
    assert np.all(np.diff(thin.get_ydata()) >= 0)
    assert thin.get_label().startswith("_")


def test_a_time_axis_of_more_than_a_decade_has_ticks_at_1_2_and_5(stored):
    ax = stored.plot.histogram(0)
    ax.set(xlim=(10, 900))
    ax.figure.canvas.draw()
    labels = [text.get_text() for text in ax.get_xticklabels()]
    assert {"10", "20", "50", "100", "200", "500"} <= set(labels)
    assert not [text.get_text() for text in ax.get_xticklabels(minor=True) if text.get_text()]


def test_the_trt_has_ticks_at_the_measured_depths(stored):
    ax = stored.plot.trt()
    ax.figure.canvas.draw()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2"]
    assert ax.get_xlabel() == "depth (log)"


@pytest.mark.parametrize(("points", "error", "says"), [
    ([99], IndexError, "point 99: the run has 4 points, 0 to 3"),
    (-5, IndexError, "point -5: the run has 4 points"),
    ("x", TypeError, "a point must be an int, not str"),
    ([], ValueError, "points must have at least one point"),
])  # fmt: skip
def test_points_that_do_not_exist_are_refused_by_their_number(stored, points, error, says):
    with pytest.raises(error, match=says):
        stored.plot.percentiles(points)
    if not isinstance(points, list):
        with pytest.raises(error, match=says):
            stored.samples_of(points)
        with pytest.raises(error, match=says):
            stored.frame(points)


@pytest.fixture(scope="module")
def grid() -> wg.Run:
    """Three depths of one size."""
    return wg.exchange("null://", depth=[1, 2, 4], count=30, no_calibration=True, no_store=True)


def test_the_colours_are_those_of_the_page(stored):
    source = (REPOSITORY / "crates/report/src/figures/look.rs").read_text()
    of_page = re.findall(r'"(#\w{6})"', source.split("SERIES: [&str; 10]")[1].split(";")[0])
    assert list(_axes.COLOURS) == of_page
    assert [line.get_color() for line in stored.plot.timeline().lines] == of_page[:4]
    lines = stored.plot.trt().lines
    assert lines[0].get_color() == of_page[0] and lines[0].get_marker() == "o"


def test_points_of_a_loop_are_distinguished_by_what_varies(looped):
    labels = [text.get_text() for text in looped.plot.percentiles().get_legend().get_texts()]
    cells = [point["point"] for point in looped.points]
    assert len(set(labels)) == len(labels) == len(cells)
    for label, cell in zip(labels, cells, strict=True):
        is_test = cell["aim"] == "hold"
        tested = f"preload {cell['preload_bytes']:,} B" if is_test else "no preload"
        assert label == f"{cell['rate_hz'] / 1e6:g} MS/s, {tested}"
    assert looped.plot.histogram(0).get_legend() is None


def test_the_bound_of_a_loop_curve_is_in_the_legend(looped):
    labels = [text.get_text() for text in looped.plot.loop_curve().get_legend().get_texts()]
    assert labels == ["0.1 MS/s", "0.2 MS/s", "upper 95 % bound"]


def test_a_throughput_of_one_of_several_sizes_says_which(address):
    run = wg.exchange(address, out_sizes=[16, 100], in_sizes=[48, 200], count=20, no_calibration=True)
    assert run.plot.throughput().get_title().endswith(", OUT 16 B only")
    run = wg.exchange(address, out_sizes=16, in_sizes=[48, 200], count=20, no_calibration=True)
    assert "only" not in run.plot.throughput().get_title()


def test_the_throughput_of_one_size_is_against_the_depth(grid, address):
    ax = grid.plot.throughput()
    assert ax.get_xlabel() == "depth (log)"
    (line,) = (line for line in ax.lines if not line.get_label().startswith("limit"))
    assert list(line.get_xdata()) == [1, 2, 4]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2", "4"]


def test_a_histogram_has_shares_of_each_point_and_at_most_four(stored, address):
    ax = stored.plot.histogram(0)
    assert ax.get_ylabel() == "exchanges (%)"
    corners = ax.patches[0].get_xy()
    assert sum(corners[1:-1:2, 1]) == pytest.approx(100)
    run = wg.exchange(address, in_sizes=list(range(100, 700, 100)), count=20, no_calibration=True)
    assert len(run.plot.histogram().get_legend().get_texts()) == 4
    assert "4 of 6 series" in run.plot.histogram().get_title()
    assert len(run.plot.histogram(range(6)).get_legend().get_texts()) == 6


def test_rtt_and_trt_of_one_pair_of_sizes_are_beside_the_ideal(grid, address):
    ax = grid.plot.trt()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["mean TRT", "mean RTT", "ideal TRT: RTT at depth 1 / depth"]
    ideal = ax.lines[-1]
    assert list(ideal.get_ydata() * ideal.get_xdata()) == pytest.approx([ideal.get_ydata()[0]] * 3)
    assert ax.get_yscale() == "log" and ax.get_ylabel().startswith("time (")
    scheduled = wg.exchange(address, depth=[1, 2], count=20, interval="1ms", no_calibration=True)
    labels = [text.get_text() for text in scheduled.plot.trt().get_legend().get_texts()]
    # A schedule sets when exchanges start.
    assert labels == ["mean TRT", "mean RTT"]


def test_dots_of_a_legend_can_be_seen(stored):
    handles = stored.plot.timeline().get_legend().legend_handles
    assert all(handle.get_markersize() >= 6 for handle in handles)


def test_a_direction_has_one_colour_in_both_halves_of_the_live_plot(streamed):
    figure = plt.figure()
    slices = [(0, 0.5, {"in": 2e7, "out": 1e7}), (0, 1.0, {"in": 2e7, "out": 1e7})]
    _live.draw(figure, "stream", "both", slices, streamed.summary())
    left, right = figure.axes
    for way in ("in", "out"):
        colours = {line.get_color() for ax in (left, right) for line in ax.lines if line.get_label() == way}
        assert len(colours) == 1
    assert right.get_ylim()[0] == 0.0
