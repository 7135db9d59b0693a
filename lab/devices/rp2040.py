#!/usr/bin/env python3
"""The simulated RP2040 as a device outside the guest: its real firmware, through QEMU's USB redirection.

    rp2040.py --speed full --function responder SOCKET target/.../wiregauge

The function is the firmware: `responder` or `echo`. Build it before: make -C firmware rp2040.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

SIMULATOR = Path(__file__).resolve().parents[2] / "firmware" / "sim" / "rp2040"


def main() -> None:
    """Become the simulator."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("socket", type=Path)
    parser.add_argument("--speed", help="of the controller; the device knows full speed only")
    parser.add_argument("--function", choices=("responder", "echo"), default="responder")
    parser.add_argument("wiregauge", type=Path, help="not used: the firmware answers")
    asked = parser.parse_args()
    options = ["--echo"] if asked.function == "echo" else []
    os.execv(SIMULATOR, [SIMULATOR, *options, "--usbredir", asked.socket])


if __name__ == "__main__":
    main()
