"""Boots the guest with one plan, watches its console, and unpacks what it hands out."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vm import initramfs, libraries, peer
from vm.kernel import Kernel
from vm.places import ROOT, RUNS
from vm.plan import Plan
from vm.trouble import Trouble

# The disk for the results. It is sparse: only what is written takes room.
DISK_BYTES = 256 << 20
DISK_MODULES = ["virtio_pci", "virtio_blk"]
# The host's file system for plans with `#: host-root`.
HOST_MODULES = ["9p", "9pnet_virtio", "virtio_pci"]
CAN_MODULES = ["can_raw", "can_isotp", "kvaser_pci"]
# How many lines of the console are shown when the guest fails.
TAIL = 40
turns = itertools.count()
turn_lock = threading.Lock()


@dataclass(frozen=True)
class Controller:
    """A USB host controller of QEMU on the PCI bus."""

    device: str
    module: str
    # The fastest that it can do up to USB 2.0.
    speed: str


CONTROLLERS = {
    "uhci": Controller("piix3-usb-uhci", "uhci_hcd", "full"),
    "ehci": Controller("usb-ehci", "ehci_pci", "high"),
    "xhci": Controller("qemu-xhci", "xhci_pci", "high"),
}


def command_line(plan: Plan, kernel: Kernel, archive: Path, disk: Path, seed: int) -> list[str]:
    """QEMU with software emulation; in virtual time, nothing of the host may be seen in the guest."""
    words = ["console=ttyS0", "quiet", "mitigations=off", "panic=-1", "oops=panic", "nokaslr", "norandmaps"]
    # The kernel's tests of its own cryptography are two fifths of its start.
    words.append("cryptomgr.notests=1")
    command = [
        "qemu-system-x86_64", "-machine", "q35", "-accel", "tcg", "-cpu", "max", "-m", "512", "-smp", "1",
        "-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio",
        "-kernel", str(kernel.image), "-initrd", str(archive), "-append", " ".join(words),
        "-drive", f"if=none,id=out,file={disk},format=raw,cache=unsafe", "-device", "virtio-blk-pci,drive=out",
        "-seed", str(seed),
    ]  # fmt: skip
    if not plan.real_time:
        # One instruction is 1 ns; while the guest sleeps, its clock jumps to the next event.
        command += ["-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01T00:00:00,clock=vm"]
        # On one processor, for that jump is made by QEMU's main thread when it finds the guest asleep, and if it runs
        # beside the guest's thread it may do so before the guest's last instructions are counted. On one processor the
        # main thread mostly preempts the guest's as soon as it is woken, so that the order is always the same: of 12
        # boots of the plan `virtual` on a busy machine none differed. Not always: with both threads in SCHED_BATCH,
        # where neither preempts the other, 6 of 12 differed from some jump on, by at most 45 us. Such a shift can put an exchange
        # into the next frame: beside builds that took all processors, times of the plan `acm` differed by up to 550 us.
        command = ["taskset", "--cpu-list", str(own_processor()), *command]
    return command


def own_processor() -> int:
    """A processor for this guest: each in turn, so that guests side by side do not share one."""
    usable = sorted(os.sched_getaffinity(0))
    with turn_lock:
        return usable[(os.getpid() + next(turns)) % len(usable)]


def run(
    plan: Plan,
    *,
    name: str,
    kernel: Kernel,
    program: Path,
    seed: int,
    controller: str | None,
    variables: dict[str, str],
    timeout: float,
    show: bool,
) -> Path:
    """Runs the plan; returns the folder of its run directories. `console.txt` stands beside them."""
    results = RUNS / name
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    settings = {"CONTROLLER": controller or "", "SEED": str(seed), "LAB_ROOT": str(ROOT), "LAB_PYTHON": host_python(), **variables}
    head = "".join(f"{key}='{value}'\n" for key, value in settings.items())
    files = {
        "init": (ROOT / "lab/guest/init").read_bytes(),
        "lib.sh": (ROOT / "lab/guest/lib.sh").read_bytes(),
        "plan.sh": head.encode() + plan.path.read_bytes(),
        "bin/wiregauge": program.read_bytes(),
        **libraries.of(program),
    }
    for source in plan.peers:
        files.update(peer.files(source))
    for example in plan.examples:
        files[f"bin/{example}"] = (program.parent / "examples" / example).read_bytes()
    modules = list(plan.modules)
    modules += (HOST_MODULES if plan.host_root else []) + (CAN_MODULES if plan.can else [])
    chosen = CONTROLLERS.get(controller or "")
    if chosen:
        modules.append(chosen.module)
    with tempfile.TemporaryDirectory(prefix="wiregauge-lab-") as temporary:
        place = Path(temporary)
        archive, disk = place / "initramfs", place / "disk"
        archive.write_bytes(initramfs.make(kernel, modules, DISK_MODULES, plan.parameters, files))
        with disk.open("wb") as file:
            file.truncate(DISK_BYTES)
        command = command_line(plan, kernel, archive, disk, seed)
        if chosen:
            command += ["-device", f"{chosen.device},id=usb"]
        if plan.host_root:
            # Read-only: whatever runs in the guest cannot change the host.
            command += ["-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"]
        if plan.can:
            command += ["-object", "can-bus,id=bus0"]
            command += ["-device", "kvaser_pci,canbus=bus0", "-device", "kvaser_pci,canbus=bus0"]
        if plan.sound:
            command += ["-audiodev", "none,id=sound", "-device", "usb-audio,bus=usb.0,audiodev=sound"]
        with device_beside(plan, chosen, place / "usb", program) as words:
            boot(command + words, plan.name, results / "console.txt", timeout, show)
        with tarfile.open(disk) as out:
            out.extractall(results, filter="data") if hasattr(tarfile, "data_filter") else out.extractall(results)
    return results


def host_python() -> str:
    """The Python of `.venv`, with the packages of scripts/setup; else the one that runs this."""
    own = ROOT / ".venv/bin/python"
    return str(own if own.exists() else sys.executable)


@contextmanager
def device_beside(plan: Plan, controller: Controller | None, place: Path, program: Path) -> Iterator[list[str]]:
    """Runs the plan's device on the host, if it has one; gives QEMU's words for it."""
    if not plan.device:
        yield []
        return
    if not controller:
        raise Trouble(f"plan {plan.name}: a device needs one of the controllers {', '.join(CONTROLLERS)}")
    script, function = plan.device
    command = [sys.executable, ROOT / "lab/devices" / script, "--speed", controller.speed, "--function", function, place, program]
    device = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        for _ in range(250):
            if place.exists():
                break
            time.sleep(0.02)
        else:
            raise Trouble(f"plan {plan.name}: {script} did not start")
        yield ["-chardev", f"socket,id=device,path={place}", "-device", "usb-redir,bus=usb.0,chardev=device"]
    finally:
        device.terminate()
        try:
            device.wait(5)
        except subprocess.TimeoutExpired:
            device.kill()
            device.wait()


def boot(command: list[str], name: str, console: Path, timeout: float, show: bool) -> None:
    """Runs QEMU until it ends by itself; anything but a plan that went well is a failure."""
    begun = time.monotonic()
    try:
        machine = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
    except FileNotFoundError as error:
        raise Trouble("qemu-system-x86_64 is not installed (scripts/setup lab brings it)") from error
    timed_out = threading.Event()

    def end() -> None:
        timed_out.set()
        machine.kill()

    timer = threading.Timer(timeout, end)
    timer.start()
    tail: deque[str] = deque(maxlen=TAIL)
    verdict = None
    try:
        with console.open("w") as log:
            for line in machine.stdout:
                line = line.rstrip("\r\n")
                if line.startswith("lab: plan ended with "):
                    verdict = int(line.rpartition(" ")[2])
                if verdict == 0:
                    continue
                log.write(line + "\n")
                tail.append(line)
                if show:
                    print(line, flush=True)
        machine.wait()
    finally:
        timer.cancel()
        machine.kill()
        machine.wait()
    if verdict == 0:
        if show:
            print(f"lab: {name} took {time.monotonic() - begun:.1f} s", file=sys.stderr)
        return
    if timed_out.is_set():
        how = f"the guest did not end within {timeout:g} s and was stopped"
    elif verdict is None:
        how = f"the guest ended before its plan did (QEMU's exit status is {machine.returncode})"
    else:
        how = f"the plan failed with status {verdict}"
    raise Trouble(f"plan {name}: {how}; the end of its console ({console}):\n    " + "\n    ".join(tail))
