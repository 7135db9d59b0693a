"""What every target must do, on its real binary: exchanges, streams, noise, half packets, a reset."""

import json
import random
import signal
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Boards
from harness import Board, Trouble, Wiregauge, hold_intact
from line import CHECKS_OUT, MESSAGE, SINK, SOURCE, TIMESTAMPS, Hello, Line, answer_of, frames

# Every simulator that speaks the protocol, and the schemes of its addresses.
PROTOCOL = {
    "micropython": {"tcp", "udp", "serial"},
    "micropython --plain": {"tcp", "udp", "serial"},
    "linux --arch armhf": {"tcp", "udp"},
    "linux --arch aarch64": {"tcp", "udp"},
    "baremetal-lwip": {"tcp", "udp"},
    "rtos-freertos": {"tcp", "udp"},
    "arduino --board uno": {"serial"},
    "arduino --board leonardo": {"serial"},
    "rp2040": {"serial"},
    "porting": {"serial"},
}
# Every one that echoes. lwip-apps is lwIP's own: no one here wrote it.
ECHO = {f"{name} --echo": schemes for name, schemes in PROTOCOL.items() if name != "porting"} | {
    "lwip-apps": {"tcp", "udp"}
}
# Fewer bytes for those whose line is as slow as a real one.
SLOW = ("arduino", "porting")
# UDP is answered by the datagram: no larger ones than a network carries whole.
DATAGRAM = 1472


def is_slow(name: str) -> bool:
    """Whether a target's line takes its time."""
    return name.startswith(SLOW)


def started(start: Boards, name: str, schemes: set[str]) -> Board:
    """Start a simulator and hold it to the addresses that it must give."""
    target, *options = name.split()
    board = start(target, *options)
    given = {address.partition("://")[0] for address in board.addresses}
    assert schemes <= given, f"{name} gives {board.addresses}"
    return board


@pytest.fixture(scope="module", params=PROTOCOL, ids=lambda name: name.replace(" --", "-").replace(" ", "="))
def speaker(request: pytest.FixtureRequest, lasting_board: Boards) -> Iterator[Board]:
    """Give each target that speaks the protocol, one after the other."""
    board = started(lasting_board, request.param, PROTOCOL[request.param])
    board.slow = is_slow(request.param)
    yield board
    board.end()


@pytest.fixture(scope="module", params=ECHO, ids=lambda name: name.replace(" --", "-").replace(" ", "="))
def echoer(request: pytest.FixtureRequest, lasting_board: Boards) -> Iterator[Board]:
    """Give each target that echoes, one after the other."""
    board = started(lasting_board, request.param, ECHO[request.param])
    board.slow = is_slow(request.param)
    yield board
    board.end()


def byte_streams(board: Board) -> list[str]:
    """Return the addresses that are no datagrams."""
    return [address for address in board.addresses if not address.startswith("udp")]


def hello_of(address: str) -> Hello:
    """Ask a board who it is."""
    if not address.startswith("udp"):
        with Line(address) as line:
            return line.hello()
    return Hello.of(ask(address, frames.hello_request(1), tries=20)[32:])


def ask(address: str, datagram: bytes, tries: int = 1, sender: str = "127.0.0.1") -> bytes:
    """Send a datagram and return what is answered soon; nothing is b""."""
    host, _, port = address.removeprefix("udp://").rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        # All of 127/8 is this computer; whoever else measures does so from 127.0.0.1.
        asked.bind((sender, 0))
        asked.connect((host, int(port)))
        asked.settimeout(0.7)
        for _ in range(tries):
            asked.send(datagram)
            try:
                return asked.recv(65536)
            except TimeoutError:
                continue
    return b""


# --- exchanges
# ------------------------------------------------------------------------------------------------------


def test_an_echo_answers_every_size(echoer: Board, wiregauge: Wiregauge) -> None:
    """Sizes 1 to 500 B and beyond: all completed, right, none lost."""
    count = "6" if echoer.slow else "40"
    for address in echoer.addresses:
        beyond = "800" if echoer.slow else "1460"
        flags = ["--protocol", "echo", "--count", count, "--timeout", "10s"]
        run = wiregauge.exchange(address, *flags, "--out", f"1,2,10,50,63,64,65,100,250,500,{beyond}")
        assert len(hold_intact(run)["points"]) == 11


def test_the_protocol_answers_every_size(speaker: Board, wiregauge: Wiregauge) -> None:
    """Sizes up to 500 B, from the headers alone on, one and two at once: none lost, none wrong."""
    count = "5" if speaker.slow else "40"
    for address in speaker.addresses:
        depths = "1,2" if hello_of(address).max_outstanding != 1 else "1"
        flags = ["--count", count, "--timeout", "10s", "--depth", depths]
        hold_intact(wiregauge.exchange(address, *flags, "--out", "16,17,100,500", "--in", "32,33,100,500"))


def test_more_requests_at_once_than_hello_allows_are_refused(speaker: Board, wiregauge: Wiregauge) -> None:
    """Nothing else would keep a host from overrunning a UART."""
    for address in speaker.addresses:
        most = hello_of(address).max_outstanding
        if most > 0:
            wiregauge("exchange", address, "--depth", f"1,{most + 1}", "--count", "5", status=2)


def test_the_protocol_answers_what_hello_allows(speaker: Board, wiregauge: Wiregauge) -> None:
    """The largest frames that the board says it takes and gives, up to 60,000 B, both ways at once."""
    most = 4_000 if speaker.slow else 60_000
    for address in speaker.addresses:
        hello = hello_of(address)
        most_here = min(most, DATAGRAM) if address.startswith("udp") else most
        largest = [str(min(most_here, limit)) for limit in (hello.max_out, hello.max_in)]
        flags = ["--count", "3" if speaker.slow else "20", "--timeout", "10s"]
        run = hold_intact(wiregauge.exchange(address, *flags, "--out", largest[0], "--in", largest[1]))
        assert run["points"][0]["point"]["out_bytes"] == int(largest[0])


def test_a_device_says_who_it_is_and_how_long_it_took(speaker: Board, wiregauge: Wiregauge) -> None:
    """HELLO has a name and a clock, and the clock goes forward between request and answer."""
    for address in speaker.addresses:
        hello = hello_of(address)
        assert hello.name
        assert hello.max_out >= 104 and hello.max_in >= 104
        assert hello.abilities & TIMESTAMPS and hello.abilities & CHECKS_OUT and hello.abilities & 1
        assert hello.tick_hz > 0 and 1 <= hello.tick_bits <= 64
        run = hold_intact(wiregauge.exchange(address, "--count", "20", "--timeout", "10s"))
        device, rtt = run["points"][0]["device"], run["points"][0]["rtt"]
        # Not a wrapped difference, and no longer than what it is a part of; the clocks' own error apart.
        assert 0 <= device["p50"]["value"] <= 2 * rtt["p50"]["value"] + 2e6, (device, rtt)


def test_large_exchanges_take_longer_than_small_ones_on_a_uart(board: Boards, wiregauge: Wiregauge) -> None:
    """On a UART every byte takes its time: 1,000 B both ways at least five times that of 20 B."""
    address = board("arduino", "--board", "uno", "--echo").serial
    assert address
    run = wiregauge.exchange(
        address, "--protocol", "echo", "--count", "10", "--timeout", "10s", "--out", "10,500"
    )
    small, large = (point["rtt"]["p50"]["value"] for point in hold_intact(run)["points"])
    assert large > 5 * small


@pytest.mark.parametrize("name", [name for name in ECHO if "tcp" in ECHO[name]])
def test_a_new_connection_for_each_exchange_is_taken(name: str, board: Boards, wiregauge: Wiregauge) -> None:
    """Hundreds of connections one after the other, as in Kakanakov's third mode."""
    address = started(board, name, ECHO[name]).tcp
    assert address
    flags = ["--protocol", "echo", "--connect", "each", "--count", "300", "--timeout", "10s"]
    hold_intact(wiregauge.exchange(address, *flags, "--out", "100"))


# --- streams
# --------------------------------------------------------------------------------------------------------


def test_streams_lose_nothing_where_something_holds_them_off(speaker: Board, wiregauge: Wiregauge) -> None:
    """IN, OUT and both: on a byte stream every byte arrives once, right. On UDP none is changed."""
    for address in speaker.addresses:
        abilities = hello_of(address).abilities
        offered = [way for way, bit in (("in", SOURCE), ("out", SINK)) if abilities & bit]
        if len(offered) == 2:
            offered.append("both")
        if not offered:
            continue
        transfer = "1024" if address.startswith("udp") else "64,1024"
        # Long enough for a transfer of the slowest simulator on a busy computer.
        patient = speaker.slow or speaker.target == "rp2040"
        times = ["--duration", "1500ms" if patient else "300ms", "--settle", "50ms"]
        # Before its report the slowest takes the megabytes that the system holds of an OUT stream.
        times += ["--timeout", "60s"]
        run = wiregauge.stream(address, "--direction", ",".join(offered), "--transfer", transfer, *times)
        for point in run["points"]:
            assert point["ending"] == {"how": "complete"}, point
            for flow in point["flows"]:
                hold_counts(flow, address)


def hold_counts(flow: Any, address: str) -> None:
    """Hold what both ends counted of a stream to what must be so."""
    counts = flow["counts"]
    assert flow["bytes"] > 0 and counts["received"] > 0, flow
    assert flow["device"] and flow["device"]["bytes"] > 0, "the device did not report"
    assert counts["corrupted"] == counts["stray"] == counts["duplicated"] == 0, counts
    if not address.startswith("udp"):
        assert counts["lost"] == 0 and counts["sent"] == counts["received"], counts


# --- what goes wrong
# ------------------------------------------------------------------------------------------------


def test_noise_before_and_between_requests_is_skipped(speaker: Board) -> None:
    """Whatever bytes come between two requests, both are answered."""
    for address in byte_streams(speaker):
        noise = random.Random(7)
        with Line(address) as line:
            line.send(noise.randbytes(100))
            line.hello()
            for number in range(2, 12):
                # Headers that are almost right are in it as well.
                damaged = bytearray(frames.request(number, 16))
                damaged[noise.randrange(2, 16)] ^= 1 << noise.randrange(8)
                line.send(noise.randbytes(noise.randrange(1, 60)) + bytes(damaged) + b"\xa7\x11\xa7")
                line.exchange(number, 40, 60)
            assert line.quiet_for(0.1), "more was answered than was asked"


def test_half_packets_are_put_together(speaker: Board) -> None:
    """A request may be cut anywhere, with a pause in between."""
    for address in byte_streams(speaker):
        with Line(address) as line:
            line.hello()
            request = frames.request(77, 100, 64)
            for cut in (1, 2, 4, 15, 16, 17, 60, 99):
                line.send(request[:cut])
                time.sleep(0.03)
                line.send(request[cut:])
                line.right_answer(77, 64)
            for byte in frames.request(78, 40, 40):
                line.send(bytes([byte]))
            line.right_answer(78, 40)


def test_a_changed_byte_is_told_and_a_lost_one_costs_one_exchange(speaker: Board) -> None:
    """OUT_CORRUPTED for the damaged request; the one behind it is answered as if nothing had been."""
    for address in byte_streams(speaker):
        with Line(address) as line:
            line.hello()
            line.send(frames.flipped(frames.request(5, 80, 40), 50))
            line.right_answer(5, 40, flags=frames.OUT_CORRUPTED)
            # The board waits for the byte that is missing until the next header comes instead of it.
            line.send(frames.without(frames.request(6, 80, 40), 50) + frames.request(7, 80, 48))
            line.right_answer(6, 40, flags=frames.OUT_CORRUPTED)
            line.right_answer(7, 48)


def test_what_is_too_large_or_unknown_is_refused(speaker: Board) -> None:
    """TOO_LARGE for either direction, and the next request is answered."""
    for address in byte_streams(speaker):
        with Line(address) as line:
            hello = line.hello()
            if hello.max_in < frames.MAX_FRAME:
                line.send(frames.request(8, 16, hello.max_in + 1))
                answer = line.answer()
                assert (answer.sequence, answer.status, answer.payload) == (8, frames.TOO_LARGE, b"")
            if hello.max_out < frames.MAX_FRAME - 16:
                line.send(frames.request_header(frames.EXCHANGE, 9, hello.max_out, 48))
                answer = line.answer()
                assert (answer.sequence, answer.status, answer.payload) == (9, frames.TOO_LARGE, b"")
            line.exchange(10, 32, 48)


def test_messages_are_echoed_and_damaged_ones_are_not_acted_on(speaker: Board) -> None:
    """The same bytes come back, with a check; a wrong check is answered by a header alone."""
    for address in byte_streams(speaker):
        with Line(address) as line:
            if not line.hello().abilities & MESSAGE:
                continue
            text = bytes(range(40, 80))
            line.send(frames.message(11, text, 34 + len(text)))
            answer = line.answer()
            assert (answer.sequence, answer.status, answer.flags) == (11, frames.OK, 0)
            assert answer.payload == frames.checked(text)
            line.send(frames.flipped(frames.message(12, text, 34 + len(text)), 20))
            answer = line.answer()
            assert (answer.sequence, answer.status, answer.flags) == (12, frames.OK, frames.OUT_CORRUPTED)
            assert answer.payload == b""


def test_a_host_that_leaves_in_the_middle_is_forgotten(speaker: Board) -> None:
    """Half a request, a source that flows: the next host begins anew."""
    for address in byte_streams(speaker):
        with Line(address) as line:
            offers = line.hello().abilities
            line.send(frames.request(13, 100)[:50])
            line.cut()
        with greeted(address) as line:
            line.exchange(14, 16, 48)
        if not offers & SOURCE:
            continue
        with greeted(address) as line:
            start = struct.pack("<B3xIQ", frames.START, 64, 0)
            line.send(frames.request_header(frames.SOURCE, 15, 16, 32) + start)
            line.receive(200)
            line.cut()
        with greeted(address) as line:
            assert line.quiet_for(0.2), "the source flows on"
            line.exchange(17, 16, 48)


def greeted(address: str) -> Line:
    """Open a line whose last host has just left, and say HELLO."""
    # A board (or a line that is one host's at a time) may take a moment to notice; and a tty keeps what was
    # under way, which ends with the answer to HELLO.
    end = time.monotonic() + 10
    while True:
        line = Line(address)
        try:
            line.send(frames.hello_request(99))
            came = line.drain(0.3)
            assert frames.response_header(frames.HELLO, 99, 72)[4:12] in came[-104:], (
                f"no HELLO: {came[-120:].hex()}"
            )
            return line
        except (AssertionError, OSError):
            line.close()
            if time.monotonic() > end:
                raise


def test_an_address_that_proved_nothing_is_sent_no_more_than_it_sent(speaker: Board) -> None:
    """UDP: whoever lies about the sender gains nothing."""
    if not speaker.udp:
        pytest.skip("no UDP on this board")
    questions = {
        "an exchange that asks for more": frames.request(1, 16, 500),
        "one that has room for a refusal": frames.request(2, 40, 500),
        "a stream": frames.request_header(frames.SOURCE, 3, 16, 32)
        + struct.pack("<B3xIQ", frames.START, 512, 0),
        "a HELLO that is too short": frames.request_header(frames.HELLO, 4, 8, 104) + bytes(8),
        "another version": frames.request_header(frames.EXCHANGE, 5, 0, 48, version=2),
        "noise": bytes(range(100)),
        "nothing": b"",
    }
    for what, question in questions.items():
        # `wiregauge serve` takes a proof for all ports of an address; QEMU's network knows 127.0.0.1 only.
        sender = "127.0.0.77" if speaker.target == "linux" else "127.0.0.1"
        answer = ask(speaker.udp, question, sender=sender)
        assert len(answer) <= len(question), what
        if what.startswith(("one", "a stream")):
            assert answer_of(answer, b"").status == frames.UNPROVEN, what


def test_a_reset_in_mid_run_is_survived(
    board: Boards, speaker_name: str, wiregauge: Wiregauge, tmp_path: Path
) -> None:
    """The samples before it are kept, the program ends as it says, and the board answers again."""
    started_board = started(board, speaker_name, PROTOCOL[speaker_name])
    for number, address in enumerate(started_board.addresses):
        # After the reset before, this address may be the last to come up.
        answers_again(wiregauge, address)
        store = tmp_path / str(number)
        flags = [
            "--no-calibration",
            "--quiet",
            "--timeout",
            "500ms",
            "--duration",
            "3s",
            "--store",
            str(store),
        ]
        process = wiregauge.start("exchange", address, *flags)
        # Samples begin to be kept when a point begins.
        end = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < end and not list(store.glob("samples/*.rows")):
            time.sleep(0.01)
        time.sleep(0.5)
        started_board.reset()
        out, error = process.communicate(timeout=120)
        # Done, with exchanges lost; or the link failed, and it said so.
        assert process.returncode in (0, 3), out + error
        run = json.loads((store / "run.json").read_text())
        counts = run["points"][0]["counts"]
        assert counts["answered"] > 0, (address, counts)
        rows = wiregauge("export", str(store), "--csv", "-").splitlines()[1:]
        assert sum(",ok," in row for row in rows) >= counts["answered"]
        answers_again(wiregauge, address)


def answers_again(wiregauge: Wiregauge, address: str) -> None:
    """Ask until a board that was reset answers right, for a minute at most."""
    end = time.monotonic() + 60
    while True:
        try:
            hold_intact(wiregauge.exchange(address, "--count", "5", "--timeout", "2s"))
            return
        except Trouble:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


@pytest.fixture(params=PROTOCOL, ids=lambda name: name.replace(" --", "-").replace(" ", "="))
def speaker_name(request: pytest.FixtureRequest) -> str:
    """Give the name of each target that speaks the protocol."""
    return str(request.param)


# --- the simulators themselves
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*PROTOCOL, "lwip-apps"])
def test_a_simulator_keeps_its_contract(name: str, board: Boards) -> None:
    """Two may run at once; one ends with SIGINT, or with its input, and leaves nothing running."""
    target, *options = name.split()
    both = [board(target, *options), board(target, *options, "--until-eof")]
    assert not set(both[0].addresses) & set(both[1].addresses)
    assert all("127.0.0.1" in address for one in both for address in one.addresses if "serial" not in address)
    both[0].signal(signal.SIGINT)
    stdin = both[1].process.stdin
    assert stdin
    stdin.close()
    for one in both:
        one.process.wait(15)
        time.sleep(0.1)
        assert one.left_behind() == []
