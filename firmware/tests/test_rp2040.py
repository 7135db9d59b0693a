"""What only the RP2040 has: two functions at once, two buffers an endpoint, empty packets, a bus reset.

The simulator tells on stderr, when it ends, what was seen on the bus. Its time is the simulated processor's,
so the counts hold on any machine, however busy.
"""

import json
import subprocess
import threading
import time
from typing import Any

import pytest
from conftest import Boards
from harness import Board, Wiregauge, hold_intact
from line import Line

# The simulator waits for the processor of the machine that it runs on.
TIMEOUT = ("--timeout", "20s")
QUICK = ("--no-calibration", "--no-store")
PACKET = 64


def seen_on_the_bus(board: Board) -> Any:
    """End the board and return what it tells, after holding that nothing happened that must not."""
    assert board.end() == 0
    report = json.loads(board.said().strip().splitlines()[-1])
    assert report["violations"] == [], "the firmware breaks rules of the controller's datasheet"
    assert report["errors"] == [], "the bus saw wrong data toggles"
    assert all(pipe["wrong_toggle"] == 0 for pipe in report["pipes"].values()), report
    return report["pipes"]


def bulk(board: Board) -> str:
    """Return the address of the bulk endpoints, which comes second."""
    _serial, address = board.addresses
    return address


def source(board: Board, wiregauge: Wiregauge) -> tuple[float, int]:
    """Let a source flow; return the share of IN tokens with data, and the most full packets in a frame.

    Counted are the tokens behind a full packet, when the device must have more.
    """
    flags = ("--direction", "in", "--transfer", "4096", "--duration", "2s", "--settle", "100ms", *TIMEOUT)
    (flow,) = wiregauge.stream(bulk(board), *flags)["points"][0]["flows"]
    assert flow["counts"]["received"] == flow["counts"]["sent"] >= 8 * 4096
    assert [flow["counts"][wrong] for wrong in ("lost", "duplicated", "corrupted", "stray")] == [0, 0, 0, 0]
    pipe = seen_on_the_bus(board)["in3"]
    return pipe["within_data"] / (pipe["within_data"] + pipe["within_nak"]), pipe["most_a_frame"]


def test_two_buffers_answer_every_token_and_one_does_not(board: Boards, wiregauge: Wiregauge) -> None:
    """The design: while one buffer is on the wire the other is filled, so that no token meets a NAK."""
    share, packets = source(board("rp2040"), wiregauge)
    single_share, single_packets = source(board("rp2040", "--single"), wiregauge)
    assert share > 0.98
    assert single_share < 0.8
    # 19 packets of 64 bytes a frame are what the bus can carry (USB 2.0, table 5-9).
    assert packets == 19 > single_packets


def test_both_functions_answer_at_once(board: Boards, wiregauge: Wiregauge) -> None:
    """A serial port and a bulk interface, each with a responder of its own, share a bus and a processor."""
    both = board("rp2040")
    assert both.serial
    sizes = ("--in", "48,500,2000", "--depth", "1,4", "--count", "60")
    running = [
        wiregauge.start("exchange", address, *QUICK, *sizes, *TIMEOUT, "--json")
        for address in (bulk(both), both.serial)
    ]
    for process in running:
        out, error = process.communicate(timeout=100)
        assert process.returncode == 0, error
        hold_intact(json.loads(out))
    pipes = seen_on_the_bus(both)
    assert pipes["in2"]["bytes"] == pipes["in3"]["bytes"] > 6 * 60 * 48


def test_a_flood_of_noise_on_one_function_does_not_keep_the_other_waiting(
    board: Boards, wiregauge: Wiregauge
) -> None:
    """What looks like header after header costs the most, more than a packet takes on the wire."""
    both = board("rp2040")
    assert both.serial
    stop = threading.Event()
    with Line(bulk(both)) as noise:

        def flood() -> None:
            while not stop.is_set():
                noise.send(b"\xa7\x11" * 512)

        sender = threading.Thread(target=flood)
        sender.start()
        try:
            # Opening and closing the port are control requests.
            for _ in range(2):
                hold_intact(wiregauge.exchange(both.serial, "--in", "48,500", "--count", "30", *TIMEOUT))
        finally:
            stop.set()
            sender.join()
    assert seen_on_the_bus(both)["out3"]["bytes"] > 20_000


@pytest.mark.parametrize("options", [(), ("--echo",)], ids=["protocol", "echo"])
def test_answers_that_fill_their_last_packet_end_with_an_empty_one(
    board: Boards, wiregauge: Wiregauge, options: tuple[str, ...]
) -> None:
    """A host hands a transfer over when a packet is not full: without an empty one it would wait on."""
    one = board("rp2040", *options)
    assert one.serial
    sizes, count = (PACKET, 2 * PACKET, 32 * PACKET), 20
    for address in (bulk(one), one.serial):
        for size in sizes:
            flags = ["--out", str(size), "--protocol", "echo"] if options else ["--in", str(size)]
            hold_intact(wiregauge.exchange(address, *flags, "--depth", "1", "--count", str(count), *TIMEOUT))
    pipes = seen_on_the_bus(one)
    for pipe in ("in2", "in3"):
        assert pipes[pipe]["empty"] >= len(sizes) * count


def test_a_bus_reset_in_mid_run_is_survived(board: Boards, wiregauge: Wiregauge) -> None:
    """The host configures the device anew: what was under way is lost, what comes after is answered."""
    one = board("rp2040")
    sizes = ("--in", "64", "--depth", "2", "--count", "2000")
    process = wiregauge.start("exchange", bulk(one), *QUICK, *sizes, "--timeout", "2s", "--json")
    for _ in range(3):
        time.sleep(0.4)
        one.reset()
    try:
        out, error = process.communicate(timeout=100)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode in (0, 3), error
    counts = json.loads(out)["points"][0]["counts"]
    assert counts["corrupted"] == 0
    assert counts["answered"] > 0
    assert counts["lost"] <= 3 * 2 + 2
    hold_intact(wiregauge.exchange(bulk(one), "--in", "64", "--count", "20", *TIMEOUT))
    seen_on_the_bus(one)


def test_the_image_for_ram_starts_as_well(board: Boards, wiregauge: Wiregauge) -> None:
    """The other tests boot from flash, by our second stage; this is what a board runs that is only tried."""
    one = board("rp2040", "--ram")
    assert one.serial
    hold_intact(wiregauge.exchange(one.serial, "--in", "100", "--count", "20", *TIMEOUT))
    seen_on_the_bus(one)
