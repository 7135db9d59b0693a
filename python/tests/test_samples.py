"""Samples are where Rust laid them out, and say what the run directory says."""

import csv
import gc
import re

import numpy as np
import pytest
from conftest import REPOSITORY, each_kind

import wiregauge as wg
from wiregauge import _frames, _native, samples


@each_kind
def test_an_array_looks_at_the_memory_that_rust_filled(run):
    rows = run.samples
    assert type(rows.base) is _native.Rows
    assert not rows.flags.owndata
    assert rows.flags.c_contiguous
    assert rows.flags.aligned
    place = np.frombuffer(rows.base, np.uint8).__array_interface__["data"][0]
    assert rows.__array_interface__["data"][0] == place
    for name in rows.dtype.names:
        assert np.shares_memory(rows[name], rows)


def test_a_measurement_cannot_be_written_to(stored):
    with pytest.raises(ValueError, match="read-only"):
        stored.samples["rtt_ns"][0] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        stored.samples.flags.writeable = True
    copy = stored.samples.copy()
    copy["rtt_ns"][0] = 0


def test_an_array_outlives_its_run(stored):
    run = wg.load(stored.path)
    rows = run.samples
    rtt = rows["rtt_ns"]
    expected = rtt.copy()
    del run, rows
    gc.collect()
    # Whatever is freed would be overwritten by these.
    heaps = [np.full(300_000, 7, np.uint8) for _ in range(20)]
    assert (rtt == expected).all()
    del heaps


@each_kind
def test_the_fields_are_the_columns_of_the_run_format(run):
    page = (REPOSITORY / "docs/run-format.md").read_text()
    section = page.split(f"## Samples of a{'n' if run.kind[0] == 'e' else ''} {run.kind} run")[1]
    section = section.split("\n## ")[0]
    columns = re.findall(r"^\| `(\w+)` \| (\w+)", section, re.MULTILINE)
    columns = [column for column in columns if column[0] != "data"]
    assert run.samples.dtype.names == ("point", *(name for name, _ in columns))
    for name, kind in columns:
        found = run.samples.dtype[name]
        assert found == (np.uint8 if kind == "string" else np.dtype(kind)), name


@each_kind
def test_every_value_is_the_one_in_the_export(run, tmp_path):
    (path,) = wg.export(run, parquet=tmp_path / "all.parquet")
    assert path.read_bytes()[:4] == b"PAR1"
    (path,) = wg.export(run, csv=tmp_path / "all.csv")
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(run.samples)
    times = [name for name in run.samples.dtype.names if name.endswith("_ns")]
    theirs = {"rtt_ns": "delta_time_us"}
    for row, mine in zip(rows, run.samples, strict=True):
        assert int(row["point"]) == mine["point"]
        assert int(row["sequence"]) == mine["sequence"]
        assert row["phase"] == samples.names(run.kind, "phase")[mine["phase"]]
        for name in times:
            cell = row[theirs.get(name, name.removesuffix("_ns") + "_us")]
            # Empty where it was not measured.
            assert int(cell.replace(".", "") or 0) == mine[name], name


def test_a_kind_of_run_without_a_table_of_its_own_has_all_its_columns_and_rows():
    made = _frames.summary("point,n,mean_g\n0,3,1.5\n", "weigh")
    assert list(made.columns) == ["point", "n", "mean_g"]
    rows = np.zeros(3, np.dtype([("point", "u4"), ("at_ns", "u8")]))
    assert _frames.timed(rows, "weigh").all()


def test_the_enumerations_are_those_of_the_engine():
    for (kind, field), enumeration in {
        ("exchange", "phase"): wg.Phase,
        ("exchange", "status"): wg.Status,
        ("stream", "status"): wg.TransferStatus,
        ("control", "status"): wg.ControlStatus,
        ("stream", "way"): wg.Way,
        ("loop", "xrun"): wg.Xrun,
    }.items():
        ours = [member.name.lower().replace("_", "-") for member in enumeration]
        assert ours == samples.names(kind, field)
        assert [member.value for member in enumeration] == list(range(len(ours)))


@each_kind
def test_the_rows_of_a_point_are_the_same_however_they_are_asked_for(run):
    alone = wg.load(run.path)
    for place, point in enumerate(run.points):
        rows = alone.samples_of(place)
        assert (rows["point"] == point["point"]["index"]).all()
        assert (rows == run.samples[run.samples["point"] == point["point"]["index"]]).all()
    assert (alone.samples_of(-1) == rows).all()
    viewed = run.samples_of(-1)
    assert (viewed == rows).all()
    assert np.shares_memory(viewed, run.samples)
    with pytest.raises(IndexError):
        run.samples_of(len(run.points))


def test_the_rows_count_what_the_summary_counts(stored):
    for place, point in enumerate(stored.points):
        rows = stored.samples_of(place)
        assert (rows["phase"] == wg.Phase.FIRST).sum() == 1
        assert (rows["phase"] == wg.Phase.WARM_UP).sum() == 5
        measured = rows[rows["phase"] == wg.Phase.MEASURED]
        assert len(measured) == point["counts"]["exchanges"] == 300
        assert measured["rtt_ns"].mean() == pytest.approx(point["rtt"]["mean"]["value"])


def test_answers_are_kept_where_that_is_asked_for(address):
    run = wg.exchange(address, in_sizes=100, count=5, keep_data=True)
    answers = run.answers(0)
    assert [len(answer) for answer in answers] == [100] * len(run.samples)
    assert len(set(answers)) > 1
    with pytest.raises(wg.UsageError, match="keep_data"):
        wg.exchange(address, count=1).answers(0)


def test_a_damaged_sample_file_is_an_error_that_names_it(address):
    run = wg.exchange(address, count=5)
    (file,) = (run.path / "samples").iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(OSError, match=file.name):
        _ = run.samples
    assert run.points, "the summaries are still there"
