#!/usr/bin/env python3
"""Makes the table of bench/usb from the results of the plan `bench`.

    bench/usb/table.py target/lab/runs/bench
    bench/usb/table.py target/lab/runs/bench bench/runs/DATE-lab    # stores table.md and results.json
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections import defaultdict
from pathlib import Path

Cell = tuple[str, int, int]


def rates(folder: Path) -> dict[Cell, dict[str, list[float]]]:
    """Bytes a second of each tool, by direction, transfer size and queue."""
    found: dict[Cell, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in (folder / "libusb.jsonl").read_text().splitlines():
        row = json.loads(line)
        tool = "libusb" + ("-check" if row["check"] else "") + ("-devmem" if row["devmem"] else "")
        if row["wrong_bytes"]:
            raise SystemExit(f"{tool} received {row['wrong_bytes']} wrong bytes")
        found[row["direction"], row["transfer_bytes"], max(1, row["queue"])][tool].append(row["bytes_s"])
    for path in sorted(folder.glob("wiregauge*/run.json")):
        tool = re.match(r"wiregauge(-check)?", path.parent.name)[0]
        point = json.loads(path.read_text())["points"][0]
        cell = (point["point"]["direction"], point["point"]["transfer_bytes"], point["point"]["queue"])
        found[cell][tool].append(point["flows"][0]["rate"]["value"])
    return found


def conditions(folder: Path) -> list[str]:
    """What it ran on."""
    run = json.loads(next(folder.glob("wiregauge*/run.json")).read_text())
    host = run["conditions"]["host"]
    return [
        f"- guest: {host['kernel']}, {host['processors']} processor, virtual time (QEMU icount), dummy_hcd at high speed",
        f"- wiregauge: {run['conditions']['version']}, profile `release`; libusb_stream: libusb 1.0 of Debian, -O3",
        f"- each cell: {run['plan']['duration_ns'] // 1_000_000} ms after {run['plan']['settle_ns'] // 1_000_000} ms, tools in turns",
        "- command: `lab/run bench && bench/usb/table.py target/lab/runs/bench bench/runs/DATE-lab`",
    ]


def table(found: dict[Cell, dict[str, list[float]]]) -> list[str]:
    """The table's lines; medians over the rounds."""
    lines = [
        "| way | transfer B | queue | libusb MB/s | wiregauge MB/s | ratio | libusb, checked | wiregauge, checked | ratio "
        "| libusb, usbfs memory | ratio |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    slower = []
    for (way, size, queue), tools in sorted(found.items()):
        middle = {tool: statistics.median(values) * 1e-6 for tool, values in tools.items()}

        def pair(peer: str, own: str, middle: dict[str, float] = middle) -> list[str]:
            if peer not in middle or own not in middle:
                return ["-", "-", "-"]
            return [f"{middle[peer]:.3f}", f"{middle[own]:.3f}", f"{middle[own] / middle[peer]:.3f}"]

        plain = pair("libusb", "wiregauge")
        memory = pair("libusb-devmem", "wiregauge")
        if float(plain[2]) < 1:
            slower.append(f"{way} {size} B, queue {queue}")
        cells = [way, str(size), str(queue), *plain, *pair("libusb-check", "wiregauge-check"), memory[0], memory[2]]
        lines.append("| " + " | ".join(cells) + " |")
    words = f"{len(slower)} of {len(found)}" + (f" ({'; '.join(slower)})" if slower else "")
    return [*lines, "", f"Slower than the plain libusb program: {words}."]


def main() -> int:
    folder = Path(sys.argv[1])
    found = rates(folder)
    lines = table(found)
    print("\n".join(lines))
    if len(sys.argv) > 2:
        store = Path(sys.argv[2])
        store.mkdir(parents=True, exist_ok=True)
        head = ["# wiregauge stream beside a minimal libusb program", "", *conditions(folder), ""]
        (store / "table.md").write_text("\n".join([*head, *lines]) + "\n")
        rows = [
            {"way": way, "transfer_bytes": size, "queue": queue, "bytes_s": tools}
            for (way, size, queue), tools in sorted(found.items())
        ]
        (store / "results.json").write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
