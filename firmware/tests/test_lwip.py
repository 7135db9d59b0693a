"""What is special about the Ethernet boards: thousands of connections, resets, UDP's caution, virtual time.

That they answer at all, at all sizes, after garbage and half packets, is in test_targets.py as for every
board.
"""

import binascii
import csv
import random
import socket
import statistics
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from harness import Board, Wiregauge, hold_intact

BOARDS = ["baremetal-lwip", "rtos-freertos"]
CONNECTIONS = 4  # of each board (lwipopts.h)
EXCHANGE = 1
HELLO = 0
SOURCE = 3
UNPROVEN = 4


@pytest.fixture(scope="module", params=BOARDS)
def ethernet_board(request: pytest.FixtureRequest, lasting_board: Any) -> Board:
    """One of the two, in real time."""
    return lasting_board(request.param)


def place(address: str | None) -> tuple[str, int]:
    """Return host and port of an address."""
    assert address is not None
    host, port = address.split("//")[1].rsplit(":", 1)
    return host, int(port)


def request_frame(kind: int, sequence: int, payload: bytes, in_bytes: int) -> bytes:
    """Return a request as docs/protocol.md has it."""
    header = struct.pack("<BBHIII", 0xA7, 0x10 | kind, 0, sequence, len(payload), in_bytes)
    check = binascii.crc_hqx(header, 0xFFFF)
    return header[:2] + struct.pack("<H", check) + header[4:] + payload


def pattern(sequence: int, count: int) -> bytes:
    """Return the payload that an exchange carries."""
    return bytes((sequence + i) % 251 for i in range(count))


def exchange_frame(sequence: int, out_bytes: int, in_bytes: int) -> bytes:
    """Return the request of an exchange, whole sizes given."""
    return request_frame(EXCHANGE, sequence, pattern(sequence, out_bytes - 16), in_bytes)


@contextmanager
def connection(board: Board, timeout: float = 10) -> Iterator[socket.socket]:
    """Open a TCP connection to the board."""
    with socket.create_connection(place(board.tcp), timeout=timeout) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield link


def receive(link: socket.socket, count: int) -> bytes:
    """Return exactly so many bytes, fewer if the board closes."""
    got = b""
    while len(got) < count and (more := link.recv(count - len(got))):
        got += more
    return got


def hold_answer(link: socket.socket, sequence: int, in_bytes: int) -> None:
    """Assert that the next bytes are the right answer."""
    answer = receive(link, in_bytes)
    assert len(answer) == in_bytes
    assert struct.unpack_from("<I", answer, 4)[0] == sequence
    assert answer[32:] == pattern(sequence, in_bytes - 32)


def abort(link: socket.socket) -> None:
    """End a connection by a reset instead of a close."""
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    link.close()


def hold_serving(board: Board) -> None:
    """Assert that a new host is served, within the time in which the board notices that others have gone."""
    end = time.monotonic() + 20
    while True:
        try:
            with connection(board) as link:
                link.sendall(exchange_frame(7, 100, 1000))
                hold_answer(link, 7, 1000)
            return
        except (AssertionError, OSError):
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def restart(board: Board) -> None:
    """Reset the board and wait until it is ready again: until it hears of it, it goes on answering."""
    starts = board.said().count("ready")
    board.reset()
    end = time.monotonic() + 60
    while board.said().count("ready") == starts:
        assert time.monotonic() < end, board.said()
        time.sleep(0.05)


# -- connections ---------------------------------------------------------------------------------------------


def test_thousands_of_connections_one_after_the_other(ethernet_board: Board, wiregauge: Wiregauge) -> None:
    assert ethernet_board.tcp
    hold_intact(wiregauge.exchange(ethernet_board.tcp, "--connect", "each", "--count", "3000"))


def test_as_many_hosts_at_once_as_there_are_connections_and_no_more(ethernet_board: Board) -> None:
    links = [socket.create_connection(place(ethernet_board.tcp), timeout=10) for _ in range(CONNECTIONS)]
    try:
        for turn in range(3):
            for number, link in enumerate(links):
                link.sendall(exchange_frame(100 * turn + number, 500, 1460))
            for number, link in enumerate(links):
                hold_answer(link, 100 * turn + number, 1460)
        # One more is refused, and those that are there do not notice.
        with connection(ethernet_board) as extra, pytest.raises((ConnectionError, AssertionError)):
            extra.sendall(exchange_frame(1, 16, 48))
            hold_answer(extra, 1, 48)
        for link in links:
            link.sendall(exchange_frame(9, 16, 60000))
            hold_answer(link, 9, 60000)
    finally:
        for link in links:
            link.close()
    hold_serving(ethernet_board)


def test_a_host_that_takes_nothing_does_not_keep_another_waiting(
    ethernet_board: Board, wiregauge: Wiregauge
) -> None:
    assert ethernet_board.tcp
    with connection(ethernet_board) as lazy:
        for sequence in range(8):
            lazy.sendall(exchange_frame(sequence, 16, 1 << 20))
        time.sleep(0.5)
        hold_intact(wiregauge.exchange(ethernet_board.tcp, "--in", "48,8000", "--count", "200"))
        for sequence in range(8):
            hold_answer(lazy, sequence, 1 << 20)


def test_answers_come_after_the_host_has_closed_its_side(ethernet_board: Board) -> None:
    with connection(ethernet_board) as link:
        for sequence in range(3):
            link.sendall(exchange_frame(sequence, 1000, 30000))
        link.shutdown(socket.SHUT_WR)
        for sequence in range(3):
            hold_answer(link, sequence, 30000)
        assert link.recv(1) == b""


def test_connections_reset_in_the_middle_of_everything(ethernet_board: Board) -> None:
    rng = random.Random(1)
    for _ in range(40):
        with socket.create_connection(place(ethernet_board.tcp), timeout=10) as link:
            what = rng.choice(["nothing", "half a request", "an unread answer", "a source"])
            try:
                if what == "half a request":
                    link.sendall(exchange_frame(1, 3000, 48)[: rng.randrange(1, 3000)])
                elif what == "an unread answer":
                    link.sendall(exchange_frame(1, 16, 100_000))
                elif what == "a source":
                    link.sendall(request_frame(SOURCE, 1, struct.pack("<B3xIQ", 1, 4096, 0), 32))
                    receive(link, rng.randrange(1, 50_000))
            except ConnectionError:
                pass  # The table was full for a moment: the ones before are noticed a moment later.
            abort(link)
    hold_serving(ethernet_board)


@pytest.mark.parametrize("target", BOARDS)
def test_a_reset_of_the_board_in_the_middle_of_a_run(target: str, board: Any, wiregauge: Wiregauge) -> None:
    it: Board = board(target)
    assert it.tcp and it.udp
    flags = ["--no-store", "--no-calibration", "--duration", "4s", "--timeout", "200ms", "--json"]
    with wiregauge.start("exchange", it.udp, *flags) as run:
        time.sleep(2)
        it.reset()
        run.communicate(timeout=60)
    assert run.returncode != 0  # it has lost exchanges, or its proof of address with the key that is no more
    assert it.process.poll() is None
    hold_serving(it)
    hold_intact(wiregauge.exchange(it.udp, "--count", "100"))


# -- UDP -----------------------------------------------------------------------------------------------------


def test_an_unproven_address_is_sent_nothing_larger_than_it_sent(ethernet_board: Board) -> None:
    start = struct.pack("<B3xIQ", 1, 1024, 0)
    questions = [
        request_frame(HELLO, 1, bytes(88), 104),
        request_frame(HELLO, 2, bytes(88), 1 << 20),
        request_frame(HELLO, 3, b"", 104),
        exchange_frame(4, 16, 48),
        exchange_frame(5, 16, 1472),
        exchange_frame(6, 40, 1472),
        exchange_frame(7, 1000, 1472),
        exchange_frame(8, 200, 100),
        request_frame(SOURCE, 9, start, 32),
        request_frame(SOURCE, 10, start + bytes(100), 104),
        request_frame(15, 11, b"", 1472),
        request_frame(EXCHANGE, 12, b"", 0xFFFFFFFF),
        b"?",
    ]
    answered = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.connect(place(ethernet_board.udp))
        for question in questions:
            link.send(question)
            link.settimeout(0.5)
            received = 0
            try:
                while True:
                    received += len(link.recv(65536))
                    link.settimeout(0.2)
            except TimeoutError:
                pass
            assert received <= len(question), question.hex()
            answered += received > 0
    assert answered >= 4  # HELLO, HELLO, what is small enough, UNPROVEN


def test_a_proof_of_one_start_is_none_to_the_next(board: Any) -> None:
    it: Board = board("baremetal-lwip")

    def hello(link: socket.socket, token: bytes) -> bytes:
        link.send(request_frame(HELLO, 1, token + bytes(80), 104))
        return link.recv(2000)[-8:]

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.settimeout(5)
        link.connect(place(it.udp))
        before = hello(link, bytes(8))
        assert before == hello(link, bytes(8))
        restart(it)
        hold_serving(it)
        assert hello(link, before) != before


# -- echo ----------------------------------------------------------------------------------------------------

ECHOES = [("baremetal-lwip", "--echo"), ("rtos-freertos", "--echo"), ("lwip-apps",)]


@pytest.mark.parametrize("which", ECHOES, ids=lambda which: which[0])
def test_every_echo_answers_the_same_bytes(which: tuple[str, ...], board: Any, wiregauge: Wiregauge) -> None:
    """Also lwIP's own, which no one here wrote: it and ours are interchangeable to a host."""
    it: Board = board(*which)
    assert it.tcp and it.udp
    rng = random.Random(2)
    with connection(it) as link:
        for size in [1, 2, 10, 50, 100, 250, 500, 1460, 2920]:
            data = rng.randbytes(size)
            link.sendall(data)
            assert receive(link, size) == data
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.settimeout(5)
        link.connect(place(it.udp))
        for size in [1, 2, 10, 50, 100, 250, 500, 1472]:
            data = rng.randbytes(size)
            link.send(data)
            assert link.recv(2000) == data
    for address in it.tcp, it.udp:
        flags = ["--protocol", "echo", "--out", "1,10,100,500,1400", "--count", "100"]
        hold_intact(wiregauge.exchange(address, *flags))


# -- virtual time --------------------------------------------------------------------------------------------


def device_p50(run: Any, rows: Path) -> float:
    """Return the median of the time in the device by its own clock, in ns.

    From the exchanges themselves: where time goes by instructions, the board's clock may run faster than
    the host's, and then the run has no device time, because it would be longer than the RTT.
    """
    clock = run["conditions"]["responder"]
    with rows.open() as file:
        ticks = [
            (int(row["device_tx_ticks"]) - int(row["device_rx_ticks"])) % (1 << clock["tick_bits"])
            for row in csv.DictReader(file)
            if row["phase"] == "measured"
        ]
    value = median(ticks) * 1e9 / clock["tick_hz"]
    assert value > 0
    return value


@pytest.fixture(scope="module")
def device_times(
    lasting_board: Any, wiregauge: Wiregauge, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str, int], list[float]]:
    """Medians of two runs by target, link and size, where time goes by instructions."""
    times: dict[tuple[str, str, int], list[float]] = {}
    rows = tmp_path_factory.mktemp("device-times") / "rows.csv"
    for target in BOARDS:
        it: Board = lasting_board(target, "--virtual")
        for link, address in (("tcp", it.tcp), ("udp", it.udp)):
            assert address
            for size in 100, 1400:
                flags = ["--out", str(size), "--in", str(size), "--count", "300", "--warmup", "20"]
                flags += ["--csv", str(rows), "--force"]
                times[target, link, size] = [
                    device_p50(hold_intact(wiregauge.exchange(address, *flags)), rows) for _ in range(2)
                ]
    return times


@pytest.mark.parametrize("link", ["tcp", "udp"])
@pytest.mark.parametrize(("size", "margin"), [(100, 1.3), (1400, 1.02)])
def test_bare_metal_is_faster_than_an_rtos(
    device_times: dict[tuple[str, str, int], list[float]], link: str, size: int, margin: float
) -> None:
    """What tasks cost is the same for each exchange; what bytes cost is the same for both, and hides it."""
    bare, rtos = device_times["baremetal-lwip", link, size], device_times["rtos-freertos", link, size]
    assert max(bare) * margin < min(rtos)


def wire_times(capture: Path, protocol: int, port: int, request_bytes: int) -> list[float]:
    """Return the times in ns from a request's frame to that of its answer, by the board's processor, sorted.

    A processor that sleeps when the frame comes is woken by the host when the host gets round to it: the
    times of one that never sleeps are its own. The first, which is kept apart in runs too, is left out.
    """
    times, asked = [], None
    for at_us, frame in frames(capture):
        ip = frame[14:]
        if frame[12:14] != b"\x08\x00" or ip[9] != protocol:
            continue
        segment = ip[4 * (ip[0] & 15) : int.from_bytes(ip[2:4], "big")]
        payload = segment[8:] if protocol == socket.IPPROTO_UDP else segment[4 * (segment[12] >> 4) :]
        source, destination = struct.unpack_from(">HH", segment)
        if destination == port and len(payload) == request_bytes:
            asked = at_us
        elif source == port and payload and asked is not None:
            times.append(1000.0 * (at_us - asked))
            asked = None
    assert len(times) >= 100
    return sorted(times[1:])


def frames(capture: Path) -> Iterator[tuple[int, bytes]]:
    """Yield time in us and bytes of the frames of a pcap file (libpcap's format, 2.4)."""
    data = capture.read_bytes()
    at = 24
    while at + 16 <= len(data):
        seconds, micros, kept, _length = struct.unpack_from("=IIII", data, at)
        yield 1_000_000 * seconds + micros, data[at + 16 : at + 16 + kept]
        at += 16 + kept


@pytest.mark.parametrize("target", BOARDS)
def test_the_time_that_a_board_reports_is_that_between_its_frames(
    target: str, board: Any, wiregauge: Wiregauge, tmp_path: Path
) -> None:
    capture = tmp_path / "frames.pcap"
    it: Board = board(target, "--virtual", "--pcap", str(capture))
    assert it.tcp
    run = hold_intact(wiregauge.exchange(it.tcp, "--out", "200", "--in", "200", "--count", "300"))
    it.end()
    shortest_reported = run["points"][0]["device"]["min"]
    shortest_seen = wire_times(capture, socket.IPPROTO_TCP, 7700, 200)[0]
    # The time before the interrupt and after the stamp in the header is not the board's own; on a busy host
    # QEMU makes it longer. A wrong unit would be off by more.
    assert shortest_seen / 10 < shortest_reported < shortest_seen


def test_echo_costs_what_lwips_own_echo_costs_and_an_rtos_more(
    board: Any, wiregauge: Wiregauge, tmp_path: Path
) -> None:
    times: dict[tuple[str, str], float] = {}
    for which in ECHOES:
        capture = tmp_path / f"{which[0]}.pcap"
        it: Board = board(*which, "--virtual", "--awake", "--pcap", str(capture))
        for address in it.addresses:
            hold_intact(wiregauge.exchange(address, "--protocol", "echo", "--out", "100", "--count", "300"))
        it.end()
        for link, protocol in (("tcp", socket.IPPROTO_TCP), ("udp", socket.IPPROTO_UDP)):
            times[which[0], link] = statistics.median(wire_times(capture, protocol, 7, 100))
    for link in "tcp", "udp":
        ours, theirs, rtos = (times[which[0], link] for which in (ECHOES[0], ECHOES[2], ECHOES[1]))
        assert ours < 1.5 * theirs
        assert theirs < 1.5 * ours
        assert 1.3 * max(ours, theirs) < rtos


@pytest.mark.parametrize("target", BOARDS)
def test_device_time_grows_with_size_and_repeats(
    device_times: dict[tuple[str, str, int], list[float]], target: str
) -> None:
    for link in "tcp", "udp":
        small, large = device_times[target, link, 100], device_times[target, link, 1400]
        assert max(small) * 1.5 < min(large)
        assert max(small) < min(small) * 1.3
        assert max(large) < min(large) * 1.3
