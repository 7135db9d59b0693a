"""Pipelines and control loops of an open device: order, depth, period, and what ends them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from peers import terminal

import wiregauge as wg

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
