#!/usr/bin/env python3
"""Kakanakov's experiment over the classes of targets: three modes, 1 to 500 B, in turns, in one run.

See README.md in this folder for what is measured, and docs/targets.md for the rule of the verdicts.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

import measure  # noqa: E402
import tables  # noqa: E402
from classes import CLASSES, MODES, Class, started  # noqa: E402
from harness import Trouble  # noqa: E402
from measure import Cell, Desk, DeviceCell, Failed, Plan  # noqa: E402
from verdict import Rule, judge_all  # noqa: E402

KAKANAKOV = (1, 10, 20, 50, 100, 200, 500)
ROUNDS = 4
# The smallest frames that have room for both headers of the protocol, and his sizes beyond.
DEVICE_SIZES = (32, 50, 100, 200, 500)
PAGE = ROOT / "docs" / "targets.md"
FIGURES = ROOT / "docs" / "targets"


class Subject:
    """A class, and all that was seen of it."""

    def __init__(self, cls: Class) -> None:
        self.cls = cls
        self.cells = {mode: Cell() for mode in cls.modes}
        # `each` has no device time of its own: the protocol does not see the connection.
        self.devices = {mode: DeviceCell() for mode in cls.modes if mode != "each" and cls.clock}
        self.left_out: dict[str, str] = {}

    def results(self, plan: Plan, rule: Rule) -> dict[str, Any]:
        """Return what results.json keeps of it."""
        return {
            "key": self.cls.key,
            "title": self.cls.title,
            "what": self.cls.what,
            "clock": self.cls.clock,
            "modes": {
                mode: measure.summary(cell, mode, rule) for mode, cell in self.cells.items() if cell.sizes
            },
            "device": {
                mode: measure.device_summary(cell, plan.loop_size, rule)
                for mode, cell in self.devices.items()
                if cell.sizes
            },
            "left_out": self.left_out,
        }


def one_round(desk: Desk, subjects: list[Subject], plan: Plan, turn: int) -> None:
    """Measure each class once; who is first changes, so that a drift of the host favours nobody."""
    at = turn % len(subjects)
    for subject in subjects[at:] + subjects[:at]:
        note(f"  {subject.cls.key}")
        # A board started anew each time: its first exchange is a first one, and no other board runs beside.
        with measured(subject, "echo"), started(subject.cls, desk.wiregauge, echo=True) as board:
            for mode, cell in subject.cells.items():
                with measured(subject, mode):
                    address = board.of(mode)
                    if address is None:
                        raise Trouble(f"it has no address for {MODES[mode]}")
                    name = f"{subject.cls.key}-{mode}"
                    measure.sweep(desk, cell, f"{name}-sizes-{turn}", mode, address, plan, turn)
                    measure.loop(desk, cell, f"{name}-loop-{turn}", mode, address, plan)
        if not subject.devices:
            continue
        with (
            measured(subject, "device"),
            started(subject.cls, desk.wiregauge, echo=False, virtual=True) as board,
        ):
            for mode, own in subject.devices.items():
                with measured(subject, f"device, {mode}"):
                    address = board.of(mode)
                    if address is None:
                        raise Trouble(f"it has no address for {MODES[mode]}")
                    measure.device(desk, own, f"{subject.cls.key}-{mode}-device-{turn}", address, plan)


@contextlib.contextmanager
def measured(subject: Subject, what: str) -> Iterator[None]:
    """Whatever fails is reported, and the rest goes on."""
    try:
        yield
    except (Trouble, Failed, OSError, ValueError, KeyError, IndexError) as error:
        why = " ".join(str(error).split()).replace(str(ROOT), ".")[-400:] or type(error).__name__
        note(f"    {subject.cls.key}, {what}: {why}")
        subject.left_out.setdefault(what, why)


def disorder(subjects: list[Subject], rounds: int) -> list[str]:
    """Tell what no load of the host explains: a mode that is missing, an answer that was not right."""
    found = [
        f"{subject.cls.key}, {what}: {why}" for subject in subjects for what, why in subject.left_out.items()
    ]
    for subject in subjects:
        for mode, cell in subject.cells.items():
            where = f"{subject.cls.key}, {mode}"
            if len(cell.firsts) != rounds or len(cell.loop) != rounds:
                found.append(
                    f"{where}: {len(cell.firsts)} sweeps and {len(cell.loop)} loops in {rounds} rounds"
                )
            for what in ("corrupted", "duplicated", "stray_bytes"):
                if cell.wrong.get(what):
                    found.append(f"{where}: {cell.wrong[what]} {what.replace('_', ' ')}")
            # UDP may lose; nothing else may.
            if mode != "udp" and cell.wrong.get("answered") != cell.wrong.get("exchanges"):
                found.append(
                    f"{where}: {cell.wrong.get('answered')} of {cell.wrong.get('exchanges')} answered"
                )
            elif not cell.wrong.get("answered"):
                found.append(f"{where}: nothing was answered")
        for mode, own in subject.devices.items():
            if not own.sizes:
                found.append(f"{subject.cls.key}, device, {mode}: no time of its own")
    return found


# ---- what it ran on --------------------------------------------------------------------------


def first_line(*command: str) -> str:
    """Return the first line that a program says of itself."""
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "not installed"
    text = (said.stdout or said.stderr).strip()
    return text.splitlines()[0] if text else "-"


def about(wiregauge: str, rounds: int, remark: str) -> dict[str, str]:
    """Return what is printed above the figures."""
    cpu = platform.machine()
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    # Without the folder, which says nothing to anyone else, and the remark, which is printed by itself.
    words = [
        word for at, word in enumerate(sys.argv) if {word, sys.argv[at - 1]}.isdisjoint({"--out", "--remark"})
    ]
    found = {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "host": platform.node(),
        "kernel": f"{platform.system()} {platform.release()}",
        "CPU": f"{cpu}, {len(os.sched_getaffinity(0))} processors",
        "load when it began": load(),
        "wiregauge": first_line(wiregauge, "--version"),
        "simulators": "; ".join(
            (
                first_line("qemu-system-arm", "--version"),
                first_line("qemu-arm", "--version"),
                f"node {first_line('node', '--version')}",
            )
        ),
        "rounds": str(rounds),
        "command": shlex.join(["bench/targets/run.py", *words[1:]]),
    }
    return {**found, "remark": remark} if remark else found


def load() -> str:
    """Return the mean number of programs that wanted a processor: over 1, 5 and 15 minutes."""
    return " ".join(f"{mean:.2f}" for mean in os.getloadavg())


def note(text: str) -> None:
    """Tell the user, beside the results."""
    print(text, file=sys.stderr, flush=True)


# ---- the command -----------------------------------------------------------------------------


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one short round; exit code 1 unless every class gave every mode, every byte right",
    )
    parser.add_argument("--rounds", type=int, metavar="N", help=f"rounds (default {ROUNDS})")
    parser.add_argument("--only", default="", metavar="LIST", help="only these classes, such as native,uno")
    parser.add_argument("--without", default="", metavar="LIST", help="not these classes")
    parser.add_argument(
        "--deadline",
        type=float,
        default=10,
        metavar="MS",
        help="what an exchange must be over by; also the period of the loop (default 10)",
    )
    parser.add_argument("--loop", type=int, metavar="N", help="exchanges of the loop, a round (default 1000)")
    parser.add_argument("--remark", default="", help="of the build or the host, for the page")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="where to (default bench/runs/DATE-targets; none with --quick)",
    )
    parser.add_argument("--keep-runs", action="store_true", help="keep every run directory, under DIR/runs")
    parser.add_argument(
        "--page",
        type=Path,
        metavar="DIR",
        help="measure nothing: write docs/targets.md and its figures from a stored run",
    )
    return parser.parse_args()


def chosen(args: argparse.Namespace) -> list[Subject]:
    """Return what is to be measured."""
    keys = [cls.key for cls in CLASSES]
    only, without = (list(filter(None, text.split(","))) for text in (args.only, args.without))
    for key in [*only, *without]:
        if key not in keys:
            sys.exit(f"bench/targets/run.py: there is no class {key}; there are {', '.join(keys)}")
    return [Subject(cls) for cls in CLASSES if (not only or cls.key in only) and cls.key not in without]


def find_wiregauge() -> str:
    """Return the program: the one that $WIREGAUGE names, else the release build."""
    given = os.environ.get("WIREGAUGE")
    place = (
        Path(given)
        if given
        else Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "wiregauge"
    )
    if not place.exists():
        sys.exit(f"bench/targets/run.py: there is no {place}: make build, or name one by WIREGAUGE")
    return str(place.resolve())


def write(folder: Path, results: dict[str, Any]) -> None:
    """Store what was found until now: an interrupted run keeps what it measured."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / "results.json.new"
    whole.write_text(json.dumps(results, indent=1) + "\n")
    whole.replace(folder / "results.json")
    (folder / "README.md").write_text(tables.page_of_run(results))


def write_page(folder: Path) -> None:
    """Write the tables and figures of docs/targets.md."""
    import figures  # Needs matplotlib, which measuring does not.

    results = json.loads((folder / "results.json").read_text())
    judge_all(results)
    figures.draw(results, FIGURES)
    # Only what is in the repository can be named in its pages.
    where = folder.resolve().relative_to(ROOT)
    PAGE.write_text(tables.filled(PAGE.read_text(), results, str(where)))


def main() -> int:
    """Measure, store, tell."""
    args = arguments()
    if args.page:
        write_page(args.page)
        return 0
    wiregauge = find_wiregauge()
    subjects = chosen(args)
    rounds = args.rounds or (1 if args.quick else ROUNDS)
    rule = Rule(deadline_ns=args.deadline * 1e6)
    plan = Plan(
        sizes=(1, 100, 500) if args.quick else KAKANAKOV,
        count=20 if args.quick else 50,
        interval_ms=2,
        loop_size=100,
        loop_count=args.loop or (50 if args.quick else 1000),
        period_ms=args.deadline,
        device_sizes=(100,) if args.quick else DEVICE_SIZES,
        device_count=20 if args.quick else 100,
        device_count_judged=50 if args.quick else 4000,
    )
    out = args.out
    if out is None and not args.quick:
        out = HERE.parent / "runs" / f"{datetime.date.today().isoformat()}-targets"
    described = about(wiregauge, rounds, args.remark)
    began, done = time.monotonic(), 0

    def results() -> dict[str, Any]:
        described["rounds"] = f"{done} of {rounds}" if done < rounds else str(rounds)
        described["load at the end"] = load()
        described["took"] = f"{time.monotonic() - began:.0f} s"
        # As it will be read back: keys are words.
        found = {
            "about": described,
            "rule": asdict(rule),
            "plan": asdict(plan),
            "modes": MODES,
            "classes": [subject.results(plan, rule) for subject in subjects],
        }
        stored: dict[str, Any] = json.loads(json.dumps(found))
        judge_all(stored)
        return stored

    with tempfile.TemporaryDirectory(prefix="targets-") as folder:
        desk = Desk(wiregauge, out if out and args.keep_runs else Path(folder), keep=args.keep_runs)
        desk.folder.mkdir(parents=True, exist_ok=True)
        try:
            for turn in range(rounds):
                note(f"round {turn + 1} of {rounds}")
                one_round(desk, subjects, plan, turn)
                done += 1
                if out:
                    write(out, results())
        except KeyboardInterrupt:
            note("interrupted: what was measured is reported")
            rounds = done
    found = results()
    if out:
        write(out, found)
        note(f"stored in {out}")
    print(tables.page_of_run(found))
    wrong = disorder(subjects, rounds)
    for what in wrong:
        note(f"bench/targets/run.py: {what}")
    return 1 if args.quick and wrong else 0


def interrupted(*_: object) -> NoReturn:
    """End as Ctrl-C does, so that the boards are ended too."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGINT, interrupted)
    sys.exit(main())
