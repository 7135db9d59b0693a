"""A controller in Python and a plant behind a link: `serve --plant`."""

from __future__ import annotations

import math
import struct

import pytest

import wiregauge as wg


def test_a_controller_in_python_moves_the_plant_to_its_reference() -> None:
    heard: list[tuple[int, float]] = []

    def step(reply: bytes | None) -> bytes | None:
        if reply is None:
            return None
        heard.append(struct.unpack("<Qd", reply))
        return struct.pack("<d", 5.0 * (1.0 - heard[-1][1]))

    # Settled to exp(-20) after 10 time constants of the loop, whatever the delays: they are far below its margin.
    with wg.serve("tcp://127.0.0.1:0", plant="20/(s+1)", input_limits=(-10, 10)) as address, wg.open(address) as device:
        device.control(step, period="2ms", duration=0.4, request=struct.pack("<d", 0.0), reply_bytes=16)
    times = [time for time, _ in heard]
    assert times == sorted(times)
    assert heard[0][1] == 0.0
    assert heard[-1][1] == pytest.approx(100 / 101, abs=1e-3)


def test_the_plant_is_integrated_exactly_between_the_times_of_the_replies() -> None:
    with wg.serve("tcp://127.0.0.1:0", plant="1/(s+3)", input_limits="-2..2") as address, wg.open(address) as device:
        begin, y = struct.unpack("<Qd", device.exchange(struct.pack("<d", 100.0), 16))
        assert y == 0.0
        for _ in range(20):
            # A sample leaves the command as it is.
            time, y = struct.unpack("<Qd", device.exchange(b"", 16))
            expected = 2 / 3 * (1 - math.exp(-3e-9 * (time - begin)))
            assert y == pytest.approx(expected, rel=1e-9)


def test_what_is_no_command_raises() -> None:
    with wg.serve("tcp://127.0.0.1:0", plant="1/s", noise=0.5) as address, wg.open(address) as device:
        for wrong in [b"1234567", bytes(16), struct.pack("<d", math.nan)]:
            with pytest.raises(wg.LinkError, match="does not accept this payload"):
                device.exchange(wrong, 16)
        assert len(device.exchange(bytes(8), 16)) == 16


def test_a_plant_that_cannot_be_simulated_is_refused() -> None:
    with pytest.raises(wg.UsageError, match="D is not 0"):
        wg.serve("tcp://127.0.0.1:0", plant="(s+1)/(s+2)")
    with pytest.raises(TypeError, match="input_limits must be"):
        wg.serve("tcp://127.0.0.1:0", plant="1/s", input_limits=3)  # type: ignore[arg-type]
