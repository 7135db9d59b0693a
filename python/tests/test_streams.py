"""Streams that are written to a file while they are measured."""

import pytest
from conftest import responder

import wiregauge as wg


def test_what_is_received_is_recorded_to_a_file(tmp_path):
    short = {"direction": "in", "transfer": "64k", "duration": 0.3, "settle": 0.05, "timeout": 30}
    with responder("tcp://127.0.0.1:0") as address:
        whole = tmp_path / "data.bin"
        run = wg.stream(address, record=whole, **short)
        flow = run.points[0]["flows"][0]
        assert whole.stat().st_size == flow["recording"]["bytes"] == flow["counts"]["received"] > 0


def test_a_recording_that_cannot_be_is_refused():
    with pytest.raises(wg.UsageError, match=r"^record needs received data"):
        wg.stream("null://", direction="out", record="x", no_store=True)
