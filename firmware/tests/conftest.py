"""What the tests of the firmware are given: simulated boards, and wiregauge to measure them."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest
from harness import Board, Wiregauge

# A shell lets what it starts in the background ignore Ctrl-C, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Boards(Protocol):
    """Starts `firmware/sim/TARGET OPTIONS` and returns it once it is ready."""

    def __call__(self, target: str, *options: str) -> Board: ...  # noqa: D102


def _boards() -> Iterator[Boards]:
    with ExitStack() as started:

        def start(target: str, *options: str) -> Board:
            board = Board(target, *options)
            started.callback(board.end)
            return board.wait_until_ready()

        yield start


@pytest.fixture
def board() -> Iterator[Boards]:
    """Boards that are ended with the test."""
    yield from _boards()


@pytest.fixture(scope="session")
def lasting_board() -> Iterator[Boards]:
    """Boards that are ended with the last test, for fixtures that several tests share."""
    yield from _boards()


@pytest.fixture(scope="session")
def wiregauge(tmp_path_factory: pytest.TempPathFactory) -> Wiregauge:
    """The program, with a place of its own for its runs."""
    runs: Path = tmp_path_factory.mktemp("runs")
    return Wiregauge(runs)
