"""An open device from Python: what comes back, what is refused, and that nothing is left behind."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from peers import BOUND_S, instrument, responder, silent, terminal

import wiregauge as wg


@pytest.fixture(scope="module")
def board() -> Iterator[str]:
    """A responder that speaks the wiregauge protocol."""
    with responder() as address:
        yield address


@pytest.fixture(scope="module")
def echo() -> Iterator[str]:
    """Any echo server."""
    with responder("tcp://127.0.0.1:0", "--protocol", "echo") as address:
        yield address


def pattern(count: int, sequence: int = 0) -> bytes:
    """The payload of the wiregauge protocol."""
    return bytes((sequence + at) % 251 for at in range(count))


# ---- one exchange ----------------------------------------------------------------------------


def test_a_reply_has_the_bytes_that_were_asked_for(board: str) -> None:
    with wg.open(board) as device:
        assert len(device.exchange(pattern(16), 100)) == 100
        assert len(device.exchange(b"", 0)) == 0
        assert device.last_rtt_ns > 0


def test_an_echo_gives_back_bytes_and_arrays_of_any_dtype(echo: str) -> None:
    numbers = np.arange(8, dtype="<f8")
    with wg.open(echo, framing=wg.Raw()) as device:
        assert device.exchange(b"hello") == b"hello"
        assert device.exchange(bytearray(b"hello")) == b"hello"
        assert device.exchange(memoryview(b"hello")[1:3]) == b"el"
        assert device.exchange(numbers) == numbers.tobytes()
        assert device.exchange(b"abcd", 4) == b"abcd"


def test_a_reply_can_go_into_a_buffer_that_is_there(echo: str) -> None:
    into = np.zeros(4, "<u2")
    with wg.open(echo, framing=wg.Raw()) as device:
        assert device.exchange(struct.pack("<4H", 1, 2, 3, 4), into=into) == 8
        assert into.tolist() == [1, 2, 3, 4]


def test_a_buffer_that_cannot_be_used_is_refused_in_words(echo: str) -> None:
    with wg.open(echo, framing=wg.Raw()) as device:
        with pytest.raises(TypeError, match="a request must be bytes or an array in C order; this str"):
            device.exchange("text")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="in C order"):
            device.exchange(np.zeros((4, 4), np.uint8)[:, ::2])
        with pytest.raises((TypeError, ValueError), match="written to"):
            device.exchange(b"abcd", into=b"    ")  # type: ignore[arg-type]
        frozen = np.zeros(4, np.uint8)
        frozen.flags.writeable = False
        with pytest.raises(ValueError, match="written to"):
            device.exchange(b"abcd", into=frozen)
        # None of it has touched the line.
        assert device.exchange(b"abcd") == b"abcd"


def test_a_device_tells_what_it_is(board: str) -> None:
    with wg.open(board) as device:
        about = device.about
        assert about["address"] == board
        assert about["responder"]["name"]
        assert about["largest_request"] > 0
        assert board in repr(device)


# ---- framings --------------------------------------------------------------------------------


def test_an_instrument_is_asked_line_by_line() -> None:
    with (
        instrument(lambda line: b"ACME,1,%d\n" % len(line)) as address,
        wg.open(address, framing=wg.Terminator(b"\n")) as device,
    ):
        assert device.exchange(b"*IDN?") == b"ACME,1,6"
        assert list(device.pipeline([b"a", b"bc"], depth=2)) == [b"ACME,1,2", b"ACME,1,3"]


def test_a_pty_answers_with_a_length_in_front() -> None:
    def answer(message: bytes) -> bytes:
        assert message[:2] == len(message[2:]).to_bytes(2, "big"), message
        return (3).to_bytes(2, "big") + message[2:5]

    with (
        terminal(answer) as address,
        wg.open(address, framing=wg.LengthPrefix(2, big_endian=True)) as device,
    ):
        assert device.exchange(b"abcdef") == b"abc"


def test_fixed_replies_come_whole_from_a_pty() -> None:
    with (
        terminal(lambda message: message * 4) as address,
        wg.open(address, framing=wg.Fixed(32)) as device,
    ):
        assert device.exchange(b"12345678") == b"12345678" * 4


@pytest.mark.skipif(not shutil.which("socat"), reason="needs socat")
def test_pyserial_at_the_other_end_of_a_line(tmp_path: Path) -> None:
    serial = pytest.importorskip("serial")
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    line = subprocess.Popen(["socat", f"pty,raw,echo=0,link={ours}", f"pty,raw,echo=0,link={theirs}"])
    try:
        until = time.monotonic() + BOUND_S
        while not (ours.exists() and theirs.exists()):
            assert time.monotonic() < until
            time.sleep(0.02)
        with serial.Serial(str(theirs), timeout=BOUND_S) as peer:

            def answer() -> None:
                for _ in range(20):
                    peer.write(peer.read_until(b"\r")[:-1][::-1] + b"\r")

            thread = threading.Thread(target=answer)
            thread.start()
            with wg.open(f"serial://{ours}", framing=wg.Terminator(b"\r")) as device:
                for n in range(20):
                    text = f"MEAS {n}".encode()
                    assert device.exchange(text) == text[::-1]
            thread.join(BOUND_S)
    finally:
        line.terminate()
        line.wait(BOUND_S)


# ---- batches ---------------------------------------------------------------------------------


def test_a_batch_of_rows_comes_back_row_by_row(echo: str) -> None:
    requests = np.arange(100 * 8, dtype="<u4").reshape(100, 8)
    with wg.open(echo, framing=wg.Fixed(32)) as device:
        replies = device.exchange_many(requests, depth=4)
        assert replies.dtype == np.uint8
        assert replies.shape == (100, 32)
        assert (replies.view("<u4") == requests).all()
        assert device.last_timings.dtype == wg.TIMING
        assert (device.last_timings["rtt_ns"] > 0).all()
        assert (np.diff(device.last_timings["start_ns"].astype("i8")) >= 0).all()
        assert (device.last_lengths == 32).all()


def test_a_batch_can_be_a_list_or_a_buffer_of_equal_pieces(board: str) -> None:
    with wg.open(board) as device:
        assert device.exchange_many([pattern(0), pattern(8), pattern(3)], reply_bytes=5).shape == (
            3,
            5,
        )
        assert device.exchange_many(pattern(64), request_bytes=16, depth=2).shape == (4, 16)
        assert device.exchange_many([]).shape == (0, 0)
        assert device.exchange_many(np.zeros((0, 4), np.uint8)).shape == (0, 4)


def test_replies_of_different_lengths_tell_how_long_they_are() -> None:
    with (
        instrument(lambda line: line) as address,
        wg.open(address, framing=wg.Terminator()) as device,
    ):
        replies = device.exchange_many([b"a", b"four", b""], reply_bytes=8)
        assert device.last_lengths.tolist() == [1, 4, 0]
        assert bytes(replies[1]) == b"four\0\0\0\0"


def test_a_batch_goes_into_an_array_that_is_there(echo: str) -> None:
    requests, out = np.arange(60, dtype="<f4").reshape(10, 6), np.zeros((10, 6), "<f4")
    with wg.open(echo, framing=wg.Raw()) as device:
        assert device.exchange_many(requests, out=out, depth=2) is out
    assert (out == requests).all()


@pytest.mark.parametrize(
    ("requests", "options", "said"),
    [
        (np.zeros(8, np.uint8), {}, "one row for each"),
        (np.zeros((4, 8), np.uint8).T, {}, "in C order"),
        (np.zeros((4, 8), np.uint8)[:, ::2], {}, "in C order"),
        (np.array([["a", None]], object), {}, "Python objects"),
        (b"12345", {"request_bytes": 2}, "whole number of requests"),
        (b"12345", {}, "with `request_bytes`"),
        ([b"ab"], {"request_bytes": 2}, "for one buffer"),
        (["ab"], {}, "str"),
        (np.zeros((4, 8), np.uint8), {"out": np.zeros((3, 8), np.uint8)}, "row for each of the 4"),
        (np.zeros((4, 8), np.uint8), {"out": np.zeros((4, 16), np.uint8)[:, ::2]}, "in C order"),
        (
            np.zeros((4, 8), np.uint8),
            {"out": np.frombuffer(bytes(32), np.uint8).reshape(4, 8)},
            "read-only",
        ),
        (
            np.zeros((4, 8), np.uint8),
            {"out": np.zeros((4, 8), np.uint8), "reply_bytes": 9},
            "a row of `out`",
        ),
    ],
)
def test_a_batch_that_cannot_be_used_is_refused(
    echo: str, requests: object, options: dict[str, object], said: str
) -> None:
    with wg.open(echo, framing=wg.Raw()) as device:
        with pytest.raises((TypeError, ValueError), match=said):
            device.exchange_many(requests, **options)  # type: ignore[arg-type]
        assert device.exchange(b"abcd") == b"abcd"


def test_a_batch_that_fails_tells_how_far_it_came() -> None:
    answers = iter([True] * 3)
    with (
        instrument(lambda line: line if next(answers, False) else b"") as address,
        wg.open(address, framing=wg.Terminator(), timeout="2s") as device,
    ):
        with pytest.raises(wg.LinkError) as caught:
            device.exchange_many([b"%d" % n for n in range(8)], reply_bytes=4)
        assert caught.value.done == 3
        assert [bytes(row).rstrip(b"\0") for row in caught.value.replies] == [b"0", b"1", b"2"]
        assert len(device.last_timings) == 3


# ---- pipelines -------------------------------------------------------------------------------


def test_a_pipeline_keeps_the_order_and_no_more_than_its_depth(echo: str) -> None:
    given: list[int] = []

    def source() -> Iterator[bytes]:
        for n in range(200):
            given.append(n)
            yield n.to_bytes(4, "little")

    with wg.open(echo, framing=wg.Fixed(4)) as device:
        for n, reply in enumerate(device.pipeline(source(), depth=3)):
            assert int.from_bytes(reply, "little") == n
            assert len(given) <= n + 3
        assert len(given) == 200


def test_a_pipeline_that_is_left_early_leaves_nothing_on_the_line(echo: str) -> None:
    with wg.open(echo, framing=wg.Fixed(4)) as device:
        for reply in device.pipeline((n.to_bytes(4, "little") for n in range(100)), depth=4):
            if reply == (5).to_bytes(4, "little"):
                break
        assert device.exchange(b"next") == b"next"


def test_a_source_that_raises_ends_the_pipeline(echo: str) -> None:
    def source() -> Iterator[bytes]:
        yield b"1234"
        raise KeyError("the measurement is over")

    with wg.open(echo, framing=wg.Fixed(4)) as device:
        with pytest.raises(KeyError, match="over"):
            list(device.pipeline(source(), depth=4))
        assert device.exchange(b"next") == b"next"


def test_two_pipelines_at_once_are_refused(echo: str) -> None:
    with wg.open(echo, framing=wg.Fixed(4)) as device:
        first = device.pipeline([b"1234"] * 10, depth=2)
        next(first)
        with pytest.raises(RuntimeError, match="another pipeline"):
            device.pipeline([b"1234"])
        assert len(list(first)) == 9


# ---- control loops ---------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_a_loop_makes_each_command_from_the_newest_reply(echo: str, depth: int) -> None:
    heard: list[int | None] = []

    def step(measurement: bytes | None) -> bytes:
        heard.append(None if measurement is None else int.from_bytes(measurement, "little"))
        return (len(heard) - 1).to_bytes(4, "little")

    with wg.open(echo, framing=wg.Fixed(4)) as device:
        cycles = device.control(step, depth=depth, cycles=50, request=bytes(4))
    assert cycles.dtype == wg.CYCLE
    assert len(cycles) == 50
    assert (cycles["status"] == 0).all()
    # What the step was given is what the rows say it was: the reply to that cycle's command.
    made_from = [None if cycle == wg.NEVER else cycle for cycle in cycles["made_from"].tolist()]
    assert heard == made_from
    for n, cycle in enumerate(made_from):
        # The oldest that it can be is the one whose place this cycle takes.
        assert n > 0 or cycle is None
        assert n < depth or (cycle is not None and n - depth <= cycle < n)


def test_a_loop_keeps_its_period_and_takes_times_as_text(echo: str) -> None:
    with wg.open(echo, framing=wg.Fixed(8)) as device:
        cycles = device.control(lambda _: None, period="2ms", depth=2, duration="100ms", request=bytes(8))
    assert len(cycles) == 50
    assert (np.diff(cycles["intended_ns"].astype("i8")) == 2_000_000).all()
    assert (cycles["start_ns"] >= cycles["intended_ns"]).all()


def test_what_a_step_raises_ends_the_loop(echo: str) -> None:
    left = iter(range(5))

    def step(measurement: bytes | None) -> bytes:
        if measurement == b"stop":
            raise ZeroDivisionError("a wrong control law")
        return b"stop" if next(left, None) is None else b"go.."

    with wg.open(echo, framing=wg.Fixed(4)) as device:
        with pytest.raises(ZeroDivisionError, match="wrong control law") as caught:
            device.control(step, cycles=100, request=bytes(4))
        assert 0 < len(caught.value.cycles) < 100
        assert device.exchange(b"next") == b"next"


def test_stop_iteration_ends_a_loop_in_peace(echo: str) -> None:
    left = iter(range(7))
    with wg.open(echo, framing=wg.Fixed(4)) as device:
        cycles = device.control(lambda _: b"%04d" % next(left), cycles=100)
        assert len(cycles) == 7
        assert device.exchange(b"next") == b"next"


def test_a_gain_computes_without_python(echo: str) -> None:
    with wg.open(echo, framing=wg.Fixed(8)) as device:
        first = np.array([1.0, -8.0], "<f4")
        cycles = device.control(wg.Gain(0.5, offset=1, low=-3, high=3), cycles=4, request=first)
        assert len(cycles) == 4
        assert (cycles["status"] == 0).all()
        with pytest.raises(TypeError, match="dtype"):
            device.control(wg.Gain(0.5, dtype=">f4"), cycles=4, request=first)
        with pytest.raises(ValueError, match="ascend"):
            device.control(wg.Gain(0.5, low=1, high=0), cycles=4, request=first)


def test_a_gain_is_what_a_step_with_the_same_law_does() -> None:
    heard: list[list[bytes]] = []

    def answer(message: bytes) -> bytes:
        heard[-1].append(message)
        return message

    def law(measurement: bytes | None) -> bytes | None:
        if measurement is None:
            return None
        numbers = np.frombuffer(measurement, "<i2")
        return np.clip(10 + 3 * numbers.astype(float), -500, 500).round().astype("<i2").tobytes()

    first = np.array([7, -9, 1000], "<i2")
    with terminal(answer) as address, wg.open(address, framing=wg.Fixed(6)) as device:
        for step in (law, wg.Gain(3, offset=10, low=-500, high=500, dtype="<i2")):
            heard.append([])
            device.control(step, cycles=8, request=first)
    assert heard[0] == heard[1]
    assert len(heard[0]) == 8


def test_a_step_cannot_use_the_device_of_its_own_loop(echo: str) -> None:
    with wg.open(echo, framing=wg.Fixed(4)) as device:
        with pytest.raises(RuntimeError, match="in use"):
            device.control(lambda _: device.exchange(b"ping"), cycles=4, request=bytes(4))
        assert device.exchange(b"next") == b"next"


def test_a_command_that_is_no_bytes_is_refused(echo: str) -> None:
    with wg.open(echo, framing=wg.Fixed(4)) as device:
        with pytest.raises(TypeError, match="the return value of a step must be bytes"):
            device.control(lambda _: 3.0, cycles=4)  # type: ignore[arg-type, return-value]
        with pytest.raises(ValueError, match="either `cycles` or `duration`"):
            device.control(None)
        with pytest.raises(ValueError, match="needs a `period`"):
            device.control(None, duration="1s")


# ---- streams ---------------------------------------------------------------------------------


def test_a_stream_fills_a_buffer(board: str) -> None:
    into = np.zeros(1 << 20, np.uint8)
    with wg.open(board) as device:
        assert device.read_stream(into, transfer=16384, queue=1) == into.size
        assert into.any()
        assert device.write_stream(bytes(into), transfer=16384, queue=1) == into.size
        assert len(device.exchange(pattern(4), 8)) == 8


# ---- trouble ---------------------------------------------------------------------------------


def test_silence_is_an_error_after_the_timeout_and_not_the_end() -> None:
    with silent() as address, wg.open(address, framing=wg.Fixed(4), timeout=0.1) as device:
        begun = time.monotonic()
        with pytest.raises(wg.LinkError, match=r"127\.0\.0\.1"):
            device.exchange(b"ping")
        assert time.monotonic() - begun < BOUND_S


def test_nobody_at_the_address_is_told_as_on_the_command_line() -> None:
    with pytest.raises(wg.LinkError, match=r"tcp://127\.0\.0\.1:1"):
        wg.open("tcp://127.0.0.1:1", framing=wg.Raw())
    with pytest.raises((wg.LinkError, ValueError), match="carrier-pigeon"):
        wg.open("carrier-pigeon://roof")


@pytest.mark.parametrize("timeout", ["soon", -1, "1 parsec", float("nan")])
def test_a_time_that_is_none_is_refused(echo: str, timeout: object) -> None:
    with pytest.raises(ValueError, match="timeout"):
        wg.open(echo, framing=wg.Raw(), timeout=timeout)  # type: ignore[arg-type]


def test_a_closed_device_says_so(echo: str) -> None:
    device = wg.open(echo, framing=wg.Raw())
    assert not device.closed
    device.close()
    device.close()
    assert device.closed
    for use in (
        lambda: device.exchange(b"a"),
        lambda: device.exchange_many([b"a"]),
        lambda: list(device.pipeline([b"a"])),
        lambda: device.control(None, cycles=1, request=b"a"),
        lambda: device.about,
    ):
        with pytest.raises(ValueError, match="is closed"):
            use()


def test_a_second_thread_is_turned_away_while_a_call_waits() -> None:
    with silent() as address, wg.open(address, framing=wg.Fixed(4), timeout=1) as device:
        refused: list[BaseException] = []

        def intrude() -> None:
            time.sleep(0.2)
            for use in (lambda: device.exchange(b"ping"), device.close):
                try:
                    use()
                except RuntimeError as error:
                    refused.append(error)

        thread = threading.Thread(target=intrude)
        thread.start()
        with pytest.raises(wg.LinkError):
            device.exchange(b"ping")
        thread.join(BOUND_S)
        assert len(refused) == 2
        assert all("in use" in str(error) for error in refused)


def test_other_threads_run_while_a_call_waits() -> None:
    with silent() as address, wg.open(address, framing=wg.Fixed(4), timeout=0.5) as device:
        counted = [0]
        over = threading.Event()

        def count() -> None:
            while not over.is_set():
                counted[0] += 1
                time.sleep(0.005)

        thread = threading.Thread(target=count)
        thread.start()
        with pytest.raises(wg.LinkError):
            device.exchange(b"ping")
        over.set()
        thread.join(BOUND_S)
        assert counted[0] > 10


def test_a_device_does_not_cross_a_fork(echo: str) -> None:
    with wg.open(echo, framing=wg.Fixed(4)) as device:
        child = os.fork()
        if child == 0:
            try:
                device.exchange(b"ping")
            except wg.LinkError as error:
                os._exit(0 if error.kind == "closed" and "fork()" in str(error) else 2)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert device.exchange(b"ping") == b"ping"


def test_a_device_cannot_be_pickled(echo: str) -> None:
    with (
        wg.open(echo, framing=wg.Fixed(4)) as device,
        pytest.raises(TypeError, match="send its address"),
    ):
        pickle.dumps(device)


WAITS = """
import signal, sys, time
import numpy as np
import wiregauge as wg
device = wg.open(sys.argv[1], framing=wg.Fixed(4), timeout=20)
try:
    # Within, because the signal may come before a slow process gets any further.
    print("waiting", flush=True)
    {call}
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
"""


@pytest.mark.parametrize(
    "call",
    [
        "device.exchange(b'ping')",
        "device.exchange_many(np.zeros((9, 4), np.uint8), depth=3)",
        "list(device.pipeline([b'ping'] * 9, depth=3))",
        "device.control(None, cycles=9, request=b'ping')",
        "device.control(lambda m: b'ping', cycles=9, depth=2)",
        "device.read_stream(bytearray(100))",
        "wg.open(sys.argv[1], timeout=20)",
    ],
)
def test_ctrl_c_ends_whatever_waits(call: str) -> None:
    with silent() as address:
        process = subprocess.Popen(
            [sys.executable, "-c", WAITS.format(call=call), address],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "waiting\n"
            time.sleep(0.3)
            pressed = time.time()
            process.send_signal(signal.SIGINT)
            word, at = process.stdout.readline().split()
            assert word == "interrupted"
            # 0.2 s is promised; a busy machine may take longer, but not the timeout of 20 s.
            assert float(at) - pressed < 5
            process.stdout.close()
            assert process.wait(BOUND_S) == 0
        finally:
            process.kill()
            process.wait()


def test_a_batch_that_never_waits_long_can_be_interrupted_too(echo: str) -> None:
    code = WAITS.format(call="device.exchange_many(np.zeros((10**7, 4), np.uint8), depth=4)")
    process = subprocess.Popen([sys.executable, "-c", code, echo], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline().startswith("interrupted")
        process.stdout.close()
        assert process.wait(BOUND_S) == 0
    finally:
        process.kill()
        process.wait()


# ---- nothing is left -------------------------------------------------------------------------


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def resident_kib() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


def test_ten_thousand_openings_leave_nothing_behind(tmp_path: Path) -> None:
    with responder(f"unix://{tmp_path / 'echo'}", "--protocol", "echo") as address:

        def some(count: int) -> None:
            for n in range(count):
                device = wg.open(address, framing=wg.Fixed(4))
                device.exchange(b"ping")
                if n % 2:
                    device.close()
                del device

        some(500)
        before = descriptors(), resident_kib()
        some(9_500)
        assert descriptors() == before[0]
        # A leak of one small object each would be over 1 MiB.
        assert resident_kib() - before[1] < 4096


def test_failures_leave_nothing_behind(echo: str) -> None:
    with wg.open(echo, framing=wg.Fixed(4)) as device:

        def some(count: int) -> None:
            for _ in range(count):
                with pytest.raises(ValueError, match="in C order"):
                    device.exchange(np.zeros((4, 4), np.uint8)[:, ::2])
                with pytest.raises(wg.LinkError):
                    wg.open("tcp://127.0.0.1:1", framing=wg.Raw())
                with pytest.raises(ZeroDivisionError):
                    device.control(lambda _: bytes(1 // 0), cycles=3, request=b"ping")

        some(100)
        before = descriptors(), resident_kib()
        some(1_000)
        assert descriptors() == before[0]
        assert resident_kib() - before[1] < 4096
