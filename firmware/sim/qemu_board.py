"""Runs an Ethernet board's real binary in QEMU, behind QEMU's own user-mode network on loopback.

firmware/sim/README.md says what each simulator promises. SIGUSR1 resets the board, as its button would.
"""

import argparse
import ctypes
import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

BUILD = Path(__file__).resolve().parent.parent / "build"
PROTOCOL_PORT = 7700
ECHO_PORT = 7

# Virtual time: an instruction takes 2^5 ns whatever the host does, so each processor does 31 million a
# second. That is about what a Cortex-M3 of 25 to 50 MHz does from flash. While the processor sleeps, time
# goes by as on the wall (sleep=on): if it jumped to the next timer instead, TCP's timers would run out before
# the host could answer.
VIRTUAL_TIME = ["-icount", "shift=5,sleep=on,align=off"]

# Thumb's `wfi` and `nop`.
WFI, NOP = b"\x30\xbf", b"\x00\xbf"

PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(frozen=True)
class Board:
    """What QEMU must know of a board."""

    target: str  # its folder under firmware/, for make
    binary: str  # its ELF file, relative to firmware/build
    machine: str  # QEMU's name
    nic: str  # QEMU's model of its Ethernet controller
    answers: bool  # speaks the protocol; else echoes only


class Qemu:
    """A running QEMU: its monitor on standard input and output, the board's UART on a pipe."""

    def __init__(self, board: Board, virtual: bool, awake: bool, pcap: Path | None) -> None:
        binary = BUILD / board.binary
        if awake:
            # Read once, when QEMU starts.
            self._awake = tempfile.NamedTemporaryFile(suffix=".elf")  # noqa: SIM115
            self._awake.write(without_sleep(binary))
            self._awake.flush()
            binary = Path(self._awake.name)
        ports = [ECHO_PORT] + ([PROTOCOL_PORT] if board.answers else [])
        # Host port 0: the system chooses a free one, so that nobody else can take it before QEMU does.
        forwards = "".join(
            f",hostfwd={kind}:127.0.0.1:0-:{port}" for port in ports for kind in ("tcp", "udp")
        )
        self.uart, uart_end = os.pipe()
        command = ["qemu-system-arm", "-M", board.machine, "-kernel", str(binary)]
        command += ["-nodefaults", "-display", "none", "-qmp", "stdio"]
        command += ["-chardev", f"file,id=uart,path=/dev/fd/{uart_end}", "-serial", "chardev:uart"]
        command += ["-nic", f"user,id=net,model={board.nic}{forwards}"]
        if pcap is not None:
            command += ["-object", f"filter-dump,id=dump,netdev=net,file={pcap}"]
        if virtual:
            command += VIRTUAL_TIME
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[uart_end],
            preexec_fn=_die_with_parent,
        )
        os.close(uart_end)
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self._to: IO[bytes] = self.process.stdin
        self._from: IO[bytes] = self.process.stdout
        threading.Thread(target=_pass_on, args=(self.process.stderr,), daemon=True).start()
        self._from.readline()  # its greeting
        self.ask("qmp_capabilities")

    def ask(self, command: str, **arguments: str) -> object:
        """Sends a command to the monitor (QMP) and returns what it answers."""
        message = {"execute": command, "arguments": arguments}
        self._to.write(json.dumps(message).encode() + b"\n")
        self._to.flush()
        while line := self._from.readline():
            answer = json.loads(line)
            if "error" in answer:
                raise RuntimeError(f"QEMU: {command}: {answer['error']}")
            if "return" in answer:
                return answer["return"]
        raise RuntimeError(f"QEMU ended before it answered {command}")

    def host_ports(self) -> dict[tuple[str, int], int]:
        """The host's port of each kind ("tcp", "udp") and port of the board."""
        text = str(self.ask("human-monitor-command", **{"command-line": "info usernet"}))
        found = re.findall(r"(TCP|UDP)\[HOST_FORWARD\]\s+\d+\s+\S+\s+(\d+)\s+\S+\s+(\d+)", text)
        return {(kind.lower(), int(guest)): int(host) for kind, host, guest in found}

    def end(self) -> None:
        """Ends it, by force if it must be."""
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def without_sleep(binary: Path) -> bytes:
    """Returns an ELF file with each instruction that waits for an interrupt replaced by a `nop`.

    While a processor sleeps, virtual time goes by as on the wall, and a frame wakes it when the host gets
    round to it. One that never sleeps takes for a frame what its instructions take, whatever the host does.
    """
    listing = subprocess.run(
        ["arm-none-eabi-objdump", "-d", str(binary)], capture_output=True, text=True, check=True
    ).stdout
    waits = [int(at, 16) for at in re.findall(r"^ *([0-9a-f]+):\s+bf30\s+wfi", listing, re.MULTILINE)]
    if not waits:
        raise RuntimeError(f"{binary} has no instruction that waits for an interrupt")
    image = bytearray(binary.read_bytes())
    # ELF32, little-endian: where the program headers lie; of each segment its place in file and memory.
    (headers,) = struct.unpack_from("<I", image, 28)
    size, count = struct.unpack_from("<HH", image, 42)
    segments = [struct.unpack_from("<IIIII", image, headers + k * size) for k in range(count)]
    for wait in waits:
        for _kind, offset, address, _physical, length in segments:
            at = wait - address + offset
            if address <= wait < address + length and image[at : at + 2] == WFI:
                image[at : at + 2] = NOP
                break
        else:
            raise RuntimeError(f"{binary} has no segment with address {wait:#x}")
    return bytes(image)


def _pass_on(complaints: IO[bytes]) -> None:
    """Prints what QEMU complains of, each line once: its network repeats one for each lost datagram."""
    seen = set()
    for line in complaints:
        if line not in seen and b"terminating on signal" not in line:
            seen.add(line)
            print(line.decode(errors="replace").rstrip(), file=sys.stderr, flush=True)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _fail(why: str) -> NoReturn:
    print(f"{Path(sys.argv[0]).name}: {why}", file=sys.stderr)
    sys.exit(1)


def _raise_interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _run(qemu: Qemu, board: Board, echo: bool, until_eof: bool) -> None:
    """Prints the addresses once the board says that it is ready, and goes on until something ends it."""
    deadline = time.monotonic() + 60
    announced = False
    heard = b""
    watched: list[int] = [qemu.uart] + ([sys.stdin.fileno()] if until_eof else [])
    while qemu.process.poll() is None:
        ready, _, _ = select.select(watched, [], [], 0.5)
        if not announced and time.monotonic() > deadline:
            _fail(f"the board did not say that it is ready, only {heard!r}")
        if sys.stdin.fileno() in ready and not os.read(sys.stdin.fileno(), 4096):
            return
        if qemu.uart not in ready:
            continue
        said = os.read(qemu.uart, 4096)
        sys.stderr.write(said.decode(errors="replace"))
        sys.stderr.flush()
        heard += said
        if not announced and b"ready" in heard:
            announced = True
            ports = qemu.host_ports()
            for kind in ("tcp", "udp"):
                port = ports[kind, PROTOCOL_PORT if board.answers and not echo else ECHO_PORT]
                print(f"{kind}://127.0.0.1:{port}")
            print("ready", flush=True)
    _fail(f"QEMU ended with status {qemu.process.returncode}")


def main(board: Board) -> None:
    """What firmware/sim/TARGET does: builds the binary if need be, runs it, and prints its addresses."""
    parser = argparse.ArgumentParser(description=f"Runs {board.binary} in QEMU.")
    if board.answers:
        parser.add_argument("--echo", action="store_true", help="print the addresses of plain echo")
    parser.add_argument("--virtual", action="store_true", help="the processor's time goes by instructions")
    parser.add_argument("--awake", action="store_true", help="the processor never sleeps")
    parser.add_argument("--until-eof", action="store_true", help="end when standard input does")
    parser.add_argument(
        "--pcap", type=Path, metavar="FILE", help="store the board's frames with the times of its processor"
    )
    options = parser.parse_args()

    if not (BUILD / board.binary).exists():
        firmware = Path(__file__).resolve().parent.parent
        subprocess.run(["make", "-s", "-C", str(firmware / board.target)], check=True, stdout=sys.stderr)
    signal.signal(signal.SIGTERM, _raise_interrupt)
    signal.signal(signal.SIGINT, _raise_interrupt)
    try:
        qemu = Qemu(board, options.virtual, options.awake, options.pcap)
    except (OSError, RuntimeError) as error:
        _fail(f"{error}; is qemu-system-arm installed?")
    signal.signal(signal.SIGUSR1, lambda *_: qemu.ask("system_reset"))
    try:
        _run(qemu, board, getattr(options, "echo", True), options.until_eof)
    except KeyboardInterrupt:
        pass
    finally:
        qemu.end()
