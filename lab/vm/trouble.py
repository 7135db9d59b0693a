"""The one kind of failure that the lab reports in words instead of a traceback."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path


class Trouble(Exception):
    """What was being done, what was said, and what to try."""


def run(command: Sequence[str | Path], doing: str, **options) -> str:
    """Runs a command to its end; returns its standard output."""
    try:
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, **options
        )
    except FileNotFoundError as error:
        raise Trouble(f"{doing}: {command[0]} is not installed (scripts/setup lab brings it)") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-15:]
        raise Trouble(f"{doing}: {command[0]} failed\n    " + "\n    ".join(said))
    return done.stdout
