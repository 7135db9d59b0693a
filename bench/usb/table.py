#!/usr/bin/env python3
"""Makes the table of bench/usb from the results of the plan `bench`.

    bench/usb/table.py target/lab/runs/bench > table.md
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


def main() -> int:
    found = rates(Path(sys.argv[1]))
    print("| way | transfer B | queue | libusb MB/s | wiregauge MB/s | ratio | libusb, checked | wiregauge, checked | ratio | libusb, usbfs memory | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    slower = 0
    for (way, size, queue), tools in sorted(found.items()):
        middle = {tool: statistics.median(values) * 1e-6 for tool, values in tools.items()}

        def pair(peer: str, own: str) -> list[str]:
            if peer not in middle or own not in middle:
                return ["-", "-", "-"]
            return [f"{middle[peer]:.3f}", f"{middle[own]:.3f}", f"{middle[own] / middle[peer]:.3f}"]

        plain = pair("libusb", "wiregauge")
        slower += float(plain[2]) < 1
        memory = pair("libusb-devmem", "wiregauge")
        cells = [way, str(size), str(queue), *plain, *pair("libusb-check", "wiregauge-check"), memory[0], memory[2]]
        print("| " + " | ".join(cells) + " |")
    print(f"\nCells in which wiregauge is slower than the plain libusb program: {slower} of {len(found)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
