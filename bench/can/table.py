#!/usr/bin/env python3
"""Makes the table of bench/can from the results of the plan `bench-can`.

    bench/can/table.py target/lab/runs/bench-can
    bench/can/table.py target/lab/runs/bench-can bench/runs/DATE-can    # stores table.md and results.json
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

# Frames or messages, their bytes, and whether the kernel's time of receipt is taken.
Cell = tuple[str, int, bool]
GOAL = 1.02


def medians(folder: Path) -> dict[Cell, dict[str, list[float]]]:
    """The p50 of each round in ns, by tool."""
    found: dict[Cell, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in (folder / "floor.jsonl").read_text().splitlines():
        row = json.loads(line)
        found[row["kind"], row["bytes"], bool(row["times"])]["floor"].append(row["p50"])
    for path in sorted(folder.glob("wiregauge*/run.json")):
        *tool, kind, size, _round = path.parent.name.split("-")
        (point,) = json.loads(path.read_text())["points"]
        counts = point["counts"]
        if counts["answered"] != counts["exchanges"]:
            raise SystemExit(f"{path}: {counts}")
        found[kind, int(size), tool[1:] == ["times"]]["wiregauge"].append(point["rtt"]["p50"]["value"])
    return found


def conditions(folder: Path) -> list[str]:
    """What it ran on."""
    run = json.loads(next(folder.glob("wiregauge*/run.json")).read_text())
    host = run["conditions"]["host"]
    return [
        f"- guest: {host['kernel']}, {host['processors']} processor, virtual time (QEMU icount), vcan",
        f"- wiregauge: {run['conditions']['version']}; can_floor.c: -O3",
        f"- each cell: {run['points'][0]['counts']['exchanges']:,} exchanges a round, blocking, tools in turns; medians of the rounds",
        "- command: `lab/run bench-can && bench/can/table.py target/lab/runs/bench-can bench/runs/DATE-can`",
    ]


def table(found: dict[Cell, dict[str, list[float]]]) -> list[str]:
    """The table's lines."""
    lines = [
        "| what | B | kernel's time of receipt | floor p50 us | wiregauge p50 us | ratio | smallest .. largest | rounds |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    missed = []
    for (kind, size, times), tools in sorted(found.items(), key=lambda item: (item[0][2], item[0])):
        floor, own = (statistics.median(tools[tool]) * 1e-3 for tool in ("floor", "wiregauge"))
        ratios = [own / floor for own, floor in zip(tools["wiregauge"], tools["floor"], strict=True)]
        ratio = statistics.median(ratios)
        if ratio > GOAL:
            missed.append(f"{kind} {size} B{', with times' if times else ''}")
        cells = [kind, str(size), "yes" if times else "no", f"{floor:.2f}", f"{own:.2f}", f"{ratio:.3f}"]
        cells += [f"{min(ratios):.3f} .. {max(ratios):.3f}", str(len(ratios))]
        lines.append("| " + " | ".join(cells) + " |")
    words = f"{len(missed)} of {len(found)}" + (f" ({'; '.join(missed)})" if missed else "")
    return [*lines, "", f"Above {GOAL} of the floor: {words}."]


def main() -> int:
    folder = Path(sys.argv[1])
    found = medians(folder)
    lines = table(found)
    print("\n".join(lines))
    if len(sys.argv) > 2:
        store = Path(sys.argv[2])
        store.mkdir(parents=True, exist_ok=True)
        head = ["# wiregauge exchange on CAN beside a minimal C program", "", *conditions(folder), ""]
        (store / "table.md").write_text("\n".join([*head, *lines]) + "\n")
        rows = [
            {"what": kind, "bytes": size, "times": times, "p50_ns": tools}
            for (kind, size, times), tools in sorted(found.items())
        ]
        (store / "results.json").write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
