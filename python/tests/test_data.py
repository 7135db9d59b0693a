"""A run as pandas, xarray, plots and figures."""

import json
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from conftest import each_kind
from matplotlib.axes import Axes

import wiregauge as wg


@each_kind
def test_a_table_has_a_row_for_each_point_with_numbers(run):
    table = run.table()
    assert set(table["point"]) == {point["point"]["index"] for point in run.points}
    column = {"exchange": "rtt_p50_ns", "stream": "rate_bytes_s", "loop": "service_p50_ns"}[run.kind]
    assert (table[column] > 0).all()


@each_kind
def test_a_summary_has_ten_figures_with_units_beside_the_parameters_of_each_point(run):
    summary = run.summary()
    table = run.table(empty=True)
    assert len(summary) == len(table)
    parameters = {"exchange": 4, "stream": 5, "loop": 5}[run.kind]
    assert summary.shape[1] == parameters + 10
    units = summary.attrs["units"]
    for column in summary.columns:
        pd.testing.assert_series_equal(summary[column], table[column])
        if column.endswith("_ns"):
            assert units[column] == "ns"
        if column.endswith("_bytes_s"):
            assert units[column] == "B/s"
    assert units[summary.columns[parameters]] == "1"


def test_a_table_has_its_empty_columns_only_on_request(stored):
    table, every = stored.table(), stored.table(empty=True)
    assert not table.isna().all().any()
    empty = [column for column in every.columns if every[column].isna().all()]
    assert len(empty) > 50
    assert set(every.columns) == set(table.columns) | set(empty)
    assert table.attrs["units"]["rtt_p50_ns"] == "ns"


@each_kind
def test_a_run_without_a_point_has_an_empty_table_and_dataset(run, tmp_path):
    shutil.copytree(run.path, tmp_path / "run")
    file = tmp_path / "run" / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "points": []}))
    none = wg.load(tmp_path / "run")
    assert len(none.table()) == len(none.summary()) == 0
    assert list(none.table().columns) == list(run.table(empty=True).columns)
    assert set(none.to_xarray().sizes.values()) == {0}


@each_kind
def test_a_dataset_says_where_it_comes_from(run):
    attributes = run.to_xarray().attrs
    assert attributes["version"] == wg.__version__
    assert run.conditions["host"]["name"] in attributes["host"]
    assert json.loads(attributes["plan"]) == run.plan
    # What netCDF can store.
    assert all(isinstance(value, str) for value in attributes.values())
    assert "note" not in attributes and run.note is None


def test_a_note_is_stored_and_listed(tmp_path, monkeypatch):
    monkeypatch.setenv("WIREGAUGE_RUNS", str(tmp_path))
    note = "new cable,\nhub removed"
    run = wg.exchange("null://", count=20, no_calibration=True, progress=False, note=note)
    assert run.note == run.to_xarray().attrs["note"] == note
    assert wg.last().note == wg.runs()[0].note == run.note
    with pytest.raises(wg.UsageError, match="1001 characters: the maximum is 1000"):
        wg.exchange("null://", count=20, note="x" * 1001)


def test_a_table_says_what_the_points_say(stored):
    table = stored.table()
    assert list(table["rtt_mean_ns"]) == [point["rtt"]["mean"]["value"] for point in stored.points]
    assert list(table["depth"]) == [1, 2, 1, 2]


@each_kind
def test_a_frame_has_a_row_for_each_sample_and_names_for_numbers(run):
    frame = run.frame()
    assert len(frame) == len(run.samples)
    assert set(frame["phase"].unique()) <= {"first", "warm-up", "measured"}
    assert (frame["phase"] == "measured").sum() == (run.samples["phase"] == wg.Phase.MEASURED).sum()
    assert len(run.frame(0)) == len(run.samples_of(0))


@each_kind
def test_a_dataset_has_the_sweep_as_dimensions_and_the_same_numbers(run):
    dataset = run.to_xarray()
    table = run.table()
    column = {"exchange": "rtt_p99_ns", "stream": "rate_bytes_s", "loop": "service_p99_ns"}[run.kind]
    assert dataset[column].attrs["units"] == {"s": "B/s"}.get(
        column[-1:] if "bytes_s" in column else "", "ns"
    )
    assert dataset[column].count() == table[column].count()
    assert dataset[column].sum() == pytest.approx(table[column].sum())


def test_a_cell_of_a_dataset_is_found_by_what_was_asked(stored):
    dataset = stored.to_xarray()
    assert dict(dataset.sizes) == {"out_bytes": 1, "in_bytes": 2, "depth": 2}
    cell = dataset["rtt_p50_ns"].sel(out_bytes=16, in_bytes=1000, depth=2).item()
    assert cell == stored.points[3]["rtt"]["p50"]["value"]


@each_kind
def test_a_dataset_can_hold_every_time(run):
    dataset = run.to_xarray(samples=True)
    last = {"exchange": "rtt_ns", "stream": "complete_ns", "loop": "done_ns"}[run.kind]
    rows = run.samples
    rows = rows[rows["phase"] == wg.Phase.MEASURED]
    if run.kind != "loop":
        rows = rows[rows["status"] == 0]
    assert dataset[last].count() == len(rows)
    assert float(dataset[last].sum()) == pytest.approx(float(rows[last].sum()))


@each_kind
def test_every_plot_of_a_kind_gives_axes_with_something_on_them(run):
    drawn = {
        "exchange": ["histogram", "rtt_histogram", "percentiles", "timeline", "throughput", "trt"],
        "stream": ["histogram", "percentiles", "timeline", "throughput"],
        "loop": ["histogram", "percentiles", "timeline", "loop_curve"],
    }[run.kind]
    for name in drawn:
        ax = getattr(run.plot, name)()
        assert isinstance(ax, Axes)
        assert ax.lines or ax.patches, name
        assert ax.get_xlabel() and ax.get_ylabel(), name
        ax.figure.canvas.draw()
        import matplotlib.pyplot as plt

        plt.close(ax.figure)


@each_kind
def test_a_run_plots_what_it_was_measured_for(run):
    import matplotlib.pyplot as plt

    ax = run.plot()
    assert isinstance(ax, Axes)
    assert ax.lines
    assert (
        ax.get_xlabel()
        == {
            "exchange": "percentile of the exchanges",
            "stream": "transfer size (B, log)",
            "loop": "latency (ms)",
        }[run.kind]
    )
    assert len(ax.lines) == 1 or ax.get_legend() is not None
    plt.close(ax.figure)


def test_percentiles_have_the_axis_of_the_page_and_end_with_the_longest(stored):
    import matplotlib.pyplot as plt

    ax = stored.plot.percentiles(0)
    rtt = np.sort(stored.samples_of(0)["rtt_ns"][-300:]) / 1e3
    ms = " (ms" in ax.get_ylabel()
    bulk, line = ax.lines
    assert line.get_ydata()[-1] == pytest.approx(rtt[-1] / (1e3 if ms else 1))
    assert line.get_xdata()[-1] == pytest.approx(1 - 1 / 300)
    assert np.interp(0.5, bulk.get_xdata(), bulk.get_ydata()) == pytest.approx(
        np.median(rtt) / (1e3 if ms else 1), rel=0.2
    )
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0 %", "50 %", "90 %", "99 %"]
    # 99 % is as far from 90 % as 90 % from 0.
    at = ax.get_xaxis().get_transform().transform([0, 0.9, 0.99])
    assert at[2] - at[1] == pytest.approx(at[1] - at[0])
    plt.close(ax.figure)


def test_no_more_series_than_can_be_distinguished_are_drawn_with_a_legend_beside_them(address):
    import matplotlib.pyplot as plt

    run = wg.exchange(address, in_sizes=list(range(100, 1300, 100)), count=20, no_calibration=True)
    for name, most in (("histogram", 4), ("percentiles", 10), ("timeline", 10)):
        ax = getattr(run.plot, name)()
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert len(labels) == most
        assert "IN 100 B" in labels[0] and "IN 1,200 B" in labels[-1]
        assert f"{most} of 12 series" in ax.get_title()
        ax.figure.canvas.draw()
        assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1
        assert ax.get_legend().get_window_extent().x1 <= ax.figure.bbox.x1
        plt.close(ax.figure)
    with pytest.raises(ValueError, match="points must be at most 10, not 12"):
        run.plot.percentiles(range(12))


def test_the_unit_of_times_is_that_in_which_the_longest_reads_well():
    import matplotlib.pyplot as plt

    with wg.serve("tcp://127.0.0.1:0", service_time="3ms") as slow:
        run = wg.exchange(slow, count=5, no_calibration=True)
    ax = run.plot.timeline()
    assert ax.get_ylabel() == "RTT (ms)"
    assert all(3 <= value < 3000 for value in ax.lines[0].get_ydata())
    plt.close(ax.figure)


@each_kind
def test_the_points_so_far_are_drawn_over_their_number(run):
    import matplotlib.pyplot as plt

    from wiregauge import _live

    figure = plt.figure()
    frame = run.summary()
    _live.draw(figure, run.kind, "point 1 of 1", [], frame)
    (ax,) = figure.axes
    values = {
        "exchange": ("rtt_p50_ns", "RTT"),
        "stream": ("rate_bytes_s", "throughput"),
        "loop": ("service_p50_ns", "service delay"),
    }
    column, label = values[run.kind]
    factor = {"(µs)": 1e3, "(ms)": 1e6, "(MB/s)": 1e6, "(kB/s)": 1e3}[ax.get_ylabel().split()[-1]]
    assert ax.get_ylabel().startswith(label)
    rows = frame[frame["way"] == "in"] if run.kind == "stream" else frame
    assert list(ax.lines[0].get_xdata()) == list(rows["point"] + 1)
    assert list(ax.lines[0].get_ydata() * factor) == pytest.approx(list(rows[column]))
    plt.close(figure)


def test_plots_share_axes_and_name_what_they_cannot_draw(stored, looped):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    assert stored.plot.rtt_histogram(0, ax=ax) is ax
    stored.plot.rtt_histogram([1, -1], ax=ax)
    assert len(ax.patches) == 3
    plt.close(figure)
    with pytest.raises(ValueError, match="rtt_histogram needs a run of kind exchange"):
        looped.plot.rtt_histogram()
    with pytest.raises(IndexError):
        stored.plot.timeline(4)


@each_kind
def test_the_figures_of_the_report_are_svg_for_a_notebook(run, tmp_path):
    assert run.figures
    for name, figure in run.figures.items():
        assert figure.name == name
        assert ElementTree.fromstring(figure._repr_svg_()).tag.endswith("svg")
    assert "<svg" in run.figures._repr_html_()
    assert figure.save(tmp_path / "figure.png").read_bytes()[1:4] == b"PNG"
    assert figure.save(tmp_path / "figure.svg").read_text() == figure.svg
    with pytest.raises(ValueError, match=r"\.svg or \.png"):
        figure.save(tmp_path / "figure.pdf")
    with pytest.raises(ValueError, match="scale"):
        figure.png(0)
    with pytest.raises(KeyError, match="they have: "):
        run.figure("no-such")


@each_kind
def test_a_run_shows_itself_in_a_notebook_and_on_a_terminal(run):
    html = run._repr_html_()
    assert html.count("<table>") >= 1
    assert run.address in html
    assert str(run) == run.show()
    assert run.show(format="csv").splitlines()[0].startswith("point,")
    assert run.path.name in repr(run)
    cells = "".join(re.findall("<td>.*?</td>", html))
    assert "+-" not in cells and " .. " not in cells and ("±" in cells) == ("+-" in run.show(full=True))
    if run.answer is not None:
        assert run.answer[:20] in html
        assert run.answer[:20] in run.show()


def test_a_setting_that_was_not_measured_is_predicted_with_a_band(address):
    run = wg.exchange(address, in_sizes=[48, 500, 1000], depth=[1, 2], count=60, no_store=True)
    asked = [{"in": 700, "depth": 2}, "in=100,depth=1"]
    explained = run.explain(predict=asked, confidence=0.8)
    first, second = explained.predictions
    assert first["at"] == {"out_bytes": 16, "in_bytes": 700, "depth": 2}
    assert second["at"]["in_bytes"] == 100
    for trt in (first["trt_ns"], second["trt_ns"]):
        assert trt["low"] <= trt["value"] <= trt["high"]
        assert trt["share"] == 0.8
    assert "Predicted" in str(explained)
    with pytest.raises(wg.UsageError, match="at most"):
        run.explain(predict=asked, confidence="99%")
    with pytest.raises(TypeError, match="predict"):
        run.explain(predict=3)


def test_a_run_is_explained_and_compared_and_reported(stored, address, tmp_path):
    other = wg.exchange(address, in_sizes=[48, 1000], depth=[1, 2], count=300, warmup=5)
    explained = stored.explain()
    assert explained.data["kind"] == "exchange"
    assert "device" in str(explained)
    assert explained.models[0]["model"]["settings"] == len(stored.points)
    with pytest.raises(wg.UsageError, match="prediction interval requires 5"):
        stored.explain(predict={"in": 500, "depth": 1})
    comparison = stored.compare(other, fail_if="p50 > 100000% worse", only=["p50", "p99"])
    table = comparison.table()
    assert set(table["figure"]) == {"p50", "p99"}
    assert set(table["verdict"]) <= {"worse", "better", "no-difference-shown", "cannot-tell"}
    assert comparison.met == ()
    assert table["before"][0] == stored.points[0]["rtt"]["p50"]["value"]
    assert "before: " in str(comparison)
    assert comparison.markdown().startswith("## wiregauge compare")
    met = wg.compare(stored, [other], fail_if=["p50 > 0.000001% different", "lost > 50% more"])
    assert all("p50" in text for text in met.met)
    page = stored.report(tmp_path / "page.html")
    assert page.read_text().startswith("<!DOCTYPE html>")
    files = wg.report(stored, other, figures=tmp_path / "figures", format="svg")
    assert files and all(file.suffix == ".svg" and file.exists() for file in files)


def test_a_run_is_held_against_a_control_loop(stored, tmp_path):
    rows = stored.samples
    found = stored.deadline(period=10.0, figure=tmp_path / "deadline.svg")
    assert (tmp_path / "deadline.svg").read_text().startswith("<svg")
    assert [point["missed"] for point in found.data["points"]] == [0, 0, 0, 0]
    table = found.table()
    assert list(table["cycles"]) == [300, 300, 300, 300]
    assert (table["share_high"] > 0).all()
    # Every response misses a deadline that is shorter than all of them.
    shortest = int(rows["rtt_ns"].min())
    found = wg.deadline(stored, period="10s", deadline=f"{shortest - 1}ns", point=[0, 3])
    assert list(found.table()["missed"]) == [300, 300]
    assert found.data["points"][0]["longest_run"] == 300
    assert "Missed cycles of 10 s" in str(found)
    assert len(found.refused) == 2
    missed = stored.deadline(period=10.0, depth=1, require=["missed<1e-6", "longest<1"]).missed
    assert len(missed) == 2
    # None of 300 cycles is missed, which does not prove less than one in a million.
    assert all(text.startswith("undecided: missed<1e-6: 0 of 300 cycles") for text in missed)
    (missed,) = stored.deadline(period=10.0, deadline="1ns", point=[0], require="missed<1%").missed
    assert missed.startswith("missed<1%: 300 of 300 cycles")
    with pytest.raises(wg.UsageError, match="as fast as possible"):
        wg.deadline(stored)


def test_a_run_has_verdicts_on_a_control_loop(stored, tmp_path):
    servo = {"plant": "1000/(s^2+s)", "pid": (0.96, 0, 0.049)}
    found = stored.control(period=10e-3, noise=0.5, order="arrival", on_miss="skip", depth=1, **servo)
    assert found.data["rules"] == {"order": "arrival", "on_miss": "skip", "deadline_ns": None}
    assert found.data["period_ns"] == 10_000_000
    assert "ON THIS TRACE" in str(found)
    table = found.table()
    assert (table["depth"] == 1).all() and len(table) == len(found.data["points"])
    assert (table["cycles"] >= 300).all()
    # The cost is proportional to the noise, and is that of the model without delay.
    twice = wg.control(stored, period="10ms", noise=1, point=[0], **servo).table()
    assert twice["cost_without"][0] == pytest.approx(2 * table["cost_without"][0])
    model = tmp_path / "loop.json"
    model.write_text('{"period": "10ms", "plant": "1000/(s^2+s)", "controller": {"pid": [0.96, 0, 0.049]}}')
    same = wg.control(stored, model=model, point=[0], figures=tmp_path)
    assert sorted(path.name for path in tmp_path.glob("control-*.svg"))[0] == "control-cost.svg"
    assert list(same.table()["cost"]) == list(twice["cost"])
    with pytest.raises(wg.UsageError, match="the loop has no plant"):
        wg.control(stored, period=1.0)


def test_a_limit_on_a_control_loop_that_is_undecided_says_so(stored):
    servo = {"plant": "1000/(s^2+s)", "pid": (0.96, 0, 0.049), "period": "10ms", "point": [0]}
    on_trace = stored.control(**servo).data["points"][0]["assessment"]["on_trace"]
    # The run is too short for an interval.
    assert on_trace["interval"] is None
    (undecided,) = stored.control(require="control.cost<1000", **servo).missed
    assert undecided.startswith("undecided: control.cost<1000: ")
    (missed,) = stored.control(require=f"control.growth<{on_trace['growth']}", **servo).missed
    assert missed.startswith("control.growth<")


def test_a_report_has_a_control_loop(stored, tmp_path):
    plant = ([1000], [1, 1, 0])
    page = stored.report(tmp_path / "page.html", plant=plant, pid=(0.96, 0, 0.049), period="10ms")
    text = page.read_text()
    assert "<h2>Control loop</h2>" in text and "Model: flags" in text and "Model file model.json" in text
    files = wg.report(stored, model={"plant": "1/s", "controller": "1", "period": 10e-3}, figures=tmp_path)
    assert any(file.name.startswith("control-step") for file in files)
    with pytest.raises(wg.UsageError, match="the loop has no plant"):
        stored.report(tmp_path / "page.html", on_miss="skip", period=1.0)


def test_runs_are_listed_found_and_opened(address):
    assert len(wg.runs()) == 0
    with pytest.raises(wg.UsageError, match="no stored runs"):
        wg.last()
    first = wg.exchange(address, count=3)
    second = wg.exchange(address, count=4)
    listed = wg.runs()
    assert [one.load() for one in listed] == [first, second]
    assert [one.measured for one in listed] == [3, 4]
    assert wg.last() == wg.load(second.name) == wg.load(second.path) == second
    assert listed[-1].kind == "exchange"
    assert second.name in listed._repr_html_() and second.name in repr(listed)
    assert isinstance(listed[:1], wg.Runs)


def test_devices_are_listed():
    devices = wg.devices()
    assert {"usb", "hid", "usbtmc", "serial", "can", "network"} <= set(devices)
    assert all(isinstance(address, str) for address in devices.addresses)
    html = devices._repr_html_()
    assert "<table>" in html and all(f"<td>{address}</td>" in html for address in devices.addresses)


def test_addresses_of_devices_are_of_every_kind_except_keyboards():
    kinds = ("usb", "hid", "usbtmc", "serial", "can", "network")
    found = wg.Devices({kind: [{"address": f"{kind}://1"}] for kind in kinds})
    found["hid"] = [
        {"address": "hid://board", "is_vendor": True},
        {"address": "hid://mouse", "is_vendor": False},
    ]
    found["usb"] = [{"address": None}]
    assert found.addresses == ["hid://board", "usbtmc://1", "serial://1", "can://1", "network://1"]
    assert "hid://mouse" not in found._repr_html_() and "hid://board" in found._repr_html_()


def test_limits_are_dicts_and_print_as_the_program_does():
    found = wg.limits("usb", speed="full", type="bulk", packet=[8, 64], out_sizes=16, in_sizes=100)
    assert [one["bytes_s"] for one in found] == [568_000, 1_216_000]
    assert found[1]["exchange_ns"] == pytest.approx(155 * 8 / 12e6 * 1e9)
    assert "1,216,000" in str(found) and "1,216,000" in found._repr_html_()
    gigabit = wg.limits("tcp", rate=1e9, no_timestamps=True)[0]
    assert round(gigabit["bytes_s"] * 8 / 1e6) == 949
    with pytest.raises(wg.UsageError, match="endpoints of 8, 16, 32 or 64 B"):
        wg.limits("usb", speed="full", type="bulk", packet=65)


def test_a_run_that_is_not_stored_is_there_until_it_is_dropped(address):
    run = wg.exchange(address, count=10, no_store=True)
    assert len(run.samples) == 10 + 1 and len(wg.runs()) == 0
    assert "--no-store" in run.command
    place = run.path
    samples = run.samples
    assert place.exists()
    del run
    assert not place.parent.exists()
    assert samples["rtt_ns"].all()


@pytest.mark.parametrize("package", ["pandas", "xarray", "matplotlib"])
def test_what_needs_a_package_that_is_not_installed_says_how_to_get_it(stored, package):
    use = {"pandas": "run.table()", "xarray": "run.to_xarray()", "matplotlib": "run.plot.histogram()"}
    script = f"""
import sys
sys.modules[{package!r}] = None
import wiregauge as wg
run = wg.load({str(stored.path)!r})
assert len(run.samples) and run.figures and run._repr_html_()
try:
    {use[package]}
except ImportError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert f"pip install {package}" in said.stdout


def test_the_package_itself_imports_none_of_them():
    packages = ("pandas", "xarray", "matplotlib", "tqdm")
    script = f"import sys, wiregauge; print([name for name in {packages} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_several_links_are_a_dimension(address):
    with wg.serve("udp://127.0.0.1:0") as second:
        run = wg.exchange(address, second, count=20)
    dataset = run.to_xarray()
    assert dataset.sizes["link"] == 2 and dataset.sizes["together"] == 2
    assert isinstance(run.table(), pd.DataFrame)
    assert np.isfinite(dataset["rtt_p50_ns"]).sum() == 4


def test_a_control_run_has_its_cycles_in_a_dataset_and_refuses_plots_that_it_has_not():
    plant = "1000/(s^2+s)"
    with wg.serve("tcp://127.0.0.1:0", plant=plant) as address:
        run = wg.loop_control(
            address, plant=plant, pid=(0.96, 0, 0.049), period="6ms", duration=0.3, progress=False
        )
    assert run.to_xarray(samples=True)["start_ns"].notnull().sum() == len(run.samples) > 0
    assert run.answer[:20] in run.show()
    assert wg.runs()[-1].kind == "control" and wg.runs()[-1].measured > 0
    for name in ("histogram", "percentiles", "timeline"):
        with pytest.raises(ValueError, match="of kind control"):
            getattr(run.plot, name)()
