#!/usr/bin/env python3
"""Runs every plan that tables.py and test_lab.py read, a guest on each processor.

    lab/suite.py                 all of them, then the tables
    lab/suite.py --test          and the assertions of test_lab.py
    lab/suite.py --keep          read the results that are there, without running anything
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

LAB = Path(__file__).resolve().parent
sys.path.insert(0, str(LAB))

import results  # noqa: E402
import tables  # noqa: E402
import test_lab  # noqa: E402
from vm import guest, kernel, plan, program  # noqa: E402
from vm.trouble import Trouble  # noqa: E402


@dataclass(frozen=True)
class Run:
    """One boot."""

    name: str
    plan: str
    kernel: str = "std"
    controller: str | None = None
    seed: int = 1
    variables: dict[str, str] = field(default_factory=dict)


# The long ones first, so that both lanes end together.
SUITE = [
    Run("stream", "stream"),
    Run("loop-alsa", "loop-alsa"),
    Run("loop-alsa-again", "loop-alsa"),
    Run("virtual", "virtual"),
    Run("virtual-again", "virtual"),
    Run("hid", "hid"),
    Run("can", "can"),
    Run("can-peers", "can-peers"),
    Run("can-bus", "can-bus"),
    Run("pairs", "pairs"),
    Run("rp2040-xhci", "rp2040", controller="xhci"),
    Run("program", "program"),
    Run("control", "control"),
    Run("shared-bus", "shared-bus"),
    Run("usbmon", "usbmon"),
    Run("zero", "zero"),
    Run("doctor", "doctor"),
    Run("acm", "acm"),
    Run("acm-again", "acm"),
    Run("acm-rt", "acm", kernel="rt"),
    Run("usbtmc", "usbtmc"),
    # In real time, so in turns: what the host does meanwhile is spread over all three.
    *(
        Run(f"controllers-{name}-{number}", "controllers", controller=name)
        for number in results.ROUNDS
        for name in ("uhci", "ehci", "xhci")
    ),
]


def boot(one: Run, binary: Path, kernels: dict[str, kernel.Kernel]) -> None:
    """Runs one, and tells how long it took."""
    begun = time.monotonic()
    chosen = plan.read(LAB / "plans", one.plan)
    guest.run(
        chosen,
        name=one.name,
        kernel=kernels[one.kernel],
        program=binary,
        seed=one.seed,
        controller=chosen.controller(one.controller),
        variables=one.variables,
        timeout=chosen.timeout,
        show=False,
    )
    print(f"lab: {one.name}: {time.monotonic() - begun:.1f} s", flush=True)


def run_all(lanes: int) -> None:
    """All of the suite; the first failure is reported after the others have ended."""
    begun = time.monotonic()
    binary = program.build()
    kernels = {flavour: kernel.get(flavour) for flavour in sorted({one.kernel for one in SUITE})}
    print(f"lab: binary and kernels took {time.monotonic() - begun:.1f} s; now {len(SUITE)} guests", flush=True)
    with ThreadPoolExecutor(lanes) as pool:
        jobs = [pool.submit(boot, one, binary, kernels) for one in SUITE]
    for job in jobs:
        job.result()
    print(f"lab: {len(SUITE)} guests, {time.monotonic() - begun:.1f} s in all", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--test", action="store_true", help="hold the results to what must be seen in them")
    parser.add_argument("--keep", action="store_true", help="run nothing")
    parser.add_argument("--lanes", type=int, default=os.cpu_count() or 1, help="guests side by side [one a processor]")
    asked = parser.parse_args()
    if not asked.keep:
        run_all(asked.lanes)
    tables.show()
    return test_lab.hold() if asked.test else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        print(f"lab: {trouble}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
