"""A plan: a shell script for the guest, whose head says which machine it needs.

Lines `#: KEY VALUES` are read here, the rest in the guest:

    #: modules dummy_hcd cdc_acm     kernel modules, loaded in the order of their dependencies
    #: parameters dummy_hcd.num=2    parameters of modules
    #: controllers uhci ehci         what --controller may choose; the first is the default
    #: clock real                    real time, because sockets of the host take part [virtual]
    #: device usbredir.py cdc        a program of lab/devices, run on the host beside the guest, and its function
    #: peer bench/usb/x.c            a C program that is compiled and put into the guest as `x`
    #: example batch                an example of crates/device, put into the guest as `batch`
    #: host-root                     the host's file system, read-only, at /host: Debian's programs, and Python's packages
    #: can                           a CAN bus with two of QEMU's controllers (kvaser_pci): can0 and can1
    #: sound                         QEMU's USB sound card (usb-audio) on the plan's controller
    #: kernel rt                     the kernel unless --kernel says otherwise [std]
    #: timeout 120                   seconds of real time [600]
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from vm.trouble import Trouble

KEYS = ("modules", "parameters", "controllers", "clock", "device", "peer", "example", "host-root", "can", "sound", "kernel", "timeout")


@dataclass(frozen=True)
class Plan:
    """What the head of a plan says."""

    path: Path
    title: str
    modules: list[str]
    parameters: list[str]
    controllers: list[str]
    device: list[str]
    peers: list[str]
    examples: list[str]
    host_root: bool
    can: bool
    sound: bool
    real_time: bool
    kernel: str
    timeout: float

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.path.stem

    def controller(self, asked: str | None) -> str | None:
        """The controller asked for, else the plan's first."""
        if asked and asked not in self.controllers:
            raise Trouble(f"plan {self.name} runs on {', '.join(self.controllers) or 'one controller only'}, not on {asked}")
        return asked or (self.controllers[0] if self.controllers else None)


def read(folder: Path, name: str) -> Plan:
    """The plan of this name in `folder`, or the plan in this file."""
    path = Path(name) if "/" in name else folder / f"{name}.sh"
    try:
        text = path.read_text()
    except OSError as error:
        raise Trouble(f"no plan {name}: {error.strerror}; lab/run --list names them") from error
    head: dict[str, list[str]] = {}
    for key, values in re.findall(r"^#: (\S+) *(.*)$", text, re.M):
        if key not in KEYS:
            raise Trouble(f"{path}: there is no `#: {key}`")
        head.setdefault(key, []).extend(values.split())
    title = re.search(r"^# (.+)$", text, re.M)
    return Plan(
        path=path,
        title=title[1] if title else "",
        modules=head.get("modules", []),
        parameters=head.get("parameters", []),
        controllers=head.get("controllers", []),
        device=head.get("device", []),
        peers=head.get("peer", []),
        examples=head.get("example", []),
        host_root="host-root" in head,
        can="can" in head,
        sound="sound" in head,
        real_time=head.get("clock", ["virtual"]) == ["real"],
        kernel=head.get("kernel", ["std"])[0],
        timeout=float(head.get("timeout", ["600"])[0]),
    )


def all_of(folder: Path) -> list[Plan]:
    """All plans, by name."""
    return [read(folder, path.stem) for path in sorted(folder.glob("*.sh"))]


def variables(settings: list[str]) -> dict[str, str]:
    """`NAME=VALUE` words as a table."""
    for word in settings:
        if not re.fullmatch(r"[A-Z_]+=[^']*", word):
            raise Trouble(f"--set {word}: NAME=VALUE with a name in capitals is needed")
    return dict(word.split("=", 1) for word in settings)
