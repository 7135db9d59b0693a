"""The samples of loopback runs against a packet capture that the program knows nothing of."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from common import Checks, samples, scratch, wiregauge
from figures import serving

SO_TIMESTAMPNS = 35
SO_RCVBUFFORCE = 33
SOL_PACKET, PACKET_STATISTICS = 263, 6
OUTGOING = 4
ETH_P_IP, TCP, UDP = 0x0800, 6, 17
#: The header of a request, of a response, and the kind EXCHANGE (docs/protocol.md).
REQUEST, RESPONSE, EXCHANGE = (0xA7, 16), (0x7A, 32), 0x11
KERNEL = ("--timestamps", "kernel")


@dataclass
class Packet:
    """Payload of one packet of the run: when it passed, to which port, from which."""

    ns: int
    protocol: int
    source: int
    target: int
    number: int
    payload: bytes


def parse(ns: int, data: bytes) -> Packet | None:
    """An IPv4 packet with TCP or UDP in it."""
    if len(data) < 20 or data[0] >> 4 != 4:
        return None
    header, total = (data[0] & 15) * 4, struct.unpack_from("!H", data, 2)[0]
    protocol, data = data[9], data[header : total or None]
    if protocol == UDP and len(data) >= 8:
        source, target = struct.unpack_from("!HH", data)
        return Packet(ns, UDP, source, target, 0, bytes(data[8:]))
    if protocol == TCP and len(data) >= 20:
        source, target, number = struct.unpack_from("!HHI", data)
        return Packet(ns, TCP, source, target, number, bytes(data[(data[12] >> 4) * 4 :]))
    return None


class Raw:
    """A raw socket on the loopback interface; the kernel stamps each packet."""

    def __init__(self):
        self.name = "AF_PACKET"
        self.packets: list[Packet] = []
        self.dropped = 0
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IP))
        self._socket.bind(("lo", ETH_P_IP))
        with contextlib.suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 256 << 20)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._socket.settimeout(0.2)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self):
        while True:
            try:
                data, ancillary, _, address = self._socket.recvmsg(1 << 17, 256)
            except TimeoutError:
                if self._stop.is_set():
                    return
                continue
            # Each packet on loopback is seen twice: sent and received.
            if address[2] == OUTGOING:
                continue
            seconds, ns = struct.unpack("qq", ancillary[0][2][:16])
            packet = parse(seconds * 1_000_000_000 + ns, data)
            if packet:
                self.packets.append(packet)

    def stop(self):
        """End the capture; `dropped` is then what the kernel had no room for."""
        self._stop.set()
        self._thread.join()
        statistics = self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
        self.dropped = struct.unpack("II", statistics)[1]
        self._socket.close()


class Tcpdump:
    """tcpdump, writing a file with nanoseconds."""

    def __init__(self, home: Path):
        self.name = "tcpdump"
        self.packets: list[Packet] = []
        self.dropped = 0
        self._file = home / "capture.pcap"
        # 256 MiB, with room for 8 KiB of each packet: some thirty thousand packets.
        command = ["tcpdump", "-i", "lo", "-n", "-s", "8192", "-B", "262144", "--immediate-mode"]
        command += ["--time-stamp-precision=nano", "-w", str(self._file), "tcp or udp"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        line = self._process.stderr.readline()
        while line and "listening on" not in line:
            line = self._process.stderr.readline()
        if not line:
            raise PermissionError("tcpdump did not start")

    def stop(self):
        """End the capture and read its file."""
        time.sleep(0.3)
        self._process.terminate()
        text = self._process.stderr.read()
        self._process.wait()
        for line in text.splitlines():
            if "dropped by kernel" in line:
                self.dropped = int(line.split()[0])
        data = self._file.read_bytes()
        assert struct.unpack_from("<I", data)[0] == 0xA1B23C4D, "not a file with nanoseconds"
        at = 24
        while at + 16 <= len(data):
            seconds, ns, length, _ = struct.unpack_from("<IIII", data, at)
            frame = data[at + 16 : at + 16 + length]
            at += 16 + length
            packet = parse(seconds * 1_000_000_000 + ns, frame[14:])
            if packet:
                self.packets.append(packet)


def capture(home: Path):
    """A capture that has begun; None with the reason where it is not permitted."""
    if shutil.which("tcpdump") and os.environ.get("WIREGAUGE_CAPTURE") != "raw":
        with contextlib.suppress(OSError):
            return Tcpdump(home), ""
    try:
        return Raw(), ""
    except PermissionError as error:
        return None, f"{error}: it needs root or CAP_NET_RAW"
    except (OSError, AttributeError) as error:
        return None, str(error)


@dataclass
class Frame:
    """A frame of the protocol as it passed: when its first and its last byte did."""

    sequence: int
    first_ns: int
    last_ns: int


@dataclass
class Way:
    """The bytes of one direction of a connection, in order, with the time of each packet."""

    magic: tuple[int, int]
    data: bytearray = field(default_factory=bytearray)
    ends: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    next: int | None = None

    def add(self, packet: Packet):
        """Append a packet; what was sent again is left out."""
        if packet.protocol == TCP and self.next is not None:
            old = (self.next - packet.number) & 0xFFFFFFFF
            if 0 < old < 1 << 31:
                packet = Packet(**{**packet.__dict__, "payload": packet.payload[old:]})
        if not packet.payload:
            return
        self.next = (packet.number + len(packet.payload)) & 0xFFFFFFFF
        self.data += packet.payload
        self.ends.append(len(self.data))
        self.times.append(packet.ns)

    def frames(self) -> list[Frame]:
        """The EXCHANGE frames, in the order in which they passed."""
        found, at = [], 0
        magic, header = self.magic
        ends, times = np.array(self.ends), self.times
        while at + header <= len(self.data):
            if self.data[at] != magic:
                at += 1
                continue
            sequence, size = struct.unpack_from("<II", self.data, at + 4)
            end = at + header + size
            first = int(np.searchsorted(ends, at, side="right"))
            last = int(np.searchsorted(ends, end - 1, side="right"))
            if self.data[at + 1] == EXCHANGE and last < len(times):
                found.append(Frame(sequence, times[first], times[last]))
            at = end
        return found


def ways(packets: list[Packet], port: int, datagrams: bool) -> tuple[list[Frame], list[Frame]]:
    """Requests to a port and responses from it; each connection is read by itself."""
    links: dict[int, tuple[Way, Way]] = {}
    requests, responses = [], []
    for packet in packets:
        if port not in (packet.source, packet.target):
            continue
        out = packet.target == port
        if datagrams:
            way = Way(REQUEST if out else RESPONSE)
            way.add(packet)
            (requests if out else responses).extend(way.frames())
            continue
        client = packet.source if out else packet.target
        pair = links.setdefault(client, (Way(REQUEST), Way(RESPONSE)))
        pair[0 if out else 1].add(packet)
    for out_way, in_way in links.values():
        requests.extend(out_way.frames())
        responses.extend(in_way.frames())
    return requests, responses


def describe(values) -> str:
    """A distribution in us."""
    names = ("min", "p1", "p50", "p99", "max")
    at = np.quantile(values, [0, 0.01, 0.5, 0.99, 1], method="inverted_cdf") / 1e3
    return ", ".join(f"{name} {value:.1f}" for name, value in zip(names, at, strict=True))


def check(checks: Checks, path: Path, packets: list[Packet], address: str, lossy: bool) -> None:
    """Compare the samples of each point with what passed on the wire."""
    scheme, _, port = address.partition("://")
    port = int(port.rsplit(":", 1)[1])
    requests, responses = ways(packets, port, scheme == "udp")
    run = json.loads((path / "run.json").read_text())
    at = 0
    for number, point in enumerate(run["points"]):
        rows = samples(path, point["point"]["index"])
        first = ~np.isin(rows["status"], ["late", "duplicated"])
        order = np.argsort(rows["sequence"][first])
        status = rows["status"][first][order]
        rtt = rows["rtt_ns"][first][order]
        where = f"{path.name}, point {number}"
        # A trial of the batch passes between the first exchange and the second; none at depth 1.
        asked = requests[at : at + len(status)]
        at += len(status)
        enough = len(asked) == len(status)
        checks.that(enough, "every sample's request is in the capture", f"{where}: {len(asked)}")
        if not enough:
            return
        numbers = {frame.sequence: index for index, frame in enumerate(asked)}
        checks.that(len(numbers) == len(asked), "requests have numbers of their own", where)
        began = asked[0].first_ns
        until = requests[at].first_ns if at < len(requests) else float("inf")
        answers: dict[int, list[Frame]] = {}
        for frame in responses:
            if began <= frame.first_ns < until and frame.sequence in numbers:
                answers.setdefault(numbers[frame.sequence], []).append(frame)
        differences, passed, by_kernel = [], [], []
        stamped = None
        if "kernel_rx_ns" in rows:
            stamped = (rows["kernel_rx_ns"] - rows["kernel_tx_ns"])[first][order]
            known = rows["kernel_rx_ns"][first][order] > 0
            name = "every answered exchange at depth 1 has the kernel's time stamps"
            if point["point"]["depth"] == 1:
                answered = np.isin(status, ["ok", "reordered"])
                checks.that(np.all(known[answered]), name, where)
        # Received after the timeout: on the wire in time perhaps, but the host read it late.
        read_late = set(rows["sequence"][rows["status"] == "late"].tolist())
        numbers_in_order = rows["sequence"][first][order]
        timeout = run["plan"]["timeout_ns"]
        for index, name in enumerate(status):
            seen = answers.get(index, [])
            here = f"{where}, exchange {index} ({name}), {len(seen)} responses in the capture"
            if name in ("ok", "reordered"):
                checks.that(seen, "an answered exchange has a response on the wire", here)
                if seen:
                    wire = seen[0].last_ns - asked[index].first_ns
                    differences.append(int(rtt[index]) - wire)
                    if stamped is not None and known[index]:
                        by_kernel.append(int(stamped[index]) - wire)
                    passed.append(wire)
            elif name == "lost" and seen:
                waited = seen[0].last_ns - asked[index].first_ns
                late = waited > 0.9 * timeout or int(numbers_in_order[index]) in read_late
                checks.that(late, "a lost exchange has no response in time on the wire", here)
            elif name == "lost":
                checks.that(True, "a lost exchange has no response in time on the wire")
        extra = sum(len(seen) - 1 for seen in answers.values() if len(seen) > 1)
        counted = int(np.sum(rows["status"] == "duplicated"))
        name = "duplicates are those on the wire"
        checks.that(counted == extra, name, f"{where}: {counted} counted, {extra} on the wire")
        if not lossy:
            none = np.all(np.isin(status, ["ok", "reordered"]))
            checks.that(none, "nothing is lost that was on the wire", where)
        # By how much later than the promptest one each request passed after its start.
        order = np.argsort(rows["sequence"][first])
        after = [frame.first_ns for frame in asked] - rows["start_ns"][first][order]
        after = after - after.min()
        differences = np.array(differences)
        # The capture stamps within the program's own interval, but for the resolution of clocks.
        early = int(np.sum(differences < -1000))
        checks.that(early == 0, "no RTT is shorter than on the wire", f"{where}: {early}")
        # The kernel stamps a request before it is captured, and a response no earlier.
        early = int(np.sum(np.array(by_kernel) < -1000))
        name = "the kernel's stamps are around the packets"
        checks.that(early == 0, name, f"{where}: {early} are not")
        if by_kernel:
            print(f"    {where}: kernel minus capture in us: {describe(by_kernel)}")
        if len(differences):
            wire = np.median(passed)
            depth = point["point"]["depth"]
            print(
                f"    {where}: depth {depth}, {len(status):,} exchanges, wire p50 "
                f"{wire / 1e3:.1f} us; tool minus capture in us: {describe(differences)}; "
                f"start to wire, over the promptest: p50 {np.median(after) / 1e3:.1f}, p99 "
                f"{np.quantile(after, 0.99) / 1e3:.1f}"
            )


def run(quick: bool, keep: str | None = None) -> bool:
    """Capture and compare; True if nothing is missing, or if captures are not permitted."""
    checks = Checks()
    count = "400" if quick else "3000"
    plans = [
        ("tcp", "tcp://127.0.0.1:0", (), ("--depth", "1", "--in", "48,3000", *KERNEL)),
        ("udp", "udp://127.0.0.1:0", (), ("--depth", "1,4", "--in", "48,1000", *KERNEL)),
        (
            "udp-faults",
            "udp://127.0.0.1:0",
            ("--drop", "3%", "--duplicate", "2%", "--seed", "3"),
            ("--depth", "1", "--in", "48", "--timeout", "30ms"),
        ),
    ]
    with scratch(keep) as home:
        for name, listen, faults, flags in plans:
            with serving(listen, *faults) as address:
                tap, why = capture(home)
                if tap is None:
                    print(f"Packet captures: not run ({why})")
                    return True
                path = home / f"captured-{name}"
                try:
                    common = ("--no-calibration", "--count", count, "--give-up", "1000")
                    wiregauge("exchange", address, "--store", path, *common, *flags)
                finally:
                    tap.stop()
            if tap.dropped:
                # What is missing in the capture says nothing of the samples.
                print(f"    captured-{name}: not judged ({tap.name} dropped {tap.dropped} packets)")
                continue
            check(checks, path, tap.packets, address, bool(faults))
    print(f"Samples against packet captures ({tap.name}), {sum(checks.counts.values()):,} checks")
    return checks.report()


if __name__ == "__main__":
    sys.exit(0 if run("--quick" in sys.argv) else 1)
