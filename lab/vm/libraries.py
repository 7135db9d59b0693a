"""The shared libraries that a program of the host needs in the guest."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from vm.trouble import Trouble


def of(program: Path) -> dict[str, bytes]:
    """Places and contents, the loader among them; none for a static program."""
    try:
        done = subprocess.run(["ldd", str(program)], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    except FileNotFoundError as error:
        raise Trouble(f"looking for the libraries of {program}: ldd is not there (Debian: libc-bin)") from error
    if done.returncode != 0 and "not a dynamic executable" in done.stderr + done.stdout:
        return {}
    absent = re.findall(r"(\S+) => not found", done.stdout)
    if done.returncode != 0 or absent:
        said = ", ".join(absent) or done.stderr.strip()
        raise Trouble(f"looking for the libraries of {program}: not found: {said}")
    return {place.lstrip("/"): Path(place).read_bytes() for place in re.findall(r"(/\S+) \(0x", done.stdout)}
