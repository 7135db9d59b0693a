"""Where a bench runs, and with what: the host, the tools' versions, the programs built for it."""
from __future__ import annotations

import contextlib
import datetime
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "target" / "bench"


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def first_line(*command: str) -> str:
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "-"
    text = re.sub(r"\x1b\[[\d;]*m", "", said.stdout or said.stderr).strip()
    return text.splitlines()[0] if text else "-"


def about_host(wiregauge: str, rounds: int) -> dict:
    cpu = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    peers = {"sockperf": ("sockperf", "--version"), "qperf": ("qperf", "--version"),
             "iperf": ("iperf", "--version"), "netperf": ("netperf", "-V")}
    versions = {name: (found[0] if (found := re.findall(r"\d+\.\d+[\w.]*", first_line(*command)))
                       else "?") if shutil.which(command[0]) else "not installed"
                for name, command in peers.items()}
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "host": platform.node(),
        "kernel": f"{platform.system()} {platform.release()}",
        "CPU": f"{cpu}, {len(os.sched_getaffinity(0))} processors",
        "load when it began": "%.2f %.2f %.2f" % os.getloadavg(),
        "wiregauge": first_line(wiregauge, "--version"),
        "C compiler": first_line("cc", "--version"),
        "peers": versions,
        "rounds": rounds,
        "command": shlex.join(["bench/run.py", *sys.argv[1:]]),
    }


def compiled(name: str, *libraries: str) -> str:
    """A program in C of this folder, compiled if it is out of date."""
    BUILD.mkdir(parents=True, exist_ok=True)
    target = BUILD / name
    sources = [HERE / f"{name}.c", HERE / "floor.h"]
    if not target.exists() or target.stat().st_mtime < max(at.stat().st_mtime for at in sources):
        subprocess.run([os.environ.get("CC", "cc"), "-std=c99", "-O2", "-Wall", "-Wextra",
                        "-Werror", "-o", str(target), str(sources[0]), *libraries], check=True)
    return str(target)


def build_floor() -> str:
    return compiled("floor")


def query_clients() -> dict[str, list[str]]:
    """The commands of the libraries that are there, as clients of a device that answers queries."""
    found = {}
    python = ROOT / ".venv" / "bin" / "python"
    for name, module in (("pymodbus", "pymodbus, serial"), ("pyvisa-py", "pyvisa_py")):
        asked = [str(python), "-c", f"import {module}"]
        if python.exists() and subprocess.run(asked, capture_output=True, check=False).returncode == 0:
            found[name] = [str(python), "-B", str(HERE / "query_client.py"), name]
    if Path("/usr/include/modbus/modbus.h").exists():
        try:
            found["libmodbus"] = [compiled("libmodbus_client", "-lmodbus")]
        except subprocess.CalledProcessError as error:
            note(str(error))
    note("building tokio-modbus as client, if it is not built")
    built = subprocess.run([str(ROOT / "verify" / "tokio_modbus" / "build")], capture_output=True,
                           text=True, check=False)
    if built.returncode == 0:
        found["tokio-modbus"] = [built.stdout.strip(), "read"]
    else:
        note(built.stderr)
    return found


def query_versions(clients: dict[str, list[str]]) -> dict[str, str]:
    """The versions of those libraries."""
    lock = (ROOT / "verify" / "tokio_modbus" / "Cargo.lock").read_text()
    locked = re.search(r'name = "tokio-modbus"\nversion = "([^"]+)"', lock)
    said = {"tokio-modbus": locked.group(1) if locked else "?",
            "libmodbus": first_line("pkg-config", "--modversion", "libmodbus")}
    for name, package in (("pymodbus", "pymodbus"), ("pyvisa-py", "PyVISA-py")):
        if name in clients:
            asked = f"import importlib.metadata as m; print(m.version('{package}'))"
            said[name] = first_line(clients[name][0], "-c", asked)
    return {name: said[name] if name in clients else "not installed" for name in sorted(said)}


def find_wiregauge() -> str:
    given = os.environ.get("WIREGAUGE")
    if given:
        return str(Path(given).resolve())
    subprocess.run(["cargo", "build", "--release", "-p", "wiregauge-cli"], check=True, cwd=ROOT)
    return str(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "wiregauge")
