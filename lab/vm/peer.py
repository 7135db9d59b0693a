"""A C program to compare with, compiled for the guest together with the shared libraries it needs."""

from __future__ import annotations

from vm import libraries
from vm.places import ROOT, TARGET
from vm.trouble import run

# As wiregauge is optimised. Bound at the start, so that no call pays for it later.
FLAGS = ["-std=c99", "-O3", "-Wall", "-Wextra", "-Werror", "-Wl,-z,now"]


def files(source: str) -> dict[str, bytes]:
    """What the guest needs to run `source` as a command of its name: places and contents."""
    path = ROOT / source
    program = TARGET / "lab" / path.stem
    program.parent.mkdir(parents=True, exist_ok=True)
    doing = f"compiling {source}"
    run(["cc", *FLAGS, "-I/usr/include/libusb-1.0", path, "-o", program, "-lusb-1.0"], doing)
    return {f"bin/{path.stem}": program.read_bytes(), **libraries.of(program)}
