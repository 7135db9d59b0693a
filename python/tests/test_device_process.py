"""An open device and its process: threads, fork, Ctrl-C, and that nothing is left behind."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from peers import BOUND_S, responder, silent

import wiregauge as wg

# ---- threads, fork, Ctrl-C -------------------------------------------------------------------


def test_a_second_thread_is_turned_away_while_a_call_waits() -> None:
    with silent() as address, wg.open(address, framing=wg.Fixed(4), timeout=1) as device:
        refused: list[BaseException] = []

        def intrude() -> None:
            time.sleep(0.2)
            for use in (lambda: device.exchange(b"ping"), device.close):
                try:
                    use()
                except RuntimeError as error:
                    refused.append(error)

        thread = threading.Thread(target=intrude)
        thread.start()
        with pytest.raises(wg.LinkError):
            device.exchange(b"ping")
        thread.join(BOUND_S)
        assert len(refused) == 2
        assert all("in use" in str(error) for error in refused)


def test_other_threads_run_while_a_call_waits() -> None:
    with silent() as address, wg.open(address, framing=wg.Fixed(4), timeout=0.5) as device:
        counted = [0]
        over = threading.Event()

        def count() -> None:
            while not over.is_set():
                counted[0] += 1
                time.sleep(0.005)

        thread = threading.Thread(target=count)
        thread.start()
        with pytest.raises(wg.LinkError):
            device.exchange(b"ping")
        over.set()
        thread.join(BOUND_S)
        assert counted[0] > 10


def test_a_device_does_not_cross_a_fork(echo: str) -> None:
    with wg.open(echo, framing=wg.Fixed(4)) as device:
        child = os.fork()
        if child == 0:
            try:
                device.exchange(b"ping")
            except wg.LinkError as error:
                os._exit(0 if error.kind == "closed" and "fork()" in str(error) else 2)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert device.exchange(b"ping") == b"ping"


def test_a_device_cannot_be_pickled(echo: str) -> None:
    with (
        wg.open(echo, framing=wg.Fixed(4)) as device,
        pytest.raises(TypeError, match="send its address"),
    ):
        pickle.dumps(device)


WAITS = """
import signal, sys, time
import numpy as np
import wiregauge as wg
device = wg.open(sys.argv[1], framing=wg.Fixed(4), timeout=20)
try:
    # Within, because the signal may come before a slow process gets any further.
    print("waiting", flush=True)
    {call}
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
"""


@pytest.mark.parametrize(
    "call",
    [
        "device.exchange(b'ping')",
        "device.exchange_many(np.zeros((9, 4), np.uint8), depth=3)",
        "list(device.pipeline([b'ping'] * 9, depth=3))",
        "device.control(None, cycles=9, request=b'ping')",
        "device.control(lambda m: b'ping', cycles=9, depth=2)",
        "device.read_stream(bytearray(100))",
        "wg.open(sys.argv[1], timeout=20)",
    ],
)
def test_ctrl_c_ends_whatever_waits(call: str) -> None:
    with silent() as address:
        assert_ctrl_c_ends(call, address, after_s=0.3)


def test_a_batch_that_never_waits_long_can_be_interrupted_too(echo: str) -> None:
    # All requests take ten times as long as the limit.
    assert_ctrl_c_ends("device.exchange_many(np.zeros((10**7, 4), np.uint8), depth=4)", echo, after_s=0.5)


def assert_ctrl_c_ends(call: str, address: str, after_s: float) -> None:
    """Make a call in another process, press Ctrl-C there, and expect its end soon."""
    command = [sys.executable, "-c", WAITS.format(call=call), address]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        time.sleep(after_s)
        pressed = time.time()
        process.send_signal(signal.SIGINT)
        word, at = process.stdout.readline().split()
        assert word == "interrupted"
        # 0.2 s is promised; a busy machine may take longer, but not the timeout of 20 s.
        assert float(at) - pressed < 5
        process.stdout.close()
        assert process.wait(BOUND_S) == 0
    finally:
        process.kill()
        process.wait()


# ---- nothing is left -------------------------------------------------------------------------


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def resident_kib() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


def test_ten_thousand_openings_leave_nothing_behind(tmp_path: Path) -> None:
    with responder(f"unix://{tmp_path / 'echo'}", "--protocol", "echo") as address:

        def some(count: int) -> None:
            for n in range(count):
                device = wg.open(address, framing=wg.Fixed(4))
                device.exchange(b"ping")
                if n % 2:
                    device.close()
                del device

        some(500)
        before = descriptors(), resident_kib()
        some(9_500)
        assert descriptors() == before[0]
        # A leak of one small object each would be over 1 MiB.
        assert resident_kib() - before[1] < 4096


def test_failures_leave_nothing_behind(echo: str) -> None:
    with wg.open(echo, framing=wg.Fixed(4)) as device:

        def some(count: int) -> None:
            for _ in range(count):
                with pytest.raises(ValueError, match="in C order"):
                    device.exchange(np.zeros((4, 4), np.uint8)[:, ::2])
                with pytest.raises(wg.LinkError):
                    wg.open("tcp://127.0.0.1:1", framing=wg.Raw())
                with pytest.raises(ZeroDivisionError):
                    device.control(lambda _: bytes(1 // 0), cycles=3, request=b"ping")

        some(100)
        before = descriptors(), resident_kib()
        some(1_000)
        assert descriptors() == before[0]
        assert resident_kib() - before[1] < 4096
