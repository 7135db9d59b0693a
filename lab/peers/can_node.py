#!/usr/bin/env python3
"""CAN nodes with python-can and udsoncan, to measure and to be measured by. Each command prints a line of JSON.

    can_node.py echo IFACE REQUEST RESPONSE [fd]   answers each frame with its data, until it is ended
    can_node.py ecu IFACE REQUEST RESPONSE         UDS over the kernel's ISO-TP: answers service 22, until it is ended
    can_node.py client IFACE REQUEST RESPONSE N    udsoncan reads a data identifier N times
    can_node.py adapter FILE                       a CAN adapter on a serial line; its controller is bus-off once FILE exists
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import socket
import struct
import sys
import termios
import tty
from pathlib import Path


def is_extended(text: str) -> bool:
    return len(text) == 8


def echo(interface: str, request: str, response: str, fd: bool) -> None:
    import can

    filters = [{"can_id": int(request, 16), "can_mask": 0x1FFFFFFF, "extended": is_extended(request)}]
    with can.Bus(interface="socketcan", channel=interface, can_filters=filters, fd=fd) as bus:
        print("ready", flush=True)
        for message in bus:
            answer = can.Message(
                arbitration_id=int(response, 16),
                is_extended_id=is_extended(response),
                data=message.data,
                is_fd=message.is_fd,
                bitrate_switch=message.bitrate_switch,
            )
            bus.send(answer)


def isotp_socket(interface: str, receive: str, send: str) -> socket.socket:
    node = socket.socket(socket.AF_CAN, socket.SOCK_DGRAM, socket.CAN_ISOTP)
    node.bind((interface, int(receive, 16), int(send, 16)))
    return node


def ecu(interface: str, request: str, response: str) -> None:
    """Answers ReadDataByIdentifier with 20 bytes, anything else with serviceNotSupported."""
    node = isotp_socket(interface, request, response)
    print("ready", flush=True)
    while True:
        message = node.recv(4096)
        if message[0] == 0x22 and len(message) == 3:
            node.send(b"\x62" + message[1:3] + b"WIREGAUGE-LAB-0000001"[:20])
        else:
            node.send(bytes([0x7F, message[0], 0x11]))


def client(interface: str, request: str, response: str, count: int) -> None:
    """The client of udsoncan against whatever answers: an echo is no UDS, which udsoncan must notice."""
    import isotp
    import udsoncan
    from udsoncan.client import Client
    from udsoncan.connections import IsoTPSocketConnection

    address = isotp.Address(isotp.AddressingMode.Normal_11bits, rxid=int(response, 16), txid=int(request, 16))
    config = dict(udsoncan.configs.default_client_config)
    config["data_identifiers"] = {0xF187: udsoncan.AsciiCodec(20)}
    config["request_timeout"] = 5
    found: dict[str, int] = {}
    with Client(IsoTPSocketConnection(interface, address), config=config) as tester:
        for _ in range(count):
            try:
                answer = tester.read_data_by_identifier(0xF187)
                said = str(answer.service_data.values[0xF187])
            except Exception as error:  # noqa: BLE001 # which one is the result
                said = type(error).__name__
            found[said] = found.get(said, 0) + 1
    print(json.dumps({"peer": "udsoncan", **found}))


# N_SLCAN (include/uapi/linux/tty.h).
SLCAN = 17


def adapter(leave: Path) -> None:
    """The kernel's slcan on a pty. It answers a frame of 7e0 by one of 7e8 with its data, as long as it is on the bus."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    fcntl.ioctl(slave, termios.TIOCSETD, struct.pack("i", SLCAN))
    print("ready", flush=True)
    lines = b""
    while not leave.exists():
        if select.select([master], [], [], 0.05)[0]:
            *whole, lines = (lines + os.read(master, 4096)).split(b"\r")
            for line in whole:
                if line.lower().startswith(b"t7e0"):
                    os.write(master, b"t7E8" + line[4:] + b"\r")
    # Bus-off, with the counters of errors received and sent (drivers/net/can/slcan/slcan-core.c).
    os.write(master, b"sb000256\r")
    while True:
        os.read(master, 4096)


def main() -> int:
    if sys.argv[1] == "adapter":
        adapter(Path(sys.argv[2]))
    what, interface, request, response, *rest = sys.argv[1:]
    match what:
        case "echo":
            echo(interface, request, response, rest == ["fd"])
        case "ecu":
            ecu(interface, request, response)
        case "client":
            client(interface, request, response, int(rest[0]))
        case _:
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
