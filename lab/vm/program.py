"""The statically linked wiregauge: the guest has no libraries."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from vm.places import ROOT, TARGET
from vm.trouble import Trouble

# Naming the target keeps the flag away from build scripts, and the result in a folder of its own.
TRIPLE = "x86_64-unknown-linux-gnu"
BINARY = TARGET / TRIPLE / "quick" / "wiregauge"


def build() -> Path:
    """Builds the binary, and the examples of crates/device beside it, if their sources changed."""
    command = ["cargo", "build", "--locked", "--quiet", "--profile", "quick", "--target", TRIPLE]
    command += ["-p", "wiregauge-cli", "--bins", "-p", "wiregauge-device", "--examples"]
    environment = {**os.environ, "RUSTFLAGS": "-C target-feature=+crt-static", "CARGO_TARGET_DIR": str(TARGET)}
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, check=False)
    except FileNotFoundError as error:
        raise Trouble("building wiregauge: cargo is not installed (scripts/setup lab brings it)") from error
    if done.returncode != 0:
        raise Trouble("building wiregauge for the guest failed")
    return BINARY
