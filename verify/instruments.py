"""Queries against programs that no one here wrote: Modbus servers of pymodbus, libmodbus and tokio-modbus, an instrument
that gepace and sinstruments simulate; pymodbus and pyvisa-py as clients of the responder."""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from common import Checks, Failed, program, scratch, wiregauge
from figures import compare, serving

HERE = Path(__file__).resolve().parent
#: Long enough for a busy machine; nothing waits for it where all is right.
PATIENT = ("--timeout", "60s")
#: What the servers do with requests to a unit that they do not have.
MISSING_UNIT = {
    "pymodbus-tcp": "exception 4 (server device failure)",
    "pymodbus-rtu": "exception 4 (server device failure)",
    # Its TCP server takes every unit for its own.
    "libmodbus-tcp": "5 answered",
    "libmodbus-rtu": "silent",
    "tokio-modbus-tcp": "silent",
    "tokio-modbus-rtu": "silent",
}
#: Long enough for a unit that does answer.
SHORT = ("--timeout", "3s", "--give-up", "1")


@contextlib.contextmanager
def running(command: list):
    """Another program that says `serving WHERE` once it serves; gives WHERE."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        if not line.startswith("serving "):
            raise Failed(f"{command}: {line!r}")
        yield line.removeprefix("serving ").strip()
    finally:
        process.kill()
        process.wait(10)


@contextlib.contextmanager
def tty_pair(home: Path, name: str):
    """Two ttys of socat, each the other end of the other."""
    ends = [home / f"{name}.{side}" for side in ("here", "there")]
    both = [f"PTY,link={end},raw,echo=0" for end in ends]
    process = subprocess.Popen(["socat", *both])
    try:
        deadline = time.monotonic() + 60
        while not all(end.exists() for end in ends):
            if time.monotonic() > deadline:
                raise Failed("socat opened no ttys")
            time.sleep(0.01)
        yield ends
    finally:
        process.kill()
        process.wait(10)


def servers(checks: Checks, home: Path) -> dict[str, list]:
    """The commands of the Modbus servers that are there."""
    found = {}
    if importlib.util.find_spec("pymodbus"):
        found["pymodbus"] = [sys.executable, HERE / "modbus_server.py"]
    binary = home / "modbus_server"
    build = ["cc", "-O2", "-Wall", "-o", binary, HERE / "modbus_server.c", "-lmodbus"]
    if subprocess.run([str(word) for word in build], capture_output=True).returncode == 0:
        found["libmodbus"] = [binary]
    else:
        print("  libmodbus: not run (not installed)")
    # Cargo is there, and gets what the program itself is built of.
    build = [HERE / "tokio_modbus" / "build"]
    done = subprocess.run([str(word) for word in build], capture_output=True, text=True)
    checks.that(done.returncode == 0, "tokio-modbus is built", done.stderr)
    if done.returncode == 0:
        found["tokio-modbus"] = [done.stdout.strip(), "serve"]
    return found


def measure(checks: Checks, path: Path, address: str, *flags) -> dict:
    """A run that must be complete, compared with its samples; its only point."""
    wiregauge("exchange", address, "--no-calibration", "--store", path, *flags)
    return compare(checks, path)["points"][0]


def modbus_servers(checks: Checks, home: Path, count: int) -> None:
    """Reads, writes, exceptions and a missing unit, over TCP and on a serial line."""
    for name, command in servers(checks, home).items():
        print(f"  {name} as Modbus server")
        with running([*command, "tcp"]) as address:
            modbus_server(checks, home, f"{name}-tcp", address, (), count)
        with tty_pair(home, name) as (here, there), running([*command, there]):
            line = ("--baud", "115200")
            modbus_server(checks, home, f"{name}-rtu", f"serial://{here}", line, count)


def modbus_server(checks: Checks, home: Path, name: str, address: str, line, count: int) -> None:
    """One server on one kind of link."""
    modbus = (*line, "--protocol", "modbus")
    flags = ("--read", "holding:10+20", "--read", "holding:95+10", "--write", "10:7,8")
    point = measure(checks, home / name, address, *modbus, *flags, *PATIENT, "--count", str(3 * count))
    answered = [query["answered"] for query in point["queries"]]
    checks.that(answered == [count, 0, count], "servers answer reads and writes", f"{name}: {answered}")
    told = point["unexpected"]
    expected = [{"what": "exception 2 (illegal data address)", "times": count}]
    checks.that(told == expected, "exceptions of servers are told by code", f"{name}: {told}")
    # What was written is read.
    read = ("--read", "holding:9+4", "--count", "1", "--keep-data", "--csv", home / f"{name}.csv")
    rest = ("--no-calibration", "--no-store", *PATIENT)
    wiregauge("exchange", address, *modbus, *read, *rest)
    data = (home / f"{name}.csv").read_text().splitlines()[-1].split(",")[-1]
    values = "03f1" + "0007" + "0008" + "03f4"
    checks.that(values in data, "what was written is read from servers", f"{name}: {data}")
    missing = ["--unit", "9", "--read", "holding:0", *SHORT, "--count", "5", "--no-calibration"]
    command = [program(), "exchange", address, *modbus, *missing, "--no-store", "--json"]
    ended = subprocess.run(command, capture_output=True, text=True)
    became = outcome(ended)
    same = became == MISSING_UNIT[name]
    checks.that(same, "a missing unit is reported as it behaves", f"{name}: {became} {ended.stderr}")


def kept(path: Path) -> dict[int, bytes]:
    """The measured replies that `--keep-data --csv` stored, by the number of the request."""
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["phase"] == "measured"]
    return {int(row["sequence"]): bytes.fromhex(row["data_hex"]) for row in rows}


def simulated_instrument(checks: Checks, home: Path, count: int) -> None:
    """An instrument of PyPI answers SCPI, as such and as text: what it says is stored, reply by reply."""
    print("  gepace (sinstruments) as instrument")
    pressure = rb"SENS1 (34\.[5-9]|35\.[0-5])\d*"
    shapes = (rb"\*IDN GE Druck,PACE5000,\d+,DK0367  v[\d.]+", pressure, rb"SYST:SET CONT, 100\.00")
    ways = {
        "scpi": ("--send", "*IDN?", "--send", "SENS1?", "--send", "SYST:SET?"),
        "text": ("--send", r"*IDN?\n", "--send", r"SENS1?\n", "--send", r"SYST:SET?\n"),
    }
    with running([sys.executable, HERE / "instrument.py"]) as address:
        for protocol, queries in ways.items():
            table = home / f"{protocol}.csv"
            keep = ("--keep-data", "--csv", table, "--count", str(3 * count))
            point = measure(checks, home / f"gepace-{protocol}", address, "--protocol", protocol,
                            *queries, *keep, *PATIENT)
            answered = [query["answered"] for query in point["queries"]]
            right = answered == [count] * 3 and point["counts"]["answered"] == 3 * count
            checks.that(right, "the simulated instrument answers every query", f"{protocol}: {answered}")
            checks.that(not point.get("instrument_errors"), "an empty error queue with a header is no error", point)
            replies = kept(table)
            same = len(replies) == 3 * count and all(
                re.fullmatch(shapes[number % 3] + rb"\n", reply) for number, reply in replies.items()
            )
            checks.that(same, "replies of the simulated instrument are stored", f"{protocol}: {replies}")
            # Readings are random: a reply that is stored twice would show.
            readings = [reply for number, reply in replies.items() if number % 3 == 1]
            own = len(set(readings)) == count
            checks.that(own, "each stored reply is its own", f"{protocol}: {readings}")
        # It has no error queue to speak of: what it does not know is answered with NACK.
        flags = ("--protocol", "scpi", "--send", "*IDN?", "--send", "NOPE?", "--expect", r"^\*IDN ")
        point = measure(checks, home / "gepace-unknown", address, *flags, "--count", str(2 * count), *PATIENT)
        told = [(kind["what"], kind["times"]) for kind in point["unexpected"]]
        checks.that(told == [("NACK\\n", count)], "what an instrument does not know is counted apart", told)


def outcome(ended: subprocess.CompletedProcess) -> str:
    """What became of requests to a unit that is not there."""
    if ended.returncode == 3 and "check --unit" in ended.stderr:
        return "silent"
    point = json.loads(ended.stdout)["points"][0]
    told = [kind["what"] for kind in point.get("unexpected", [])]
    return told[0] if told else f"{point['counts']['answered']} answered"


def modbus_clients(checks: Checks, home: Path) -> None:
    """Pymodbus reads and writes what the responder holds."""
    from pymodbus.client import ModbusSerialClient, ModbusTcpClient

    print("  pymodbus as client of the responder")

    def use(client, name: str) -> None:
        checks.that(client.connect(), "clients connect", name)
        client.write_registers(40, [7, 8, 65535], device_id=1)
        read = client.read_holding_registers(39, count=5, device_id=1).registers
        checks.that(read == [39, 7, 8, 65535, 43], "clients read what they wrote", f"{name}: {read}")
        client.write_coils(3, [True, False, True], device_id=1)
        coils = client.read_coils(2, count=5, device_id=1).bits[:5]
        expected = [False, True, False, True, False]
        checks.that(coils == expected, "clients read the coils that they wrote", f"{name}: {coils}")
        refused = client.read_holding_registers(9999, count=2, device_id=1)
        told = refused.isError() and refused.exception_code == 2
        checks.that(told, "clients get exceptions", f"{name}: {refused}")
        client.close()

    with serving("tcp://127.0.0.1:0", "--protocol", "modbus") as address:
        port = int(address.rsplit(":", 1)[1])
        use(ModbusTcpClient("127.0.0.1", port=port, timeout=60), "tcp")
    with serving(f"pty:{home}/responder", "--protocol", "modbus") as address:
        path = address.removeprefix("serial://")
        use(ModbusSerialClient(path, baudrate=115200, timeout=60), "rtu")


def visa_client(checks: Checks) -> None:
    """pyvisa-py talks to the responder as to an instrument on a socket."""
    import pyvisa

    print("  pyvisa-py as client of the responder")
    with serving("tcp://127.0.0.1:0", "--protocol", "scpi", "--name", "meter") as address:
        port = address.rsplit(":", 1)[1]
        manager = pyvisa.ResourceManager("@py")
        instrument = manager.open_resource(f"TCPIP::127.0.0.1::{port}::SOCKET")
        instrument.timeout = 60_000
        instrument.read_termination = instrument.write_termination = "\n"
        named = instrument.query("*IDN?")
        checks.that(named.startswith("wiregauge,meter,0,"), "pyvisa identifies the responder", named)
        readings = [float(instrument.query("READ?")) for _ in range(3)]
        checks.that(readings == [0.001, 0.002, 0.003], "pyvisa reads the responder", readings)
        curve = instrument.query_binary_values("CURV? 1000", datatype="B")
        same = curve == [at % 256 for at in range(1000)]
        checks.that(same, "pyvisa reads block data of the responder", curve[:9])
        instrument.write("NOPE")
        error = instrument.query("SYST:ERR?")
        checks.that(error == '-113,"Undefined header"', "pyvisa reads the error queue", error)
        instrument.close()


def run(quick: bool, keep: str | None) -> bool:
    """Compare with each program that is there."""
    checks = Checks()
    print("queries: programs that no one here wrote")
    with scratch(f"{keep}/instruments" if keep else None) as home:
        if shutil.which("socat"):
            modbus_servers(checks, home, 20 if quick else 200)
        if importlib.util.find_spec("gepace") and importlib.util.find_spec("sinstruments"):
            simulated_instrument(checks, home, 20 if quick else 200)
        else:
            print("  gepace: not run (not installed)")
        if importlib.util.find_spec("pymodbus") and importlib.util.find_spec("serial"):
            modbus_clients(checks, home)
        else:
            print("  pymodbus: not run (not installed)")
        if importlib.util.find_spec("pyvisa_py"):
            visa_client(checks)
        else:
            print("  pyvisa-py: not run (not installed)")
    return checks.report()
