"""A Wine prefix of its own, and wiregauge.exe in it."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILT = Path(os.environ["BUILT"])


class Wine:
    """Windows, as far as Wine is that: a prefix that is gone at the end."""

    def __init__(self) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="wiregauge-wine-"))
        # A path with a space, as most users have one.
        self.programs = self.place / "Program Files"
        self.programs.mkdir()
        for name in ("wiregauge.exe", "bcryptprimitives.dll", "floor.exe"):
            (self.programs / name).symlink_to(BUILT / name)
        self.environment = {
            **os.environ,
            "WINEPREFIX": str(self.place / "prefix"),
            # Of its errors only those with which it ends a process: the exit code is 1 then, and no program printed why.
            "WINEDEBUG": "-all,err+seh,err+virtual",
            # Neither a browser engine nor .NET, which Wine would offer to install.
            "WINEDLLOVERRIDES": "mscoree,mshtml=",
            "DISPLAY": "",
        }
        self.environment.pop("WIREGAUGE_RUNS", None)
        if not self.runs():
            self.end()
            raise unittest.SkipTest("Wine runs no program on this machine, not even its own")

    def runs(self) -> bool:
        """Makes the prefix; True if Wine then runs a program of its own."""
        how = {"env": self.environment, "stdin": subprocess.DEVNULL, "capture_output": True, "timeout": 300}
        try:
            subprocess.run(["wineboot", "--init"], check=True, **how)
            return subprocess.run(["wine", "cmd", "/c", "exit 7"], **how).returncode == 7
        except (OSError, subprocess.SubprocessError):
            return False

    def command(self, name: str, *words: str) -> list[str]:
        """The words that run a program of ours in this prefix."""
        return ["wine", str(self.programs / name), *words]

    def run(self, *words: str, program: str = "wiregauge.exe", timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Runs a program to its end."""
        return subprocess.run(
            self.command(program, *words),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
        )

    def start(self, *words: str, **how) -> subprocess.Popen[str]:
        """Starts wiregauge.exe."""
        return subprocess.Popen(
            self.command("wiregauge.exe", *words),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            **how,
        )

    def reg(self, *words: str) -> str:
        """Runs Windows' `reg`, which must succeed."""
        ended = subprocess.run(
            ["wine", "reg", *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )
        if ended.returncode != 0:
            raise RuntimeError(f"reg {words}: {ended.stdout}{ended.stderr}")
        return ended.stdout

    def com_port(self, number: int, path: str) -> None:
        """Makes a tty of this Linux a COM port."""
        port = self.place / "prefix/dosdevices" / f"com{number}"
        port.unlink(missing_ok=True)
        port.symlink_to(path)

    def drive_c(self) -> Path:
        """Where Windows' files are."""
        return self.place / "prefix/drive_c"

    def end(self) -> None:
        """Ends what runs in the prefix, and removes it."""
        subprocess.run(["wineserver", "-k"], env=self.environment, capture_output=True)
        shutil.rmtree(self.place, ignore_errors=True)


@functools.cache
def shared() -> Wine:
    """One prefix for all tests of this process, which takes a quarter of a minute to make."""
    wine = Wine()
    atexit.register(wine.end)
    return wine


class Responder:
    """A responder of this Linux, to its first words."""

    def __init__(self, *words: str) -> None:
        command = [os.environ["WIREGAUGE"], "serve", *words, "--quiet"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8")
        self.address = self.process.stdout.readline().strip().removeprefix("serving ")

    def __enter__(self) -> Responder:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


def json_of(run: subprocess.CompletedProcess[str]) -> dict:
    """What a command with `--json` printed."""
    return json.loads(run.stdout)
