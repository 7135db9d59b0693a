"""Where the lab keeps what it makes."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").absolute()
# Results of the last run of each plan; `make clean` takes them away.
RUNS = TARGET / "lab" / "runs"
# Kernels are large and the same for every checkout.
KERNELS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wiregauge" / "kernels"
