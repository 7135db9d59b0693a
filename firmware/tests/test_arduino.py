"""What is special about the Arduino sketch: its count, its block reads, the ports and resets of boards."""

import array
import fcntl
import json
import os
import re
import select
import shutil
import signal
import subprocess
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import Boards
from harness import REPOSITORY, Board, Wiregauge, hold_intact

ARDUINO = REPOSITORY / "firmware" / "arduino"
BUILT = REPOSITORY / "firmware" / "build" / "arduino"
BYTES_A_CHANGE = 500
TIOCGEXCL = 0x80045440  # asm-generic/ioctls.h

both_boards = pytest.mark.parametrize("name", ["uno", "leonardo"])


@contextmanager
def opened(board: Board) -> Iterator[int]:
    """Open the board's port, raw, as any program without our protocol would."""
    assert board.serial
    port = os.open(board.serial.removeprefix("serial://"), os.O_RDWR | os.O_NOCTTY)
    try:
        tty.setraw(port)
        yield port
    finally:
        os.close(port)


def send(port: int, data: bytes, piece: int) -> None:
    """Write it all, in writes of `piece` bytes."""
    for at in range(0, len(data), piece):
        left = data[at : at + piece]
        while left:
            left = left[os.write(port, left) :]


def told_count(port: int) -> int:
    """Return the bytes that the sketch in count mode says it received."""
    line = b""
    while not line.endswith(b"\r\n"):
        assert select.select([port], [], [], 30)[0], f"no count was sent: {line!r}"
        line += os.read(port, 100)
    match = re.fullmatch(rb"received (\d+) B in (\d+) us\r\n", line)
    assert match, line
    return int(match[1])


def pins(board: Board) -> tuple[int, int]:
    """End a board started with --verbose; return the changes of pin 2, and the cycles of pin 3 low."""
    board.end()
    match = re.search(r"pins: 2 changed (\d+) times, 3 was low for (\d+) cycles", board.said())
    assert match, board.said()
    return int(match[1]), int(match[2])


def flows_of(run: Any) -> Iterator[dict[str, Any]]:
    """Yield the flows of all points of a stream run, each of which came to its end."""
    assert run["points"]
    for point in run["points"]:
        assert point["ending"]["how"] == "complete", point["ending"]
        yield from point["flows"]


def hold_lossless(run: Any) -> None:
    """Assert that every byte of a stream run arrived once, right."""
    for flow in flows_of(run):
        counts = flow["counts"]
        assert counts["sent"] == counts["received"] > 0, counts
        assert not any(counts[wrong] for wrong in ("lost", "duplicated", "corrupted", "stray")), counts


# --- the count ----------------------------------------------------------------------------------------------


@both_boards
@pytest.mark.parametrize("piece", [1, 64, 4096])
def test_the_count_is_what_was_sent_however_it_was_cut(name: str, piece: int, board: Boards) -> None:
    """Stoffregen's write sizes: the number sent and the changes of pin 2 are those of the bytes sent."""
    counter = board("arduino", "--board", name, "--count", "--verbose")
    size = 5_007
    with opened(counter) as port:
        send(port, bytes(size), piece)
        assert told_count(port) == size
    assert pins(counter)[0] == size // BYTES_A_CHANGE


def test_each_burst_is_counted_by_itself(board: Boards) -> None:
    """After the count was sent, or by another program, counting starts at nothing."""
    counter = board("arduino", "--count")
    for _ in range(2):
        with opened(counter) as port:
            for size in (1, 3_000):
                send(port, bytes(size), size)
                assert told_count(port) == size


def test_blocks_are_read_and_not_bytes(board: Boards) -> None:
    """The processor spends under 40 cycles on a byte; a loop over available() and read() spends 139."""
    counter = board("arduino", "--count", "--verbose")
    size = 256_000
    with opened(counter) as port:
        send(port, bytes(size), 4096)
        assert told_count(port) == size
    cycles = pins(counter)[1]
    assert 5 * size < cycles < 40 * size, cycles / size


# --- streams ------------------------------------------------------------------------------------------------


def test_an_uno_keeps_up_with_its_uart_both_ways_at_once(board: Boards, wiregauge: Wiregauge) -> None:
    """At 115200 baud nothing overruns its ring of 64 bytes."""
    uno = board("arduino", "--board", "uno").serial
    assert uno
    hold_lossless(wiregauge.stream(uno, "--direction", "out,in,both", "--transfer", "64", "--duration", "1s"))


def test_a_source_waits_for_a_reader_that_stops(board: Boards, wiregauge: Wiregauge) -> None:
    """USB: what the host does not fetch stays in the device, even beyond the core's timeout of 250 ms."""
    leonardo = board("arduino").serial
    assert leonardo
    flags = ["--direction", "in", "--transfer", "64", "--duration", "3s", "--timeout", "20s", "--no-store"]
    process = wiregauge.start("stream", leonardo, *flags, "--json")
    time.sleep(1)
    process.send_signal(signal.SIGSTOP)
    time.sleep(1)
    process.send_signal(signal.SIGCONT)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    hold_lossless(json.loads(out))


@both_boards
@pytest.mark.parametrize("way", ["in", "out"])
@pytest.mark.skipif(os.geteuid() != 0, reason="a killed program's exclusive tty is root's to free")
def test_a_board_outlives_a_program_that_is_killed(
    name: str, way: str, board: Boards, wiregauge: Wiregauge
) -> None:
    """A stream that nobody ended does not disturb the next program, nor is the port left locked."""
    address = board("arduino", "--board", name).serial
    assert address
    process = wiregauge.start("stream", address, "--direction", way, "--duration", "30s", "--no-store")
    time.sleep(1)
    process.kill()
    process.communicate()
    wait_until_free(address)
    hold_intact(wiregauge.exchange(address, "--count", "20", "--in", "100", "--depth", "1,2"))


def wait_until_free(address: str) -> None:
    """Wait for the simulator to see that nobody has the port: the kernel keeps a killed program's claim."""
    exclusive = array.array("i", [1])
    end = time.monotonic() + 30
    while exclusive[0]:
        assert time.monotonic() < end, "the port stays locked"
        time.sleep(0.05)
        port = os.open(address.removeprefix("serial://"), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        fcntl.ioctl(port, TIOCGEXCL, exclusive)
        os.close(port)


# --- ports and resets ---------------------------------------------------------------------------------------


@both_boards
def test_many_short_visits_do_no_harm(name: str, board: Boards, wiregauge: Wiregauge) -> None:
    """Programs that open the port, write a little or nothing, and go."""
    visited = board("arduino", "--board", name)
    assert visited.serial
    for visit in range(40):
        with opened(visited) as port:
            if visit % 3:
                os.write(port, b"\xa7" * visit)
            if visit % 5 == 0:
                time.sleep(0.01)
    hold_intact(wiregauge.exchange(visited.serial, "--count", "20", "--in", "32,100"))


@both_boards
def test_a_reset_costs_what_was_under_way_and_no_more(name: str, board: Boards, wiregauge: Wiregauge) -> None:
    """One request at a time: at most one is lost to each reset, and the board is enumerated anew."""
    resettable = board("arduino", "--board", name, "--verbose")
    assert resettable.serial
    flags = ["--duration", "4s", "--timeout", "500ms", "--no-store", "--no-calibration", "--json"]
    process = wiregauge.start("exchange", resettable.serial, *flags)
    for _ in range(2):
        time.sleep(1.2)
        resettable.reset()
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    counts = json.loads(out)["points"][0]["counts"]
    assert counts["answered"] > 10 and counts["lost"] <= 2, counts
    hold_intact(wiregauge.exchange(resettable.serial, "--count", "20"))
    resettable.end()
    if name == "leonardo":
        assert "enumerated 3 times" in resettable.said()


def test_an_uno_that_is_reset_by_dtr_is_measured_all_the_same(board: Boards, wiregauge: Wiregauge) -> None:
    """Opening the port of a real Uno resets it: the first HELLO is lost, and asked again."""
    address = board("arduino", "--board", "uno", "--reset-on-open").serial
    assert address
    for _ in range(3):
        hold_intact(wiregauge.exchange(address, "--count", "10"))


def test_single_bytes_in_packets_of_their_own_are_understood(board: Boards, wiregauge: Wiregauge) -> None:
    """As Linux sends what is written byte by byte: every byte is a packet."""
    address = board("arduino", "--packet", "1").serial
    assert address
    hold_intact(wiregauge.exchange(address, "--count", "10", "--out", "16,100", "--in", "32,100"))
    hold_lossless(wiregauge.stream(address, "--direction", "out", "--transfer", "64", "--duration", "1s"))


# --- the build ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flash", "ram", "status"), [(28_672, 2_560, 0), (3_000, 2_560, 1), (28_672, 300, 1)]
)
def test_a_program_that_does_not_fit_is_refused(
    flash: int, ram: int, status: int, board: Boards, tmp_path: Path
) -> None:
    """`fits` prints the size, and fails where a board has no room; the stack needs some of the RAM."""
    board("arduino", "--echo")  # builds it
    program = tmp_path / "echo.elf"
    shutil.copy(BUILT / "leonardo-echo.elf", program)
    command = [str(ARDUINO / "fits"), "leonardo/echo", str(program), str(flash), str(ram)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert re.fullmatch(r"arduino/leonardo/echo: \d+ B flash, \d+ B RAM\n", done.stdout)
    assert program.exists() == (status == 0)
