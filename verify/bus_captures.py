"""Captures of modelled USB buses, dissected by tshark: no packet is malformed, and its counts are ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from common import ROOT, Checks, scratch, wiregauge

#: PIDs on the wire (USB 2.0, table 8-1, with the complement).
IN, OUT, SOF, NAK, DATA0, DATA1 = 0x69, 0xE1, 0xA5, 0x5A, 0xC3, 0x4B
#: What tshark marks of a packet that is wrong.
WRONG = (
    "_ws.malformed || usbll.invalid_pid || usbll.crc5.wrong || usbll.crc16.wrong || usbll.undecoded"
    " || usbll.split_crc5.wrong"
)


def example() -> Path:
    """The program that writes captures: `crates/capture/examples/bus.rs`."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    command = ["cargo", "build", "--release", "--locked", "--quiet"]
    command += ["-p", "wiregauge-capture", "--example", "bus"]
    subprocess.run(command, check=True, cwd=ROOT)
    return target / "release" / "examples" / "bus"


def tshark(*args: str) -> list[str]:
    """The lines that tshark prints."""
    done = subprocess.run(["tshark", *args], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def dissected(file: Path) -> tuple[Counter, int]:
    """How often tshark sees each PID, and the bytes of all payloads."""
    fields = ["-e", "usbll.pid", "-e", "usbll.data", "-e", "usbll.crc16.status"]
    pids: Counter = Counter()
    total = 0
    for line in tshark("-r", str(file), "-T", "fields", *fields):
        pid, data, _ = line.split("\t")
        pids[int(pid, 0)] += 1
        total += len(data.replace(":", "")) // 2
    return pids, total


def check(checks: Checks, made: Path, kind: str, seed: int, home: Path) -> None:
    """One bus: what its maker counted, what tshark counts, what `explain` counts."""
    file = home / f"{kind}-{seed}.pcapng"
    with file.open("wb") as out:
        done = subprocess.run(
            [made, kind, str(seed)], stdout=out, stderr=subprocess.PIPE, text=True, check=True
        )
    truth = json.loads(done.stderr)
    where = f"{kind}, seed {seed}"
    wrong = tshark("-r", str(file), "-Y", WRONG)
    checks.that(not wrong, "no packet is wrong for tshark", f"{where}: {wrong[:2]}")
    pids, total = dissected(file)
    ours = wiregauge("explain", file, json=True)
    ends = [one["counts"] for one in ours["endpoints"]]
    made_for = (one for one in ours["endpoints"] if one["endpoint"] == truth["endpoint"])
    counts = next(made_for)["counts"]

    def same(name: str, theirs, mine) -> None:
        checks.that(theirs == mine, name, f"{where}: {theirs} and {mine}")

    same("packets are as many as tshark's", pids.total(), ours["packets"])
    same("starts of frame are as many as tshark's", pids[SOF], ours["starts_of_frame"])
    same("NAKs are as many as tshark's", pids[NAK], sum(end["naks"] for end in ends))
    same("tokens are as many as tshark's", pids[IN] + pids[OUT], sum(end["tokens"] for end in ends))
    # Data that was answered NAK, or lost, passed more than once.
    data = pids[DATA0] + pids[DATA1]
    again = sum(one["counts"]["naks"] for one in ours["endpoints"] if one["endpoint"] < 0x80)
    again += sum(end["unanswered"] for end in ends)
    same("data packets are as many as tshark's", data, again + sum(end["packets"] for end in ends))
    same("NAKs are those that were made", truth["naks"], counts["naks"])
    same("bytes are those that were made", truth["bytes"], counts["bytes"])
    checks.that(total >= truth["bytes"], "tshark has all bytes", f"{where}: {total}")


def run(quick: bool, keep: str | None = None) -> bool:
    """Compare; True if all agrees, or if tshark is not installed."""
    if not shutil.which("tshark"):
        print("Captures of USB buses beside tshark: not run (tshark is not installed; Debian: tshark)")
        return True
    checks = Checks()
    made = example()
    with scratch(keep) as home:
        for kind in ("host", "device", "bus"):
            for seed in range(4 if quick else 40):
                check(checks, made, kind, seed, home)
    print(f"Captures of USB buses beside tshark, {sum(checks.counts.values()):,} checks")
    return checks.report()


if __name__ == "__main__":
    sys.exit(0 if run("--quick" in sys.argv) else 1)
