"""A controller in Python and a plant behind a link: `serve --plant`."""

from __future__ import annotations

import math
import struct
from itertools import pairwise

import pytest

import wiregauge as wg

TCP = "tcp://127.0.0.1:0"


def command(u: float) -> bytes:
    return struct.pack("<d", u)


def measurement(reply: bytes) -> tuple[int, float]:
    time, y = struct.unpack("<Qd", reply)
    return time, y


def test_a_controller_in_python_moves_the_plant_to_its_reference() -> None:
    # However late the host is at times: a held command leaves a plant that has settled where it is.
    with wg.serve(TCP, plant="20/(s+1)", input_limits=(-10, 10)) as address, wg.open(address) as device:
        y = 0.0
        while abs(y - 100 / 101) > 1e-3:
            _, y = measurement(device.exchange(command(5 * (1 - y)), 16))


def test_the_plant_is_integrated_exactly_between_the_cycles_of_a_loop() -> None:
    heard: list[tuple[int, float]] = []
    sent = [0.0]

    def step(reply: bytes | None) -> bytes | None:
        if reply is None:
            return None
        heard.append(measurement(reply))
        sent.append(5 * (1 - heard[-1][1]))
        return command(sent[-1])

    with wg.serve(TCP, plant="1/(s+3)", input_limits="-2..2") as address, wg.open(address) as device:
        device.control(step, period="2ms", cycles=100, request=command(0), reply_bytes=16)
    assert len(heard) == 99
    assert heard[0][1] == 0
    for n, ((before, y_before), (now, y)) in enumerate(pairwise(heard)):
        u = min(max(sent[n], -2), 2)
        decay = math.exp(-3e-9 * (now - before))
        assert y == pytest.approx(y_before * decay + u / 3 * (1 - decay), rel=1e-9, abs=1e-12)


def test_an_empty_message_leaves_the_command_as_it_is() -> None:
    with wg.serve(TCP, plant="1/s") as address, wg.open(address) as device:
        begin, _ = measurement(device.exchange(command(7), 16))
        for _ in range(20):
            time, y = measurement(device.exchange(b"", 16))
            assert y == pytest.approx(7e-9 * (time - begin), rel=1e-9)


def test_what_is_no_command_raises() -> None:
    with wg.serve(TCP, plant="1/s", noise=0.5) as address, wg.open(address) as device:
        for wrong in [b"1234567", bytes(16), struct.pack("<d", math.nan)]:
            with pytest.raises(wg.LinkError, match="does not accept this payload"):
                device.exchange(wrong, 16)
        assert len(device.exchange(bytes(8), 16)) == 16


def test_a_plant_that_cannot_be_simulated_is_refused() -> None:
    with pytest.raises(wg.UsageError, match="D is not 0"):
        wg.serve(TCP, plant="(s+1)/(s+2)")
    with pytest.raises(TypeError, match="input_limits must be"):
        wg.serve(TCP, plant="1/s", input_limits=3)  # type: ignore[arg-type]
