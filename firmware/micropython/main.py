# What a board runs when it has started: say here what it shall serve. On a PC these are options:
#
#     micropython main.py --port 7700 --echo-port 7007
#
# --largest N: bytes of a frame. --plain: without the machine code of wg_native.py. --tty N: a serial line
# that was opened already, without waiting (O_NONBLOCK), as descriptor N. --tty-echo: it echoes.

import sys

# The board's UART that answers as well, such as {"id": 0, "baudrate": 921_600}.
UART = None
# Bytes of a frame, and TCP connections at once: three times as much memory for each.
LARGEST = 2048
CLIENTS = 2


def option(name):
    """What stands behind an option of the command line, or None."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


if "--plain" in sys.argv:
    import wg_plain

    sys.modules["wg_loops"] = wg_plain

import wg_server  # noqa: E402

if len(sys.argv) < 2:
    uart = None
    if UART:
        import machine

        uart = machine.UART(**UART, timeout=0, rxbuf=2 * LARGEST, txbuf=LARGEST)
    wg_server.serve(line=uart, largest=LARGEST, clients=CLIENTS)
else:
    tty = option("--tty")
    line = None
    if tty:
        line = open(int(tty), "r+b", buffering=0)
    ports = [int(given) if given else None for given in (option("--port"), option("--echo-port"))]
    largest = int(option("--largest") or 8192)
    wg_server.serve(*ports, line=line, line_echoes="--tty-echo" in sys.argv, largest=largest, clients=8)
