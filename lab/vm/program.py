"""wiregauge for the guest: the binary that `make build` builds, so that it is compiled once."""

from __future__ import annotations

import os
import re
import subprocess
from collections import deque
from pathlib import Path

from vm.places import ROOT, TARGET
from vm.progress import Doing
from vm.trouble import Trouble, run

BINARY = TARGET / "release" / "wiregauge"
# How many of cargo's last lines are shown when it fails.
TAIL = 40


def build(doing: Doing, examples: list[str]) -> Path:
    """Builds the binary, and these examples of crates/device beside it, if their sources changed."""
    # As `make build` builds it: what a report's figures are drawn with is compiled in.
    said = run([ROOT / "scripts/fetch-uplot"], "fetching uPlot", cwd=ROOT)
    if said:
        print(said, end="", flush=True)
    cargo(doing, ["-p", "wiregauge-cli"])
    if examples:
        # Beside the program, so that what they share is built once.
        cargo(doing, ["-p", "wiregauge-cli", "-p", "wiregauge-device", *(word for name in examples for word in ("--example", name))])
    return BINARY


def cargo(doing: Doing, packages: list[str]) -> None:
    """Builds packages, and says what is being compiled."""
    command = ["cargo", "build", "--locked", "--release", *packages]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET), "CARGO_TERM_PROGRESS_WHEN": "never", "CARGO_TERM_COLOR": "never"}
    try:
        building = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
        )
    except FileNotFoundError as error:
        raise Trouble("building wiregauge: cargo is not installed (scripts/setup lab brings it)") from error
    tail: deque[str] = deque(maxlen=TAIL)
    compiled = 0
    with building:
        for line in building.stderr:
            tail.append(line.rstrip())
            if found := re.match(r" *Compiling (\S+)", line):
                compiled += 1
                doing(f"compiling crate {compiled}, {found[1]}")
            elif "Blocking" in line:
                doing("waiting for another cargo")
    if building.returncode != 0:
        raise Trouble("building wiregauge for the guest failed\n    " + "\n    ".join(tail))
