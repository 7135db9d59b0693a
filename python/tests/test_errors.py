"""What goes wrong is an exception with the words of the program; what makes no sense, by its name."""

import errno
import json
import os
import re
import socket
import threading
from datetime import timedelta

import numpy as np
import pytest
from conftest import program

import wiregauge as wg
from wiregauge import _words


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
    assert _words.in_python(ended.stderr) == f"error: {error}\n"


@pytest.mark.parametrize(
    ("arguments", "argument", "says"),
    [
        ({"in_sizes": "x"}, "in_sizes", "in_sizes: `x` is not a valid size: use bytes, such as 64, 4k or 1M"),
        ({"out_sizes": -1}, "out_sizes", "out_sizes must be at least 0, not -1"),
        ({"depth": 0}, "depth", "depth must be at least 1, not 0"),
        ({"depth": [1, -2]}, "depth", "depth must be at least 1, not -2"),
        ({"in_sizes": [48, -3]}, "in_sizes", "in_sizes must be at least 0, not -3"),
        ({"count": -1}, "count", "count must be at least 1, not -1"),
        ({"warmup": -1}, "warmup", "warmup must be at least 0, not -1"),
        ({"duration": -1}, "duration", "duration must be at least 1 ns, not -1s"),
        ({"duration": 0}, "duration", "duration must be 1 ns to 1 year, not 0ns"),
        ({"below": [1e-3, -0.5]}, "below", "below must be at least 1 ns, not -500ms"),
        ({"rate": -5}, "rate", "rate must be more than 0, not -5"),
        ({"rate": 0}, "rate", "rate must be more than 0, not 0"),
        ({"pin": -1}, "pin", "pin must be at least 0, not -1"),
        ({"priority": -1}, "priority", "priority must be 1 to 99, not -1"),
        ({"timeout": "5"}, "timeout", "timeout: `5` is not a duration: use a number and a unit"),
        ({"priority": 100}, "priority", "priority must be 1 to 99, not 100"),
        ({"wait": "nap"}, "wait", "wait must be one of 'block', 'poll', 'spin', not 'nap'"),
        ({"require": "p98<2ms"}, "require", "require: unknown figure `p98`; figures are p50, p90"),
        ({"count": 5, "duration": 1.0}, "count", "the argument count cannot be used with duration"),
        ({"in_sizes": 10**12}, "in_sizes", "in_sizes: 1000000000000 is too large"),
        ({"in_sizes": "1.."}, "in_sizes", "in_sizes: an empty value in '1..' is not a valid size"),
        ({"require": "p99<"}, "require", "require: an empty value in 'p99<' is not a duration"),
        ({"pin": 99999}, "pin", "cannot pin the measuring thread to CPU 99999"),
        ({"in_sizes": 4}, None, "in_sizes=4 is too small"),
        ({"in_sizes": 4}, None, 'hint: use a larger size, or protocol="echo"'),
        ({"connect": "each", "depth": 2}, None, 'connect="each" requires depth=1'),
        ({"until": "x"}, None, 'until has no effect with protocol="wiregauge"'),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_in_the_words_of_python(address, arguments, argument, says):
    with pytest.raises(wg.UsageError) as caught:
        wg.exchange(address, **arguments)
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.argument == argument
    assert says in str(error)
    assert "--" not in str(error)
    assert len(wg.runs()) == 0


@pytest.mark.parametrize(
    ("text", "in_words"),
    [
        (
            "use wiregauge exchange; at best: wiregauge limits can",
            'use wg.exchange; at best: wg.limits("can")',
        ),
        (
            "measure its data: wiregauge stream --protocol raw --direction in",
            'measure its data: wg.stream(address, protocol="raw", direction="in")',
        ),
        ("fix it with: wiregauge doctor --fix", "fix it with: wg.doctor(fix=True)"),
        ("start one: wiregauge serve tcp://10.0.0.5:7700", 'start one: wg.serve("tcp://10.0.0.5:7700")'),
        ("cannot open /tmp/a--in/b: no such file", "cannot open /tmp/a--in/b: no such file"),
        ("sudo ip link set can0 up --no-such", "sudo ip link set can0 up --no-such"),
        ("are required (--count\n  1700). --wait spin", 'are required (count=1700). wait="spin"'),
        ("--full\nmeasured with: wiregauge loop --quiet", "full=True\nmeasured with: wiregauge loop --quiet"),
        ("wiregauge exchange --in 48,1k tcp://h:1", 'wg.exchange("tcp://h:1", in_sizes="48,1k")'),
        ("about a warning: wiregauge help W05", "about a warning: wiregauge help W05"),
        ("wiregauge exchange ADDRESS --no-store --depth 4", "wg.exchange(address, no_store=True, depth=4)"),
        ("omit --protocol echo. Or use --count 3500.", 'omit protocol="echo". Or use count=3500.'),
        (
            "an echo server: wiregauge exchange --protocol echo",
            'an echo server: wg.exchange(address, protocol="echo")',
        ),
        ("such as --read holding:0+10", 'such as read="holding:0+10"'),
        ("see wiregauge stream --rate", "see wg.stream(address, rate=...)"),
        ("wiregauge show 2026-11-26T23-44-16Z-virtual", 'wg.show("2026-11-26T23-44-16Z-virtual")'),
        ("`wiregauge runs` lists the runs", "`wg.runs()` lists the runs"),
        ("Try --in 64,512,4k --depth 1,4", 'Try in_sizes="64,512,4k", depth="1,4"'),
        ("give --pid K,Ti,Td, --controller TF or", 'give pid="K,Ti,Td", controller="TF" or'),
        ("all tables: --full; about a warning", "all tables: wg.show(run, full=True); about a warning"),
        ("all tables and W05, W07: --full", "all tables and W05, W07: wg.show(run, full=True)"),
        ("(--count 760); intervals: --full", "(count=760); intervals: wg.show(run, full=True)"),
        ("hint: use an exchange", "hint: use exchange()"),
    ],
)
def test_commands_and_flags_in_an_error_become_functions_and_arguments(text, in_words):
    assert _words.in_python(text) == in_words


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
        ({"timeout": -1}, wg.UsageError, "timeout must be at least 1 ns, not -1s"),
        ({"timeout": 0}, wg.UsageError, "timeout must be 1 ns to 1 year"),
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
        require=["max<10s", "corrupted=0"],
        host_load={"cpu": np.int8(0)},
    )
    assert run.plan["timeout_ns"] == 250_000_000
    assert run.plan["below_ns"] == [500_000_000, 2_000_000]
    assert [point["point"]["in_bytes"] for point in run.points] == [48, 64]
    assert "--in=48,64" in run.command and run.missed == ()


def test_a_limit_that_is_missed_is_told_not_raised(address):
    run = wg.exchange(address, count=20, require=["max<1ns", "max<1h"])
    (missed,) = run.missed
    assert re.fullmatch(r"max<1ns: [\d.]+ [num]?s, [\d.,]+ times the limit", missed)


def test_other_addresses_than_texts_are_refused():
    with pytest.raises(TypeError, match=r"^address must be a str, not int"):
        wg.exchange(5)
    with pytest.raises(TypeError, match=r"addresses\[1\] must be a str, not int"):
        wg.exchange("null://", 5)
    with pytest.raises(
        wg.UsageError, match=r"medium must be one of 'usb', 'uart'.* not 'firewire'"
    ) as caught:
        wg.limits("firewire")
    assert caught.value.argument == "medium"
    with pytest.raises(wg.UsageError, match=r"`wg\.runs\(\)` lists the stored runs"):
        wg.load("no-such-run")
    with pytest.raises(wg.UsageError, match="missing argument: address"):
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
    with pytest.raises(wg.UsageError, match="missing argument: csv or parquet or json"):
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


def test_no_text_that_python_shows_has_flags(address):
    run = wg.exchange(address, count=50, host_load={"cpu": 1}, in_sizes=[48, 1000])
    assert run.warnings and any("count=" in text for text in run.warnings)
    shown = [*run.warnings, run._repr_html_(), str(run.explain()), run.show(full=True)]
    shown += [str(run.deadline(period=1)), str(run.compare(run)), run.show(full=True, confidence=True)]
    assert "measured with: wiregauge exchange --in=48,1000" in str(run)
    for text in [*shown, str(run)]:
        text = re.sub(r"(?m)^measured with: wiregauge .*", "", text)
        assert not re.search(r"(?<![\w-])--[a-z]", text), text
    # What another program reads stays as it is.
    assert json.loads(run.show(format="json"))["kind"] == "exchange"


@pytest.mark.parametrize("progress", ["plott", 5, None])
def test_a_progress_that_does_not_exist_is_refused(address, progress):
    with pytest.raises(wg.UsageError, match="progress must be True, False or 'plot', not ") as caught:
        wg.exchange(address, count=5, progress=progress)
    assert caught.value.argument == "progress"


def test_a_setting_to_predict_is_named_by_its_key(stored):
    with pytest.raises(wg.UsageError, match=r"^predict: depth must be at least 1, not 0$"):
        stored.explain(predict={"depth": 0})


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"protocol": "foo"}, "protocol"),
        ({"framing": "raw"}, "framing"),
        ({"framing": wg.Raw(), "baud": 9600}, "baud"),
        ({"timeout": 0}, "timeout"),
        ({"protocol": "text", "unit": 1}, "unit"),
        ({"protocol": "text", "reply_bytes": -1}, "reply_bytes"),
    ],
)
def test_the_error_of_an_open_names_its_argument(echo, arguments, argument):
    with pytest.raises(wg.UsageError) as caught:
        wg.open(echo, **arguments)
    assert caught.value.argument == argument and argument in str(caught.value)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda address: wg.stream(address, transfer=0), "transfer"),
        (lambda address: wg.loop("virtual", notify=0), "notify"),
        (lambda address: wg.serve("tcp://127.0.0.1:0", plant="x"), "plant"),
    ],
)
def test_an_error_that_the_program_finds_later_names_its_argument_too(address, call, argument):
    with pytest.raises(wg.UsageError) as caught:
        call(address)
    assert caught.value.argument == argument
