"""The packets of a captured USB bus that carried data, by tshark."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OUT, IN, SETUP, PING = 0xE1, 0x69, 0x2D, 0xB4
DATA = (0xC3, 0x4B)
ACK, NYET = 0xD2, 0x96
#: PID and CRC of a data packet.
AROUND_DATA = 3


@dataclass
class Carried:
    """A data packet that was acknowledged; times in nanoseconds since 1970."""

    out: bool
    begin_ns: int
    end_ns: int
    bytes: int


def carried(capture: Path) -> Iterator[Carried]:
    """The data packets of all endpoints but 0, without those of zero length."""
    pids = " || ".join(f"usbll.pid == {pid:#x}" for pid in (OUT, IN, SETUP, PING, *DATA, ACK, NYET))
    fields = [part for name in ("frame.time_epoch", "usbll.pid", "usbll.endp", "frame.len") for part in ("-e", name)]
    command = ["tshark", "-r", str(capture), "-Y", pids, "-T", "fields", *fields]
    token, bytes_ = None, 0
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        time, pid_text, endpoint, length = line.split("\t")
        seconds, _, fraction = time.partition(".")
        ns, pid = int(seconds) * 1_000_000_000 + int(fraction), int(pid_text, 16)
        if pid in (OUT, IN, SETUP, PING):
            token, bytes_ = (pid, int(endpoint), ns), 0
        elif pid in DATA:
            bytes_ = int(length) - AROUND_DATA
        elif token and bytes_ > 0 and token[0] in (OUT, IN) and token[1] > 0:
            yield Carried(token[0] == OUT, token[2], ns, bytes_)
            bytes_ = 0
