"""Streams that are written to a file while they are measured."""

import pytest
from conftest import responder

import wiregauge as wg


def test_what_is_received_is_recorded_to_one_file_or_to_several(tmp_path):
    short = {"direction": "in", "transfer": "64k", "duration": 0.3, "settle": 0.05, "timeout": 30}
    with responder("tcp://127.0.0.1:0") as address:
        whole = tmp_path / "data.bin"
        run = wg.stream(address, record=whole, **short)
        flow = run.points[0]["flows"][0]
        assert whole.stat().st_size == flow["recording"]["bytes"] == flow["counts"]["received"] > 0

        run = wg.stream(address, record=str(tmp_path / "part.%03d"), split="1M", **short)
        recording = run.points[0]["flows"][0]["recording"]
        parts = sorted(tmp_path.glob("part.*"))
        assert len(parts) == recording["files"]
        assert sum(part.stat().st_size for part in parts) == recording["bytes"]
        assert all(part.stat().st_size == 1 << 20 for part in parts[:-1])

        # The parts of the earlier recording would be mixed with those of a new one.
        with pytest.raises(wg.UsageError, match=r"part\.000 exists"):
            wg.stream(address, record=str(tmp_path / "part.%03d"), split="1M", **short)


def test_a_recording_that_cannot_be_is_refused():
    with pytest.raises(wg.UsageError, match=r"^split needs a file name with a number.*record='x.%03d'"):
        wg.stream("null://", direction="in", record="x", split="1G", no_store=True)
