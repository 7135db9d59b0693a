"""A Modbus server of pymodbus: `modbus_server.py tcp` or `modbus_server.py PATH` of a tty. Prints `serving WHERE`.

100 holding registers from address 0 that hold 1000 and so on; other addresses are exceptions. Unit 1 only."""

from __future__ import annotations

import asyncio
import logging
import sys

from pymodbus.datastore import (
    ModbusDeviceContext,
    ModbusSequentialDataBlock,
    ModbusServerContext,
)
from pymodbus.server import ModbusSerialServer, ModbusTcpServer

REGISTERS = 100


async def main(where: str) -> None:
    """Serve until this process is ended."""
    logging.disable(logging.CRITICAL)
    # A block begins at address 1 by this library's count.
    block = ModbusSequentialDataBlock(1, list(range(1000, 1000 + REGISTERS)))
    context = ModbusServerContext({1: ModbusDeviceContext(hr=block)}, single=False)
    if where == "tcp":
        server = ModbusTcpServer(context, address=("127.0.0.1", 0), ignore_missing_devices=True)
    else:
        server = ModbusSerialServer(context, port=where, baudrate=115200, ignore_missing_devices=True)
    await server.serve_forever(background=True)
    name = where
    if where == "tcp":
        host, port = server.transport.sockets[0].getsockname()
        name = f"tcp://{host}:{port}"
    print(f"serving {name}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
