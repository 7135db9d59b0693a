"""Text, SCPI and Modbus on an open device: a shell, the responder, pymodbus, and peers that are wrong."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from peers import BOUND_S, instrument, responder, silent, terminal

import wiregauge as wg


@pytest.fixture(scope="module")
def meter() -> Iterator[str]:
    """An instrument that speaks SCPI."""
    with responder("tcp://127.0.0.1:0", "--protocol", "scpi", "--name", "meter") as address:
        yield address


@pytest.fixture
def plc() -> Iterator[str]:
    """A Modbus TCP server."""
    with responder("tcp://127.0.0.1:0", "--protocol", "modbus") as address:
        yield address


@contextlib.contextmanager
def shell(folder: Path) -> Iterator[str]:
    """A shell behind socat, on a Unix socket."""
    path = folder / "shell"
    with subprocess.Popen(["socat", f"UNIX-LISTEN:{path},fork", "EXEC:sh"]) as process:
        until = time.monotonic() + BOUND_S
        while not path.exists():
            assert time.monotonic() < until, "socat made no socket"
            time.sleep(0.01)
        yield f"unix://{path}"
        process.terminate()


# ---- text ------------------------------------------------------------------------------------


def test_a_shell_is_asked_in_text(tmp_path: Path) -> None:
    with shell(tmp_path) as address, wg.open(address, protocol="text", timeout=BOUND_S) as device:
        assert device.query("echo $((6 * 7))\n") == "42"
        assert device.exchange(b"echo bytes\n") == b"bytes"
        device.write("answer=seven\n")
        assert device.query("echo $answer\n") == "seven"
        device.write("echo one; echo two; printf '\\377\\n'\n")
        assert [device.read(), device.read()] == ["one", "two"]
        assert device.read_bytes() == b"\xff"
        many = device.exchange_many(["echo 1\n", b"echo 22\n", "echo 333\n"], depth=3)
        assert [bytes(row).rstrip(b"\0") for row in many] == [b"1", b"22", b"333"]
        assert device.last_lengths.tolist() == [1, 2, 3]
        assert list(device.pipeline((f"echo {n}\n" for n in range(5)), depth=2)) == [
            b"0",
            b"1",
            b"2",
            b"3",
            b"4",
        ]


@pytest.mark.parametrize(
    ("end", "reply"),
    [
        ({"until": "\r\n"}, b"1\n2\r\n"),
        ({"until": b"OK"}, b"1\n2OK"),
        ({"reply_bytes": 5}, b"1\n2\r\n"),
        ({"reply_length": "u8@1"}, b"s\x03abc"),
        ({"idle": "50ms"}, b"1\n2"),
    ],
)
def test_a_reply_ends_as_the_command_line_says_it(end: dict[str, object], reply: bytes) -> None:
    expected = reply
    for mark in (b"\r\n", b"OK"):
        if end.get("until") in (mark, mark.decode()):
            expected = reply.removesuffix(mark)
    with (
        instrument(lambda _: reply) as address,
        wg.open(address, protocol="text", timeout=BOUND_S, **end) as device,  # type: ignore[arg-type]
    ):
        assert [device.exchange("T?\n") for _ in range(3)] == [expected] * 3


def test_a_late_reply_is_not_taken_for_the_next_one() -> None:
    first = threading.Event()

    def answer(line: bytes) -> bytes:
        if not first.is_set():
            first.set()
            time.sleep(1.2)
            return b"late\n"
        return line

    with instrument(answer) as address, wg.open(address, protocol="text", timeout=1) as device:
        with pytest.raises(wg.LinkError, match="no reply within 1s") as caught:
            device.query("first\n")
        assert caught.value.kind == "timeout"
        # It may be on its way for as long again; then the line is quiet.
        assert device.query("second\n") == "second"
        assert device.query("third\n") == "third"


def test_a_reply_without_its_end_shows_what_came() -> None:
    with (
        instrument(lambda _: b"12.5") as address,
        wg.open(address, protocol="text", timeout="100ms") as device,
        pytest.raises(wg.LinkError, match=r"received 4 bytes, beginning 31 32 2e 35"),
    ):
        device.query("T?\n")


def test_a_reply_that_is_not_text_is_no_str() -> None:
    with (
        instrument(lambda _: b"\xff\xfe\n") as address,
        wg.open(address, protocol="text", timeout=BOUND_S) as device,
    ):
        with pytest.raises(ValueError, match="the reply is not text"):
            device.query("T?\n")
        assert device.exchange("T?\n") == b"\xff\xfe"


# ---- scpi ------------------------------------------------------------------------------------


def test_an_instrument_is_asked_as_with_pyvisa(meter: str) -> None:
    with wg.open(meter, protocol="scpi", timeout=BOUND_S) as device:
        assert device.query("*IDN?").startswith("wiregauge,meter,0,")
        device.write("*RST")
        device.write("*IDN?")
        assert device.read().startswith("wiregauge,meter,0,")
        assert device.query_block("CURV? 1000") == bytes(at % 256 for at in range(1000))
        values = device.query_binary_values("CURV? 8", "<u2")
        assert values.dtype == np.dtype("<u2")
        assert values.tolist() == [0x0100, 0x0302, 0x0504, 0x0706]
        readings = device.query_ascii_values("READ?")
        assert readings.shape == (1,)
        assert readings[0] > 0
        assert device.errors() == []
        device.write("NOPE")
        assert device.errors() == ['-113,"Undefined header"']
        assert device.errors() == []
        with pytest.raises(ValueError, match="is no block data: it begins b'wiregauge"):
            device.query_block("*IDN?")
        with pytest.raises(ValueError, match="is no list of numbers"):
            device.query_ascii_values("*IDN?")
        with pytest.raises(ValueError, match="not a whole number of values of 4 bytes"):
            device.query_binary_values("CURV? 6")


def test_an_instrument_that_does_not_know_a_query_is_silent(meter: str) -> None:
    with wg.open(meter, protocol="scpi", timeout="200ms") as device:
        with pytest.raises(wg.LinkError, match="no reply within 200ms") as caught:
            device.query("NOPE?")
        assert "SYST:ERR?" in str(caught.value)
        with pytest.raises(ValueError, match=r"depth 2 is not possible: IEEE 488\.2"):
            device.exchange_many(["READ?", "READ?"], depth=2)


# ---- modbus ----------------------------------------------------------------------------------


def use_modbus(address: str, **line: object) -> None:
    """Read and write as a program does."""
    with wg.open(address, protocol="modbus", timeout=BOUND_S, **line) as device:  # type: ignore[arg-type]
        registers = device.read_holding(39, 5)
        assert registers.dtype == np.uint16
        assert registers.tolist() == [39, 40, 41, 42, 43]
        device.write_registers(40, [7, 8, -1])
        device.write_registers(43, 9)
        assert device.read_holding(39, 5).tolist() == [39, 7, 8, 65535, 9]
        assert device.read_holding(42).view("i2").tolist() == [-1]
        device.write_coils(3, [True, False, True])
        device.write_coils(6, True)
        coils = device.read_coils(3, 4)
        assert coils.dtype == np.bool_
        assert coils.tolist() == [True, False, True, True]
        assert device.read_input(0, 3).shape == (3,)
        assert device.read_discrete(0, 9).shape == (9,)
        assert device.last_rtt_ns > 0
        # Unit, function and data, without the frame.
        assert device.exchange(b"\x01\x03\x00\x28\x00\x01") == b"\x01\x03\x02\x00\x07"
        with pytest.raises(wg.ModbusError, match=r"exception 2 \(illegal data address\)") as caught:
            device.read_holding(9995, 10)
        error = caught.value
        assert (error.code, error.name, error.kind) == (2, "illegal data address", "exception")
        assert isinstance(error, wg.LinkError)
        assert device.read_holding(0, 2).tolist() == [0, 1]


def test_registers_over_tcp(plc: str) -> None:
    use_modbus(plc)
    with wg.open(plc, protocol="modbus", timeout=BOUND_S) as device:
        requests = [bytes([1, 3, 0, n, 0, 1]) for n in range(100)]
        replies = device.exchange_many(requests, depth=8)
        assert replies.shape == (100, 5)
        assert replies[:, 4].tolist() == list(range(100))


def test_registers_on_a_serial_line(tmp_path: Path) -> None:
    with responder(f"pty:{tmp_path}/line", "--protocol", "modbus") as address:
        use_modbus(address, baud=19200, framing="8E1")
        with (
            wg.open(address, protocol="modbus", baud=19200, timeout=BOUND_S) as device,
            pytest.raises(ValueError, match="one request at a time"),
        ):
            device.exchange_many([bytes([1, 3, 0, n, 0, 1]) for n in range(4)], depth=2)


@contextlib.contextmanager
def pymodbus_server() -> Iterator[str]:
    """A Modbus TCP server of pymodbus: 100 holding registers from 1000 on, unit 1."""
    from pymodbus.datastore import ModbusDeviceContext, ModbusSequentialDataBlock, ModbusServerContext
    from pymodbus.server import ModbusTcpServer

    loop = asyncio.new_event_loop()
    address: list[str] = []
    ready = threading.Event()
    ended = asyncio.Event()

    async def serve() -> None:
        block = ModbusSequentialDataBlock(1, list(range(1000, 1100)))
        context = ModbusServerContext({1: ModbusDeviceContext(hr=block, co=block)}, single=False)
        server = ModbusTcpServer(context, address=("127.0.0.1", 0))
        await server.serve_forever(background=True)
        host, port = server.transport.sockets[0].getsockname()
        address.append(f"tcp://{host}:{port}")
        ready.set()
        await ended.wait()
        await server.shutdown()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(BOUND_S)
    try:
        yield address[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(BOUND_S)


def test_registers_of_pymodbus() -> None:
    with pymodbus_server() as address, wg.open(address, protocol="modbus", timeout=BOUND_S) as device:
        assert device.read_holding(10, 3).tolist() == [1010, 1011, 1012]
        device.write_registers(11, [7, 8])
        assert device.read_holding(10, 3).tolist() == [1010, 7, 8]
        with pytest.raises(wg.ModbusError) as caught:
            device.read_holding(95, 10)
        assert caught.value.code == 2
        device.unit = 9
        assert device.unit == 9
        # Its answer for a unit that it does not have is an exception, or silence.
        with pytest.raises(wg.ModbusError):
            device.read_holding(0)
        assert device.read_holding(0, unit=1).tolist() == [1000]


def test_wrong_replies_on_a_serial_line_are_told_apart() -> None:
    right = b"\x01\x03\x02\x00\x07\xf9\x86"
    replies = iter([right[:-1] + b"\x87", right, b"\x05\x03\x02\x00\x07\x08\x46", b"", right])
    with (
        terminal(lambda _: next(replies)) as address,
        wg.open(address, protocol="modbus", baud=115200, timeout=1) as device,
    ):
        with pytest.raises(wg.LinkError, match="its CRC is wrong"):
            device.read_holding(40)
        assert device.read_holding(40).tolist() == [7]
        with pytest.raises(wg.LinkError, match="a reply of unit 5"):
            device.read_holding(40)
        with pytest.raises(wg.LinkError, match="no reply within 1s") as caught:
            device.read_holding(40)
        assert "baud rate and parity" in str(caught.value)
        assert device.read_holding(40).tolist() == [7]


# ---- what makes no sense ---------------------------------------------------------------------


def test_what_does_not_belong_together_is_refused_before_anything_is_opened() -> None:
    for arguments, said in [
        ({"protocol": "scpi", "until": "\r\n"}, 'until has no effect with protocol="scpi"'),
        ({"protocol": "text", "unit": 1}, 'unit has no effect with protocol="text"'),
        ({"unit": 1}, 'unit has no effect with protocol="wiregauge"'),
        ({"protocol": "text", "until": "\n", "idle": 1}, "until and idle exclude each other"),
        ({"protocol": "morse"}, 'protocol: "morse" is not known'),
        ({"protocol": "text", "framing": wg.Raw()}, "exclude each other"),
        ({"protocol": "modbus", "unit": 300}, "unit must be 0 to 255, not 300"),
        ({"protocol": "modbus", "unit": 0}, "unit 0 is not valid"),
        ({"protocol": "text", "reply_length": "u16"}, "is not a length field"),
        ({"protocol": "text", "reply_bytes": 0}, "replies of 0 bytes are not valid"),
        ({"protocol": "text", "until": ""}, "an empty end of a reply"),
    ]:
        with pytest.raises(ValueError) as caught:
            wg.open("tcp://127.0.0.1:1", **arguments)  # type: ignore[arg-type]
        assert said in str(caught.value), (arguments, str(caught.value))
    with pytest.raises(ValueError, match="requires a baud rate"):
        wg.open("serial:///dev/null", protocol="modbus")
    with pytest.raises(ValueError, match="8X1"):
        wg.open("serial:///dev/null", protocol="modbus", baud=9600, framing="8X1")


def test_calls_of_another_protocol_are_refused(plc: str, meter: str) -> None:
    with wg.open(plc, protocol="modbus", timeout=BOUND_S) as device:
        with pytest.raises(wg.UsageError, match="every request of this protocol is answered"):
            device.write(b"\x01\x03")
        with pytest.raises(TypeError, match="a request must be bytes"):
            device.query("*IDN?")
        with pytest.raises(wg.UsageError, match="reads 1 to 125 values, not 126"):
            device.read_holding(0, 126)
        with pytest.raises(ValueError, match="addresses are 0 to 65535"):
            device.read_holding(-1)
        with pytest.raises(ValueError, match="a register holds -32768 to 65535"):
            device.write_registers(0, [65536])
        with pytest.raises(TypeError, match="whole numbers"):
            device.write_registers(0, [1.5])  # type: ignore[list-item]
        with pytest.raises(ValueError, match="True or False"):
            device.write_coils(0, [2])
        with pytest.raises(wg.UsageError, match="unit 248"):
            device.unit = 248
    with (
        wg.open(meter, protocol="scpi", timeout=BOUND_S) as device,
        pytest.raises(wg.UsageError, match="not opened for Modbus"),
    ):
        device.read_holding(0)


def test_a_waiting_query_can_be_interrupted() -> None:
    from conftest import press_ctrl_c

    with silent() as address, wg.open(address, protocol="text", timeout=BOUND_S) as device:
        threading.Timer(0.3, press_ctrl_c).start()
        with pytest.raises(KeyboardInterrupt):
            device.query("T?\n")
