"""The plots show what the figures of the page show: quantity, axes, limits, what the samples support."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import each_kind

import wiregauge as wg


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
