"""What a worker of a campaign does: run one plan in a process of its own."""

from __future__ import annotations

import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from multiprocessing import connection, parent_process
from pathlib import Path
from typing import Any

from ._call import PROGRAM

_LOOK_EVERY = 0.2
"""How often a worker looks whether it should end its plan (s); a processor hardly notices."""

INTERRUPTED = 130
"""Exit code of the program after Ctrl-C."""

WAS_TAKEN_UP = 75
"""Instead of an exit code: another worker had begun this plan, and was killed."""

GRACE = 20.0
"""How long the process of a plan may take to end (s): it ends itself by force after 10 s."""

_OWN_GROUP: dict[str, Any] = (
    {"creationflags": 0x200} if os.name == "nt" else {"process_group": 0}  # CREATE_NEW_PROCESS_GROUP
)
"""Ctrl-C of the terminal reaches the worker, which then ends the process; a second signal would kill it."""


def work(command: list[str], place: str | None, stop: str) -> dict[str, Any]:
    """Run one plan in its own process; called by the executor on its worker.

    Returns plain data: `code` and `text` of the process, `worker`, `seconds`, `opened` (it began a
    run), and the run: `at` where caller and worker share a disk, else `packed`. The plan ends as after
    Ctrl-C when the file `stop` exists.
    """
    shared = place is not None and Path(place).exists()
    worker = who()
    said: dict[str, Any] = {
        "code": INTERRUPTED,
        "text": "",
        "worker": worker,
        "seconds": 0.0,
        "opened": False,
        "at": None,
        "packed": None,
    }
    # Dask gives the plan of a worker that was killed to the next one.
    if shared and place is not None and any(Path(place).iterdir()):
        return {**said, "code": WAS_TAKEN_UP}
    begun = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="wiregauge-", dir=place if shared else None))
    try:
        runs = folder / "runs"
        environment = {**os.environ, "WIREGAUGE_RUNS": str(runs), "WIREGAUGE_WORKER": describe(worker)}
        with _ctrl_c_to(Path(stop)):
            ended = _measured(command, environment, Path(stop))
        if ended is None:
            return said
        said["code"], said["text"] = ended
        said["seconds"] = time.monotonic() - begun
        # The program makes the directory together with its first run, and removes only the run.
        said["opened"] = runs.is_dir()
        measured = sorted(runs.iterdir()) if runs.is_dir() else []
        if not measured:
            return said
        if shared:
            said["at"] = str(measured[0])
            return said
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            tar.add(measured[0], arcname=measured[0].name)
        said["packed"] = packed.getvalue()
        return said
    finally:
        if not shared:
            shutil.rmtree(folder, ignore_errors=True)


def _measured(command: list[str], environment: Mapping[str, str], stop: Path) -> tuple[int, str] | None:
    """Run the process of a plan to its end; return its exit code and error; None if it was not begun."""
    orphan = _orphan()
    if stop.exists() or orphan.is_set():
        return None
    # The system closes the other end with this process, even if it is killed: then the run ends too.
    theirs, ours = os.pipe()
    try:
        process = subprocess.Popen(
            [*PROGRAM, "--plain", "--end-with-stdin", command[0], "--quiet", *command[1:]],
            env=environment,
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            **_OWN_GROUP,
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    text: list[str] = []
    has_ended = threading.Event()

    def read() -> None:
        assert process.stderr is not None
        with process.stderr:
            text.append(process.stderr.read())
        process.wait()
        has_ended.set()

    _RUNNING.add(has_ended)
    threading.Thread(target=read, name="wiregauge-plan", daemon=True).start()
    try:
        while not has_ended.wait(_LOOK_EVERY):
            if stop.exists() or orphan.is_set():
                break
    finally:
        # Also after an exception, such as KeyboardInterrupt: it ends with what it has.
        os.close(ours)
        if not has_ended.wait(GRACE):
            process.kill()
            has_ended.wait()
        _RUNNING.discard(has_ended)
    return process.returncode, text[0].strip()


# ---- Ctrl-C, and a caller that dies ----------------------------------------------------------


@contextmanager
def _ctrl_c_to(stop: Path) -> Iterator[None]:
    """Meanwhile, Ctrl-C ends all plans of the campaign, and what they have measured is kept.

    In a worker of a pool, which the terminal interrupts together with the caller; elsewhere it is
    KeyboardInterrupt, as usual.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or parent_process() is None:
        yield
        return

    def interrupt(*_: object) -> None:
        # Without the caller's disk there is nobody else to stop.
        if stop.parent.exists():
            stop.touch()
        else:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_RUNNING: set[threading.Event] = set()
"""Of each process of a plan that runs here what is set at its end."""


@cache
def _orphan() -> threading.Event:
    """Return what is set when the process that started this worker has ended.

    A worker of a pool would measure the plans that it still has, then wait for more for ever: the system
    closes the pool's pipe only when all of its workers have ended. So it ends itself.
    """
    orphan = threading.Event()
    parent = parent_process()
    if parent is None or parent.pid is None:
        return orphan
    # A forked worker also holds the sentinels of its elder siblings open; only the system has the truth then.
    is_child = os.name != "nt" and os.getppid() == parent.pid

    def watch() -> None:
        while not connection.wait([parent.sentinel], 0.5):
            if is_child and os.getppid() != parent.pid:
                break
        orphan.set()
        for has_ended in list(_RUNNING):
            has_ended.wait(GRACE)
        os._exit(1)

    threading.Thread(target=watch, name="wiregauge-parent", daemon=True).start()
    return orphan


def _begin_anew() -> None:
    """Forget what is true of the parent only: its threads do not run in a forked worker."""
    _RUNNING.clear()
    _orphan.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


# ---- who works -------------------------------------------------------------------------------


def who() -> dict[str, Any]:
    """Return the name of this worker, as its executor knows it."""
    found: dict[str, Any] = {"host": socket.gethostname(), "pid": os.getpid()}
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            worker = distributed.get_worker()
        except ValueError:
            pass  # not within a task
        else:
            found["dask"] = f"{worker.name} at {worker.address}"
    for rank in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        if rank in os.environ:
            found["rank"] = os.environ[rank]
            break
    return found


def describe(worker: Mapping[str, Any]) -> str:
    """Describe a worker in one line, for the conditions of its run."""
    return ", ".join(f"{key} {value}" for key, value in worker.items())
