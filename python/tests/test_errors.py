"""What goes wrong is an exception with the words of the program; what makes no sense, by its name."""

import errno
import os
import re
import socket
import threading
from datetime import timedelta

import numpy as np
import pytest
from conftest import program

import wiregauge as wg


def closed_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{one.getsockname()[1]}"


def test_a_link_that_fails_says_what_the_program_says():
    address = closed_port()
    with pytest.raises(wg.LinkError) as caught:
        wg.exchange(address)
    error = caught.value
    assert error.kind == "unreachable"
    assert error.os_code == error.errno == errno.ECONNREFUSED
    assert isinstance(error, OSError) and isinstance(error, wg.Error)
    assert error.run is None
    ended = program("exchange", address)
    assert ended.returncode == 3
    assert ended.stderr == f"error: {error}\n"


@pytest.mark.parametrize(
    ("arguments", "flags", "argument"),
    [
        ({"in_sizes": "x"}, ["--in=x"], "in_sizes"),
        ({"out_sizes": -1}, ["--out=-1"], "out_sizes"),
        ({"timeout": "5"}, ["--timeout=5"], "timeout"),
        ({"priority": 100}, ["--priority=100"], "priority"),
        ({"protocol": "morse"}, ["--protocol=morse"], "protocol"),
        ({"require": "p98<2ms"}, ["--require=p98<2ms"], "require"),
        ({"count": 5, "duration": 1.0}, ["--count=5", "--duration=1s"], "count"),
        ({"in_sizes": 4}, ["--in=4"], None),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_as_the_program_refuses_it(
    address, arguments, flags, argument
):
    with pytest.raises(wg.UsageError) as caught:
        wg.exchange(address, **arguments)
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.argument == argument
    ended = program("exchange", address, *flags)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"error: {error}\n"), (ended.stderr, str(error))
    assert len(wg.runs()) == 0


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"in_sizes": 4.5}, TypeError, "in_sizes must be an int"),
        ({"in_sizes": None, "depth": True}, TypeError, "depth must be"),
        ({"in_sizes": [48, "x", 2.0]}, TypeError, r"in_sizes\[2\]"),
        ({"in_sizes": []}, ValueError, "in_sizes must have at least one value"),
        ({"in_sizes": np.ones((2, 2), int)}, ValueError, "in_sizes must have one dimension"),
        ({"in_sizes": {"a": 1}}, TypeError, "in_sizes"),
        ({"in_sizes": b"48"}, TypeError, "in_sizes"),
        ({"count": "many"}, wg.UsageError, "many"),
        ({"count": 10**30}, wg.UsageError, "not a valid number of exchanges"),
        ({"timeout": float("nan")}, ValueError, "timeout must be a finite number"),
        ({"timeout": -1}, wg.UsageError, "--timeout"),
        ({"timeout": 0}, wg.UsageError, "out of range"),
        ({"timeout": 1j}, TypeError, "timeout must be"),
        ({"timeout": np.ones(2)}, TypeError, "timeout must be"),
        ({"below": [1e-3, None]}, TypeError, r"below\[1\]"),
        ({"require": 5}, TypeError, "require must be"),
        ({"protocol": 5}, TypeError, "protocol must be a str"),
        ({"lock_memory": "yes"}, TypeError, "lock_memory must be True or False"),
        ({"csv": 5}, TypeError, "csv must be"),
        ({"csv": b"x"}, TypeError, "csv must be"),
        ({"host_load": 5}, TypeError, "host_load must be"),
        ({"host_load": {"gpu": 1}}, wg.UsageError, "gpu=1"),
        ({"no_such": 1}, TypeError, "no_such"),
    ],
)
def test_wrong_types_and_shapes_are_refused_by_the_name_of_the_argument(address, arguments, error, says):
    with pytest.raises(error, match=says):
        wg.exchange(address, **arguments)
    assert len(wg.runs()) == 0


def test_values_may_be_whatever_has_the_meaning(address):
    run = wg.exchange(
        address,
        in_sizes=np.array([48, 64], np.uint16),
        depth=np.int64(2),
        count=np.int32(5),
        timeout=timedelta(milliseconds=250),
        below=(np.float32(0.5), "2ms"),
        require=["p50<10s", "lost<50%"],
        host_load={"cpu": np.int8(0)},
    )
    assert run.plan["timeout_ns"] == 250_000_000
    assert run.plan["below_ns"] == [500_000_000, 2_000_000]
    assert [point["point"]["in_bytes"] for point in run.points] == [48, 64]
    assert "--in=48,64" in run.command and run.missed == ()


def test_a_limit_that_is_missed_is_told_not_raised(address):
    run = wg.exchange(address, count=20, require=["p50<1ns", "p50<1h"])
    (missed,) = run.missed
    assert re.fullmatch(r"p50<1ns: [\d.]+ [num]?s( \(95 %: .* \.\. .*\))?", missed)


def test_other_addresses_than_texts_are_refused():
    with pytest.raises(TypeError, match=r"addresses\[0\]"):
        wg.exchange(5)
    with pytest.raises(wg.UsageError, match="ADDRESS"):
        wg.exchange()
    with pytest.raises(wg.UsageError):
        wg.exchange("--help")
    with pytest.raises(wg.UsageError):
        wg.exchange("tcp://127.0.0.1:7\0")
    with pytest.raises(ValueError):
        wg.exchange("tcp://\ud800")
    with pytest.raises(TypeError, match="run must be"):
        wg.load(5)
    with pytest.raises(TypeError, match="run must be"):
        wg.show(b"last")
    with pytest.raises(ValueError, match="before must have at least one run"):
        wg.compare([], "last")
    with pytest.raises(wg.UsageError, match="no-such-run"):
        wg.load("no-such-run")
    with pytest.raises(wg.UsageError, match="--parquet"):
        wg.export("last")


def test_what_was_measured_before_a_failure_comes_with_the_error():
    with wg.serve("tcp://127.0.0.1:0", disconnect_after=50) as address, pytest.raises(wg.LinkError) as caught:
        wg.exchange(address, count=1000, timeout=0.2)
    error = caught.value
    assert error.kind in ("disconnected", "unreachable", "timeout")
    assert error.run is not None and error.run.state == "failed"
    assert 0 < (error.run.samples["status"] == wg.Status.OK).sum() <= 50
    assert error.run.failed in str(error)


def test_a_file_that_cannot_be_written_is_named(address, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(wg.Error, match="not empty"):
        wg.exchange(address, count=1, store=tmp_path / "full")
    with pytest.raises(wg.StorageError, match="no/where"):
        wg.exchange(address, count=1, csv="no/where/x.csv")


def test_a_responder_that_cannot_serve_says_so(address):
    with pytest.raises(wg.LinkError) as caught:
        wg.serve(address)
    assert caught.value.kind == "busy"
    with pytest.raises(wg.UsageError):
        wg.serve("carrier-pigeon://")
    with pytest.raises(TypeError, match="stall must be"):
        wg.serve("pty:", stall=5)
    with pytest.raises(wg.UsageError, match="usb-gadget"):
        wg.serve("tcp://127.0.0.1:0", udc="x")


def test_a_responder_is_gone_after_its_block_and_after_it_is_dropped():
    responder = wg.serve("tcp://127.0.0.1:0", service_time="1ms", stall=("every=1000", 0.001))
    with responder as address:
        assert wg.exchange(address, count=3).points[0]["rtt"]["min"] >= 1e6
        assert responder.is_serving and "connected" in responder.remarks
    assert not responder.is_serving
    responder.stop()
    with pytest.raises(wg.LinkError):
        wg.exchange(address, count=3)


def test_nothing_grows_over_many_calls(address):
    def held() -> tuple[int, int, int]:
        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[1])
        return pages * os.sysconf("SC_PAGESIZE"), len(os.listdir("/proc/self/fd")), threading.active_count()

    def once(number: int) -> None:
        run = wg.exchange(address, count=200, no_store=True, no_calibration=True)
        assert len(run.samples) == 201
        with pytest.raises(wg.UsageError):
            wg.exchange(address, in_sizes="x")
        with pytest.raises(wg.LinkError):
            wg.exchange("unix:///no/where", count=1)
        with wg.serve("tcp://127.0.0.1:0"):
            pass

    for number in range(5):
        once(number)
    before = held()
    for number in range(15):
        once(number)
    after = held()
    assert after[1:] == before[1:]
    assert after[0] - before[0] < 8 << 20
