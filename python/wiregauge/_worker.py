"""What a worker of a campaign does: run one plan in a process of its own."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._call import PROGRAM


def work(command: list[str], place: str | None) -> dict[str, Any]:
    """Run one plan in its own process; called by the executor on its worker.

    Returns plain data: `code` and `text` of the process, `worker`, `seconds`, `opened` (it began a
    run), and the run: `at` where caller and worker share a disk, else `packed`.
    """
    shared = place is not None and Path(place).exists()
    worker = who()
    begun = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="wiregauge-", dir=place if shared else None))
    try:
        runs = folder / "runs"
        # The system closes the other end with this process, even if it is killed: then the run ends too.
        theirs, ours = os.pipe()
        try:
            done = subprocess.run(
                [*PROGRAM, "--end-with-stdin", command[0], "--quiet", *command[1:]],
                env={**os.environ, "WIREGAUGE_RUNS": str(runs), "WIREGAUGE_WORKER": describe(worker)},
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
        finally:
            os.close(theirs)
            os.close(ours)
        said: dict[str, Any] = {
            "code": done.returncode,
            "text": done.stderr.strip(),
            "worker": worker,
            "seconds": time.monotonic() - begun,
            # The program makes the directory together with its first run, and removes only the run.
            "opened": runs.is_dir(),
            "at": None,
            "packed": None,
        }
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
