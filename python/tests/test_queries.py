"""Devices that know nothing of wiregauge: their own queries."""

import pytest
from conftest import responder

import wiregauge as wg


def test_text_and_bytes_are_sent_as_they_are():
    with responder("tcp://127.0.0.1:0", "--protocol", "scpi") as address:
        send = ["*IDN?\n", b"*OPC?\n"]
        run = wg.exchange(
            address, protocol="text", send=send, until="\n", count=20, timeout=60, no_calibration=True
        )
        assert [query["name"] for query in run.points[0]["queries"]] == ["*IDN?\\x0a", "*OPC?\\x0a"]
        assert [query["answered"] for query in run.points[0]["queries"]] == [10, 10]


def test_registers_that_are_not_there_are_unexpected_replies():
    with responder("tcp://127.0.0.1:0", "--protocol", "modbus") as address:
        reads = ["holding:0+2", "holding:9999+2"]
        run = wg.exchange(address, protocol="modbus", read=reads, count=20, timeout=60, no_calibration=True)
        assert run.points[0]["counts"]["unexpected"] == 10
        assert run.points[0]["unexpected"] == [{"what": "exception 2 (illegal data address)", "times": 10}]


def test_what_has_no_effect_is_refused():
    with pytest.raises(wg.UsageError, match='send has no effect with protocol="echo"'):
        wg.exchange("tcp://127.0.0.1:1", protocol="echo", send="x")
    with pytest.raises(TypeError, match="send must be a str, bytes, or several"):
        wg.exchange("tcp://127.0.0.1:1", protocol="text", send=5)
