"""Ctrl-C ends a measurement and keeps what was measured; Python's own handling stays as it was."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import PROGRAM, in_a_moment, press_ctrl_c, wait_until_it_measures

import wiregauge as wg


@pytest.mark.parametrize("kind", ["exchange", "stream", "loop"])
def test_ctrl_c_ends_a_run_and_keeps_what_was_measured(address, kind):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGURG)]
    in_a_moment()
    begun = time.monotonic()
    with pytest.raises(wg.Interrupted) as caught:
        if kind == "exchange":
            wg.exchange(address, duration=30, no_calibration=True)
        elif kind == "stream":
            wg.stream(address, duration=30, settle="20ms")
        else:
            wg.loop("virtual", rate="100k", notify="1k", duration=30, settle="20ms", no_calibration=True)
    assert time.monotonic() - begun < 15
    assert isinstance(caught.value, KeyboardInterrupt)
    run = caught.value.run
    assert run.state == "interrupted"
    assert caught.value.path == run.path
    assert str(caught.value) == f"interrupted; 1 point measured, in {run.path}"
    assert (run.samples["phase"] == wg.Phase.MEASURED).sum() > 5
    assert wg.last() == run
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGURG)] == before
    # And Ctrl-C is what it was.
    with pytest.raises(KeyboardInterrupt) as plain:
        press_ctrl_c()
        time.sleep(5)
    assert type(plain.value) is KeyboardInterrupt


def test_a_run_that_is_not_stored_is_only_in_the_exception(address, tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    in_a_moment(runs=tmp_path / "temporary")
    with pytest.raises(wg.Interrupted) as caught:
        wg.exchange(address, duration=30, no_calibration=True, no_store=True)
    said = "interrupted; 1 point measured, only in `run` of this exception (no_store=True)"
    assert str(caught.value) == said
    assert len(caught.value.run.samples) > 5


def test_a_handler_of_the_users_own_decides(address):
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append("int"))
    try:
        in_a_moment()
        run = wg.exchange(address, duration=4, no_calibration=True)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == ["int"]
    assert run.state == "complete"


def test_what_a_handler_raises_comes_through(address):
    class EnoughError(Exception):
        pass

    def raise_it(*_):
        raise EnoughError

    before = signal.signal(signal.SIGALRM, raise_it)
    try:
        in_a_moment(lambda: os.kill(os.getpid(), signal.SIGALRM))
        with pytest.raises(EnoughError):
            wg.exchange(address, duration=30)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert wg.last().state == "interrupted"


def test_before_anything_was_measured_there_is_no_run():
    with wg.serve("tcp://127.0.0.1:0", drop=1.0) as silent:
        in_a_moment()
        with pytest.raises(wg.Interrupted) as caught:
            wg.exchange(silent, timeout=60, count=5, no_calibration=True)
    assert caught.value.run is None or caught.value.run.state == "interrupted"


def test_another_thread_measures_while_python_goes_on(address):
    runs = []
    thread = threading.Thread(
        target=lambda: runs.append(wg.exchange(address, duration=0.5, no_calibration=True))
    )
    counted = 0
    thread.start()
    while thread.is_alive():
        counted += 1
    # A lock that is held would let this loop run a few times only: once in 5 ms.
    assert counted > 20_000
    assert runs[0].state == "complete"


def test_two_runs_at_once_do_not_stop_each_other(address):
    ended = {}

    def measure(name, seconds):
        # Sleeping in a receive for most of the time, from which only a signal wakes it.
        with wg.serve("tcp://127.0.0.1:0", drop="every=3") as lossy:
            ended[name] = wg.exchange(lossy, duration=seconds, timeout=0.05, no_calibration=True)

    threads = [threading.Thread(target=measure, args=one) for one in (("a", 1.5), ("b", 3))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert {run.state for run in ended.values()} == {"complete"}
    assert all((run.samples["status"] == wg.Status.LOST).sum() > 1 for run in ended.values())


SCRIPT = """
import wiregauge as wg
print("begins", flush=True)
try:
    wg.exchange({address!r}, duration=30)
except KeyboardInterrupt as error:
    print(error.run.state, len(error.run.samples) > 10)
"""


def test_a_script_in_the_foreground_hears_ctrl_c(address):
    script = [sys.executable, "-c", SCRIPT.format(address=address)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begins\n"
        wait_until_it_measures()
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted True\n"
    assert process.returncode == 0


UNCAUGHT = """
import atexit
import wiregauge as wg
atexit.register(print, "cleaned up", flush=True)
print("begins", flush=True)
wg.exchange({address!r}, duration=30)
"""


def test_a_script_that_does_not_catch_it_exits_as_after_any_ctrl_c_and_says_where_the_run_is(address):
    script = [sys.executable, "-c", UNCAUGHT.format(address=address)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begins\n"
        wait_until_it_measures()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert out == "cleaned up\n"
    assert err.splitlines()[-1] == (
        f"wiregauge.errors.Interrupted: interrupted; 1 point measured, in {wg.last().path}"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_program_ends_as_the_binary_does(address, number):
    command = [*PROGRAM, "exchange", address, "--duration", "30s", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_until_it_measures()
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "RTT" in out and err == ""
    assert wg.last().state == "interrupted"


def test_serve_ends_with_0_when_it_is_told_to():
    command = [*PROGRAM, "serve", "tcp://127.0.0.1:0", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("serving ")
        process.send_signal(signal.SIGTERM)
        process.wait(10)
    assert process.returncode == 0


PROMPT = """
import sys
from wiregauge.errors import interrupted
sys.ps1 = ">>> "
error = interrupted(None)
sys.excepthook(type(error), error, None)
print("goes on")
"""


def test_a_prompt_goes_on_after_ctrl_c():
    done = subprocess.run([sys.executable, "-c", PROMPT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "goes on\n"), done.stderr
