#!/usr/bin/env python3
"""A USB device outside the guest: speaks usbredir with QEMU, and lets `wiregauge serve` answer.

    usbredir.py --speed full --function cdc SOCKET target/.../wiregauge

QEMU's `usb-redir` device connects to SOCKET. Bytes of the bulk endpoints go to and from a responder
that this program starts on a Unix socket: the device's brain is the real one, only its bus is made
of sockets. Protocol: usbredir 0.7 (docs/usb-redirection-protocol.md of spice/usbredir).
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import selectors
import socket
import struct
import subprocess
import sys
import tempfile
import time
from enum import IntEnum
from pathlib import Path


class Type(IntEnum):
    """Packets that this device sends or understands."""

    HELLO = 0
    DEVICE_CONNECT = 1
    RESET = 3
    INTERFACE_INFO = 4
    EP_INFO = 5
    SET_CONFIGURATION = 6
    GET_CONFIGURATION = 7
    CONFIGURATION_STATUS = 8
    SET_ALT_SETTING = 9
    GET_ALT_SETTING = 10
    ALT_SETTING_STATUS = 11
    START_INTERRUPT_RECEIVING = 15
    STOP_INTERRUPT_RECEIVING = 16
    INTERRUPT_RECEIVING_STATUS = 17
    CANCEL_DATA_PACKET = 21
    CONTROL_PACKET = 100
    BULK_PACKET = 101


OK, CANCELLED, STALL = 0, 1, 4
# Abilities (bit numbers) that we have: version in DEVICE_CONNECT, packet sizes in EP_INFO, 64-bit
# ids, 32-bit lengths of bulk packets.
CONNECT_DEVICE_VERSION, EP_MAX_PACKET_SIZE, IDS_64, BULK_LENGTH_32 = 1, 4, 5, 6
ABILITIES = 1 << CONNECT_DEVICE_VERSION | 1 << EP_MAX_PACKET_SIZE | 1 << IDS_64 | 1 << BULK_LENGTH_32

VENDOR, PRODUCT = 0x1D6B, 0x0104
STRINGS = ("wiregauge", "usbredir device", "lab")
# Numbers of speeds in DEVICE_CONNECT, and the packet size of bulk endpoints (USB 2.0, 5.8.3).
SPEEDS = {"full": (1, 64), "high": (2, 512)}
BULK, INTERRUPT, NOT_THERE = 2, 3, 255
# Beyond this the brain is not read: its answers wait in its socket.
HELD_BYTES = 1 << 20


class Endpoint:
    """One endpoint: address, type, packet size, interval, interface."""

    def __init__(self, address: int, kind: int, packet: int, interval: int, interface: int) -> None:
        self.address, self.kind, self.packet, self.interval, self.interface = address, kind, packet, interval, interface

    def descriptor(self) -> bytes:
        return struct.pack("<BBBBHB", 7, 5, self.address, self.kind, self.packet, self.interval)


def interface(number: int, endpoints: list[Endpoint], triple: tuple[int, int, int], between: bytes = b"") -> bytes:
    """An interface descriptor, what belongs between, and its endpoints."""
    own = [endpoint for endpoint in endpoints if endpoint.interface == number]
    head = struct.pack("<9B", 9, 4, number, 0, len(own), *triple, 0)
    return head + between + b"".join(endpoint.descriptor() for endpoint in own)


class Function:
    """Descriptors of a device with one function."""

    def __init__(self, kind: str, packet: int) -> None:
        self.cdc = kind == "cdc"
        if self.cdc:
            self.endpoints = [
                Endpoint(0x82, BULK, packet, 0, 1),
                Endpoint(0x01, BULK, packet, 0, 1),
                Endpoint(0x83, INTERRUPT, 10, 9, 0),
            ]
            # Header, call management, ACM and union descriptors (CDC 1.2, 5.2.3; PSTN 1.2, 5.3).
            functional = bytes([5, 0x24, 0, 0x10, 1, 5, 0x24, 1, 0, 1, 4, 0x24, 2, 2, 5, 0x24, 6, 0, 1])
            self.triples = [(2, 2, 1), (10, 0, 0)]
            body = interface(0, self.endpoints, self.triples[0], functional) + interface(1, self.endpoints, self.triples[1])
        else:
            self.endpoints = [Endpoint(0x81, BULK, packet, 0, 0), Endpoint(0x02, BULK, packet, 0, 0)]
            self.triples = [(0xFF, 0, 0)]
            body = interface(0, self.endpoints, self.triples[0])
        self.device_class = 2 if self.cdc else 0
        self.configuration = struct.pack("<BBHBBBBB", 9, 2, 9 + len(body), len(self.triples), 1, 0, 0xC0, 0) + body
        self.device = struct.pack(
            "<BBHBBBBHHHBBBB", 18, 1, 0x0200, self.device_class, 0, 0, 64, VENDOR, PRODUCT, 0x0100, 1, 2, 3, 1
        )

    def control(self, request_type: int, request: int, value: int) -> tuple[int, bytes]:
        """Status and data of a control request on endpoint 0."""
        if request_type == 0x80 and request == 6:  # GET_DESCRIPTOR
            kind, index = value >> 8, value & 0xFF
            if kind == 1:
                return OK, self.device
            if kind == 2:
                return OK, self.configuration
            if kind == 3 and index == 0:
                return OK, struct.pack("<BBH", 4, 3, 0x0409)
            if kind == 3 and index <= len(STRINGS):
                text = STRINGS[index - 1].encode("utf-16-le")
                return OK, bytes([2 + len(text), 3]) + text
            if kind == 6:  # the other speed: the same device
                return OK, struct.pack("<BBHBBBBBB", 10, 6, 0x0200, self.device_class, 0, 0, 64, 1, 0)
            return STALL, b""
        if request_type & 0x80 and request == 0:  # GET_STATUS
            return OK, b"\0\0"
        if request_type == 0xA1 and request == 0x21:  # GET_LINE_CODING: 115200 8N1
            return OK, struct.pack("<IBBB", 115200, 0, 0, 8)
        # SET_LINE_CODING, SET_CONTROL_LINE_STATE, CLEAR_FEATURE: taken, without effect.
        return (STALL, b"") if request_type & 0x80 else (OK, b"")


class Device:
    """The device on its two sockets."""

    def __init__(self, host: socket.socket, brain: socket.socket, speed: str, kind: str) -> None:
        self.host, self.brain = host, brain
        self.speed, packet = SPEEDS[speed]
        self.function = Function(kind, packet)
        self.wide_ids = self.wide_lengths = False
        self.received = bytearray()
        self.asked: collections.deque[tuple[int, int, int]] = collections.deque()  # id, endpoint, room
        self.answers = bytearray()
        hello = b"wiregauge lab".ljust(64, b"\0") + struct.pack("<I", ABILITIES)
        self.send(Type.HELLO, 0, hello)

    def send(self, kind: Type, number: int, body: bytes) -> None:
        self.host.sendall(struct.pack("<IIQ" if self.wide_ids else "<III", kind, len(body), number) + body)

    def from_host(self, data: bytes) -> None:
        """Takes whole packets from what came."""
        self.received += data
        while True:
            layout = "<IIQ" if self.wide_ids else "<III"
            size = struct.calcsize(layout)
            if len(self.received) < size:
                return
            kind, length, number = struct.unpack_from(layout, self.received)
            if len(self.received) < size + length:
                return
            body = bytes(self.received[size : size + length])
            del self.received[: size + length]
            self.packet(kind, number, body)

    def packet(self, kind: int, number: int, body: bytes) -> None:
        if kind == Type.HELLO:
            theirs = struct.unpack_from("<I", body, 64)[0] if len(body) >= 68 else 0
            both = theirs & ABILITIES
            self.wide_ids, self.wide_lengths = bool(both >> IDS_64 & 1), bool(both >> BULK_LENGTH_32 & 1)
            self.describe()
            triple = (self.function.device_class, 0, 0)
            self.send(Type.DEVICE_CONNECT, 0, struct.pack("<4BHHH", self.speed, *triple, VENDOR, PRODUCT, 0x0100))
        elif kind == Type.RESET:
            self.asked.clear()
        elif kind == Type.SET_CONFIGURATION:
            self.describe()
            self.send(Type.CONFIGURATION_STATUS, number, bytes([OK, body[0]]))
        elif kind == Type.GET_CONFIGURATION:
            self.send(Type.CONFIGURATION_STATUS, number, bytes([OK, 1]))
        elif kind == Type.SET_ALT_SETTING:
            self.describe()
            self.send(Type.ALT_SETTING_STATUS, number, bytes([OK, body[0], body[1]]))
        elif kind == Type.GET_ALT_SETTING:
            self.send(Type.ALT_SETTING_STATUS, number, bytes([OK, body[0], 0]))
        elif kind in (Type.START_INTERRUPT_RECEIVING, Type.STOP_INTERRUPT_RECEIVING):
            self.send(Type.INTERRUPT_RECEIVING_STATUS, number, bytes([OK, body[0]]))
        elif kind == Type.CANCEL_DATA_PACKET:
            for waiting in [entry for entry in self.asked if entry[0] == number]:
                self.asked.remove(waiting)
                self.bulk(number, waiting[1], CANCELLED, 0, b"")
        elif kind == Type.CONTROL_PACKET:
            endpoint, request, request_type, _, value, index, room = struct.unpack_from("<4B3H", body)
            status, data = self.function.control(request_type, request, value)
            data = data[:room]
            length = len(data) if request_type & 0x80 else room
            self.send(
                Type.CONTROL_PACKET,
                number,
                struct.pack("<4B3H", endpoint, request, request_type, status, value, index, length) + data,
            )
        elif kind == Type.BULK_PACKET:
            endpoint, _, room, _ = struct.unpack_from("<BBHI", body)
            head = 8
            if self.wide_lengths:
                room |= struct.unpack_from("<H", body, 8)[0] << 16
                head = 10
            if endpoint & 0x80:
                self.asked.append((number, endpoint, room))
                self.answer()
            else:
                self.brain.sendall(body[head:])
                self.bulk(number, endpoint, OK, len(body) - head, b"")

    def bulk(self, number: int, endpoint: int, status: int, length: int, data: bytes) -> None:
        head = struct.pack("<BBHI", endpoint, status, length & 0xFFFF, 0)
        if self.wide_lengths:
            head += struct.pack("<H", length >> 16)
        self.send(Type.BULK_PACKET, number, head + data)

    def answer(self) -> None:
        """Fills as many of the host's IN requests as there are bytes. The rest waits: a NAK."""
        while self.asked and self.answers:
            number, endpoint, room = self.asked.popleft()
            data = bytes(self.answers[:room])
            del self.answers[:room]
            self.bulk(number, endpoint, OK, len(data), data)

    def describe(self) -> None:
        """Interfaces and endpoints, as arrays of 32: endpoint numbers OUT, then IN."""
        triples = self.function.triples

        def column(place: int) -> bytes:
            return bytes(triple[place] for triple in triples).ljust(32, b"\0")

        numbers = bytes(range(len(triples))).ljust(32, b"\0")
        self.send(
            Type.INTERFACE_INFO, 0, struct.pack("<I", len(triples)) + numbers + column(0) + column(1) + column(2)
        )
        kinds, intervals, interfaces, packets = [NOT_THERE] * 32, [0] * 32, [0] * 32, [0] * 32
        for place in (0, 16):
            kinds[place], packets[place] = 0, 64
        for endpoint in self.function.endpoints:
            place = (endpoint.address & 0x0F) + (16 if endpoint.address & 0x80 else 0)
            kinds[place], intervals[place] = endpoint.kind, endpoint.interval
            interfaces[place], packets[place] = endpoint.interface, endpoint.packet
        body = bytes(kinds) + bytes(intervals) + bytes(interfaces) + struct.pack("<32H", *packets)
        self.send(Type.EP_INFO, 0, body)

    def serve(self) -> None:
        """Until QEMU or the brain goes."""
        ready = selectors.DefaultSelector()
        ready.register(self.host, selectors.EVENT_READ)
        ready.register(self.brain, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.fileobj is self.brain and len(self.answers) > HELD_BYTES:
                    time.sleep(0.001)
                    continue
                data = key.fileobj.recv(1 << 16)
                if not data:
                    return
                if key.fileobj is self.host:
                    self.from_host(data)
                else:
                    self.answers += data
                    self.answer()


def connect(path: Path, process: subprocess.Popen) -> socket.socket:
    """Connects to the responder as soon as it is there."""
    link = socket.socket(socket.AF_UNIX)
    for _ in range(500):
        with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
            link.connect(str(path))
            return link
        if process.poll() is not None:
            break
        time.sleep(0.02)
    sys.exit("usbredir.py: the responder did not start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("socket", type=Path)
    parser.add_argument("--speed", choices=SPEEDS, default="high")
    parser.add_argument("--function", choices=("cdc", "bulk"), default="cdc")
    parser.add_argument("wiregauge", type=Path, help="the binary whose `serve` answers")
    asked = parser.parse_args()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(asked.socket))
    listener.listen(1)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "brain"
        brain = subprocess.Popen([asked.wiregauge, "serve", f"unix://{place}", "--quiet"], stdout=subprocess.DEVNULL)
        try:
            link = connect(place, brain)
            listener.settimeout(60)
            host, _ = listener.accept()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                Device(host, link, asked.speed, asked.function).serve()
        finally:
            brain.kill()
            brain.wait()


if __name__ == "__main__":
    os.umask(0o077)
    main()
