#!/usr/bin/env python3
"""Runs every plan that tables.py reads, a guest on each processor.

    lab/suite.py                 those of the tables, then the tables, also as docs/lab.md
    lab/suite.py --test          also those that only test_lab.py reads, and its assertions
    lab/suite.py --test --short  only those whose results the program puts into words
    lab/suite.py --keep          read the results that are there, without running anything
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

LAB = Path(__file__).resolve().parent
sys.path.insert(0, str(LAB))

import results  # noqa: E402
import tables  # noqa: E402
import test_lab  # noqa: E402
from vm import guest, kernel, plan, program, progress  # noqa: E402
from vm.places import ROOT  # noqa: E402
from vm.trouble import Trouble, run  # noqa: E402

PAGE = LAB.parent / "docs" / "lab.md"


@dataclass(frozen=True)
class Run:
    """One boot."""

    name: str
    plan: str
    kernel: str = "std"
    controller: str | None = None
    seed: int = 1
    variables: dict[str, str] = field(default_factory=dict)
    # Whether a table reads it; the others are for the test.
    shown: bool = False
    # The tests of its results, where these are the program's words.
    words: str | None = None


# The long ones first, so that both lanes end together.
SUITE = [
    Run("stream", "stream", shown=True),
    Run("loop-alsa", "loop-alsa"),
    Run("virtual", "virtual", shown=True),
    Run("virtual-again", "virtual"),
    Run("can", "can"),
    Run("usbtmc", "usbtmc"),
    Run("hid", "hid", words="Hid"),
    Run("can-peers", "can-peers"),
    Run("shared-bus", "shared-bus", shown=True),
    Run("zero", "zero"),
    Run("pairs", "pairs"),
    Run("program", "program"),
    Run("winusb", "winusb"),
    Run("can-bus", "can-bus"),
    Run("control", "control", words="ControlTransfers"),
    Run("acm", "acm", shown=True),
    Run("acm-again", "acm"),
    Run("acm-rt", "acm", kernel="rt", shown=True),
    Run("usbmon", "usbmon", shown=True, words="Usbmon"),
    Run("split", "split", shown=True),
    Run("usbtest", "usbtest", shown=True),
    Run("rp2040-xhci", "rp2040", controller="xhci"),
    Run("doctor", "doctor", words="Doctor"),
    Run("trace", "trace", words="Traces"),
    Run("iso-uhci", "iso", controller="uhci"),
    Run("iso-xhci", "iso", controller="xhci"),
    # In real time, so in turns: what the host does meanwhile is spread over all three.
    *(
        Run(f"controllers-{name}-{number}", "controllers", controller=name, shown=True)
        for number in results.ROUNDS
        for name in ("uhci", "ehci", "xhci")
    ),
]


class Parts:
    """What guests are made of; each is made while the others are."""

    def __init__(self, pool: ThreadPoolExecutor, runs: list[Run]) -> None:
        plans = {one.plan: plan.read(LAB / "plans", one.plan) for one in runs}
        self.plans = plans
        examples = sorted({example for chosen in plans.values() for example in chosen.examples})
        self.program: Future[Path] = pool.submit(self.make, "wiregauge", lambda doing: program.build(doing, examples))
        self.kernels: dict[str, Future[kernel.Kernel]] = {
            flavour: pool.submit(self.make, f"kernel {flavour}", lambda doing, flavour=flavour: kernel.get(flavour, doing))
            for flavour in sorted({one.kernel for one in runs})
        }
        boards = any("rp2040.py" in chosen.device for chosen in plans.values())
        self.firmware = pool.submit(self.make, "firmware rp2040", firmware) if boards else None

    @staticmethod
    def make(name: str, making):
        """One of them, as a step that is said."""
        with progress.step(name) as doing:
            return making(doing)


def firmware(_: progress.Doing) -> None:
    """The firmware of the board that one plan has, and its simulator."""
    run(["make", "--no-print-directory", "-C", ROOT / "firmware", "rp2040"], "building the firmware of the RP2040")


def boot(one: Run, parts: Parts, ended: str) -> None:
    """Runs one, and says how long it took."""
    chosen = parts.plans[one.plan]
    if parts.firmware and "rp2040.py" in chosen.device:
        parts.firmware.result()
    image, binary = parts.kernels[one.kernel].result(), parts.program.result()
    with progress.step(one.name, ended):
        guest.run(
            chosen,
            name=one.name,
            kernel=image,
            program=binary,
            seed=one.seed,
            controller=chosen.controller(one.controller),
            variables=one.variables,
            timeout=chosen.timeout,
            show=False,
        )


def run_all(runs: list[Run], lanes: int) -> None:
    """All of these; the first failure is reported after the others have ended."""
    begun = time.monotonic()
    with progress.shown(), ThreadPoolExecutor(8) as makers, ThreadPoolExecutor(lanes) as pool:
        parts = Parts(makers, runs)
        for part in [parts.program, *parts.kernels.values()]:
            part.result()
        progress.say(f"binary and kernels took {time.monotonic() - begun:.1f} s; now {len(runs)} guests")
        jobs = [pool.submit(boot, one, parts, f" ({number} of {len(runs)})") for number, one in enumerate(runs, 1)]
    for job in jobs:
        job.result()
    progress.say(f"{len(runs)} guests, {time.monotonic() - begun:.1f} s in all")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--test", action="store_true", help="hold the results to what must be seen in them")
    parser.add_argument("--short", action="store_true", help="with --test: only what the program puts into words")
    parser.add_argument("--keep", action="store_true", help="run nothing")
    parser.add_argument("--lanes", type=int, default=os.cpu_count() or 1, help="guests side by side [one a processor]")
    asked = parser.parse_args()
    runs = [one for one in SUITE if (one.shown or asked.test) and (one.words or not asked.short)]
    if not asked.keep:
        run_all(runs, asked.lanes)
    if asked.short:
        return test_lab.hold([one.words for one in runs if one.words])
    tables.show(None if asked.test else PAGE)
    return test_lab.hold() if asked.test else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        print(f"lab: {trouble}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
