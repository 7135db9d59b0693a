"""An open device from Python: what comes back, and what is refused."""

from __future__ import annotations

import shutil
import struct
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from peers import BOUND_S, instrument, silent, terminal

import wiregauge as wg


def pattern(count: int, sequence: int = 0) -> bytes:
    """The payload of the wiregauge protocol."""
    return bytes((sequence + at) % 251 for at in range(count))


# ---- one exchange ----------------------------------------------------------------------------


def test_a_reply_has_the_bytes_that_were_asked_for(board: str) -> None:
    with wg.open(board) as device:
        assert len(device.exchange(pattern(16), 100)) == 100
        assert len(device.exchange(b"", 0)) == 0
        assert device.last_rtt_ns > 0


def test_a_device_shows_itself_in_a_notebook(board: str, echo: str) -> None:
    with wg.open(board) as device:
        html = device._repr_html_()
        assert board in html and "<td>open</td>" in html and "wiregauge serve" in html
    assert "<td>closed</td>" in device._repr_html_()
    with wg.open(echo, framing=wg.Terminator()) as device:
        assert "<td>Terminator</td>" in device._repr_html_()


def test_messages_are_str_where_a_framing_of_text_is_set(echo: str) -> None:
    with wg.open(echo, framing=wg.Terminator(b"\n")) as device:
        assert device.query("READ?") == "READ?"
        assert device.exchange("READ?") == b"READ?"
        device.write("*RST")
        assert device.read() == "*RST"
        assert bytes(device.exchange_many(["a", "bcd"])[1]) == b"bcd"
        assert list(device.pipeline(["1", "2"])) == [b"1", b"2"]
    with wg.open(echo, framing=wg.Raw()) as device:
        with pytest.raises(TypeError):
            device.exchange("READ?")  # type: ignore[call-overload]
        with pytest.raises(TypeError, match="the framing Terminator"):
            device.exchange_many(["READ?"])


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
        with pytest.raises(TypeError, match="a request must be bytes or an array, not str"):
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
