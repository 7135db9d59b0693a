#!/usr/bin/env python3
"""Python libraries as clients: query_client.py pymodbus|pyvisa-py HOST:PORT|PATH COUNT SILENCE_US

Prints the time of each query in ns: 10 holding registers of unit 1 from address 0 on, or `READ?`. What the library
logs is switched off; how it waits is its own."""
from __future__ import annotations

import sys
import time

REGISTERS = 10


def pymodbus(place: str):
    """A function that reads the registers."""
    import logging

    from pymodbus.client import ModbusSerialClient, ModbusTcpClient
    logging.disable(logging.CRITICAL)
    if place.startswith("/"):
        client = ModbusSerialClient(place, baudrate=115200)
    else:
        host, port = place.rsplit(":", 1)
        client = ModbusTcpClient(host, port=int(port))
    if not client.connect():
        sys.exit(f"query_client.py: cannot connect to {place}")

    def read() -> None:
        if len(client.read_holding_registers(0, count=REGISTERS, device_id=1).registers) != REGISTERS:
            sys.exit("query_client.py: a reply of another size")

    return read


def pyvisa(place: str):
    """A function that asks for a reading."""
    import pyvisa

    host, port = place.rsplit(":", 1)
    instrument = pyvisa.ResourceManager("@py").open_resource(f"TCPIP::{host}::{port}::SOCKET")
    instrument.read_termination = instrument.write_termination = "\n"

    def read() -> None:
        if not instrument.query("READ?").startswith("+1.23"):
            sys.exit("query_client.py: another reading")

    return read


def main() -> None:
    library, place, count, silence_us = sys.argv[1:]
    read = {"pymodbus": pymodbus, "pyvisa-py": pyvisa}[library](place)
    silence_s = int(silence_us) / 1e6
    took = []
    for _ in range(int(count)):
        begin = time.perf_counter_ns()
        read()
        end = time.perf_counter_ns()
        took.append(end - begin)
        if silence_s:
            time.sleep(silence_s)
    print("\n".join(map(str, took)))


if __name__ == "__main__":
    main()
