"""What the tests need: a place of their own for runs, responders, the program itself."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from peers import responder

import wiregauge as wg

os.environ["MPLBACKEND"] = "Agg"

# A shell lets what it starts in the background ignore Ctrl-C, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

PROGRAM = [sys.executable, "-m", "wiregauge"]
REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test stores its runs, and writes its files, in a directory of its own."""
    monkeypatch.setenv("WIREGAUGE_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """A responder on TCP."""
    with wg.serve("tcp://127.0.0.1:0") as address:
        yield address


@pytest.fixture(scope="module")
def board() -> Iterator[str]:
    """A responder that speaks the wiregauge protocol."""
    with responder() as address:
        yield address


@pytest.fixture(scope="module")
def echo() -> Iterator[str]:
    """Any echo server."""
    with responder("tcp://127.0.0.1:0", "--protocol", "echo") as address:
        yield address


@pytest.fixture(scope="session")
def stored(address: str, tmp_path_factory: pytest.TempPathFactory) -> wg.Run:
    """An exchange run: two sizes, two depths, 300 exchanges each."""
    place = tmp_path_factory.mktemp("stored") / "exchange"
    return wg.exchange(address, in_sizes=[48, 1000], depth=[1, 2], count=300, warmup=5, store=place)


@pytest.fixture(scope="session")
def streamed(address: str, tmp_path_factory: pytest.TempPathFactory) -> wg.Run:
    """A stream run: each way and both at once."""
    place = tmp_path_factory.mktemp("stored") / "stream"
    return wg.stream(address, direction=["in", "out", "both"], duration=0.5, settle="50ms", store=place)


@pytest.fixture(scope="session")
def looped(tmp_path_factory: pytest.TempPathFactory) -> wg.Run:
    """A loop run: two rates, and the preload that was found tested."""
    place = tmp_path_factory.mktemp("stored") / "loop"
    return wg.loop(
        "virtual",
        rate=[100e3, 200e3],
        notify="1k",
        duration=0.3,
        settle=0.02,
        find=True,
        no_calibration=True,
        store=place,
    )


@pytest.fixture
def run(request: pytest.FixtureRequest, stored: wg.Run, streamed: wg.Run, looped: wg.Run) -> wg.Run:
    """One of them, by its kind."""
    return {"exchange": stored, "stream": streamed, "loop": looped}[request.param]


each_kind = pytest.mark.parametrize("run", ["exchange", "stream", "loop"], indirect=True)
"""A test of a run of each kind."""


def program(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run the program of the package."""
    settings: dict[str, object] = {"capture_output": True, "text": True, "timeout": 60, "check": False}
    return subprocess.run([*PROGRAM, *words], **{**settings, **options})  # type: ignore[call-overload,no-any-return]


@pytest.fixture
def echo_tty(tmp_path: Path) -> Iterator[str]:
    """A serial line whose other end, socat and cat, sends back what it gets: nothing of ours."""
    link = tmp_path / "tty"
    command = ["socat", f"pty,raw,echo=0,link={link}", "exec:cat"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
        for _ in range(500):
            if link.exists():
                break
            time.sleep(0.01)
        assert link.exists(), "socat made no tty"
        yield f"serial://{link}"
        process.terminate()


def wait_until_it_measures(runs: Path | None = None) -> None:
    """Wait until a point has begun, and some rows of it can be there."""
    place = runs or Path(os.environ["WIREGAUGE_RUNS"])
    looks = 0
    for _ in range(1500):
        looks += any(place.glob("**/samples/*.rows"))
        if looks > 40:
            return
        time.sleep(0.02)


def press_ctrl_c() -> None:
    """Send this process what a terminal sends."""
    os.kill(os.getpid(), signal.SIGINT)


def in_a_moment(what: Callable[[], None] = press_ctrl_c, runs: Path | None = None) -> None:
    """Do something from another thread, as soon as this one measures."""

    def wait() -> None:
        wait_until_it_measures(runs)
        what()

    threading.Thread(target=wait, daemon=True).start()
