"""What `wg.open` refuses: framings that are none, sizes that are negative, text where messages are bytes."""

from __future__ import annotations

from typing import Any

import pytest
from peers import responder

import wiregauge as wg


@pytest.mark.parametrize(
    ("framing", "error", "says"),
    [
        ("raw", wg.UsageError, r"(?s)framing='raw' is for characters.*use wg\.Raw\(\)"),
        ("Terminator", wg.UsageError, r"use wg\.Terminator\(\)"),
        ("8E1", wg.UsageError, r"framing='8E1' requires a serial line"),
        ("anything", wg.UsageError, "such as '8E1'"),
        (wg.Raw, TypeError, r"framing must be wg\.Raw\(\), not the class"),
        (wg.Fixed, TypeError, r"framing must be wg\.Fixed\(bytes=8\), not the class"),
        (5, TypeError, "framing must be Raw, Fixed, Terminator or LengthPrefix, or a str, not int"),
        (b"\n", TypeError, "framing must be .* not bytes"),
    ],
)
def test_a_framing_that_is_none_is_refused(
    echo: str, framing: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        wg.open(echo, framing=framing)


@pytest.mark.parametrize(
    ("framing", "says"),
    [
        # Neither is known to this package, both to the program.
        ("9N1", "not a tty"),
        ("8N1.5", "not a tty"),
        ("8X1", "`8X1` is not a valid framing: use data bits 5 to 9, parity N, E, O, M or S, stop"),
        ("8", "`8` is not a valid framing: use data bits"),
    ],
)
def test_the_program_judges_the_framing_of_a_serial_line(framing: str, says: str) -> None:
    with pytest.raises(wg.UsageError, match=says):
        wg.open("serial:///dev/null", protocol="modbus", baud=9600, framing=framing)


def test_a_baud_rate_needs_a_serial_line(echo: str) -> None:
    with pytest.raises(wg.UsageError, match="baud=9600 requires a serial line"):
        wg.open(echo, framing=wg.Raw(), baud=9600)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: wg.Terminator(5), TypeError, "end must be bytes or a str, not int"),
        (lambda: wg.Terminator(b""), ValueError, "end must have 1 to 8 bytes, not 0"),
        (lambda: wg.Terminator("123456789"), ValueError, "end must have 1 to 8 bytes, not 9"),
        (lambda: wg.Fixed(0), ValueError, "bytes must be at least 1, not 0"),
        (lambda: wg.Fixed("8"), TypeError, "bytes must be an int, not str"),
        (lambda: wg.LengthPrefix(3), ValueError, "bytes must be 1, 2 or 4, not 3"),
    ],
)
def test_a_framing_that_makes_no_sense_is_refused_where_it_is_made(
    make: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        make()


def test_the_end_of_messages_may_be_text(echo: str) -> None:
    assert wg.Terminator("\n") == wg.Terminator(b"\n") == wg.Terminator()
    with wg.open(echo, framing=wg.Terminator("\r\n")) as device:
        assert device.query("*IDN?") == "*IDN?"
        assert device.exchange_many(["a", "b"]).shape == (2, 1)


def test_a_device_without_the_protocol_is_opened_as_the_error_says() -> None:
    with pytest.raises(wg.UsageError, match=r"framing=wg\.Raw\(\)"):
        wg.open("null://")
    with wg.open("null://", framing=wg.Raw()) as device:
        assert device.exchange(b"four") == b"four"


def test_sizes_that_are_negative_are_refused_by_the_name_of_the_argument(echo: str) -> None:
    says = "reply_bytes must be at least 0, not -1"
    with wg.open(echo, framing=wg.Raw()) as device:
        for call in (
            lambda: device.exchange(b"x", -1),
            lambda: device.exchange_many([b"x"], reply_bytes=-1),
            lambda: list(device.pipeline([b"x"], reply_bytes=-1)),
            lambda: device.control(None, cycles=1, request=b"x", reply_bytes=-1),
            lambda: device.read_bytes(-1),
        ):
            with pytest.raises(ValueError, match=says):
                call()
        for name, call in {
            "depth": lambda: device.exchange_many([b"x"], depth=-1),
            "transfer": lambda: device.read_stream(bytearray(8), transfer=-1),
            "queue": lambda: device.write_stream(bytes(8), queue=-1),
            "cycles": lambda: device.control(None, cycles=-1, request=b"x"),
        }.items():
            with pytest.raises(ValueError, match=f"{name} must be at least [01], not -1"):
                call()


def test_text_is_refused_where_messages_are_bytes(board: str) -> None:
    says = "a request must be bytes or an array, not str"
    with wg.open(board) as device:
        for call in (device.exchange, device.query, lambda text: list(device.pipeline([text]))):
            with pytest.raises(TypeError, match=says):
                call("hi")
        assert device.exchange(bytes(4)) == bytes(4)


def test_a_size_that_is_not_the_callers_to_choose_is_refused() -> None:
    with (
        responder("tcp://127.0.0.1:0", "--protocol", "scpi") as address,
        wg.open(address, protocol="scpi") as device,
    ):
        for call in (
            lambda: device.exchange("*IDN?", 3),
            lambda: device.read(3),
            lambda: list(device.pipeline(["*IDN?"], reply_bytes=3)),
        ):
            with pytest.raises(ValueError, match="reply_bytes has no effect"):
                call()
        with pytest.raises(ValueError, match="a query has one message"):
            device.query("*IDN?\nREAD?")
        assert device.query("*IDN?\n") == device.query("*IDN?")


def test_the_size_of_a_framing_may_be_repeated_but_not_changed(echo: str) -> None:
    with wg.open(echo, framing=wg.Fixed(4)) as device:
        assert device.exchange(b"four", 4) == b"four"
        with pytest.raises(ValueError, match=r"reply_bytes must be 4, the size of every reply.*, not 5"):
            device.exchange(b"four", 5)
