"""What is in a program or DLL for Windows, as binutils print it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

WINDOWS_HAS = re.compile(
    r"(advapi32|avrt|bcrypt|bcryptprimitives|cfgmgr32|iphlpapi|kernel32|ktmw32|msvcrt|ntdll|ole32|oleaut32|powrprof"
    r"|setupapi|shell32|user32|userenv|winmm|winusb|ws2_32|api-ms-win-[a-z0-9-]+)\.dll"
)


def of_windows(dll: str) -> bool:
    """True of a DLL that every Windows has."""
    return WINDOWS_HAS.fullmatch(dll) is not None


def headers(file: Path) -> str:
    return subprocess.run(
        ["x86_64-w64-mingw32-objdump", "-p", file], capture_output=True, text=True, errors="replace", check=True
    ).stdout


def is_for_64_bit_windows(file: Path) -> bool:
    """True of PE32+ for x86-64."""
    said = headers(file)
    return "file format pei-x86-64" in said and bool(re.search(r"^Magic\s+020b\b", said, re.MULTILINE))


def imports(file: Path) -> dict[str, set[str]]:
    """The names it imports, by DLL in lower case."""
    tables = re.split(r"^\s*DLL Name: (\S+)$", headers(file), flags=re.MULTILINE)[1:]
    found: dict[str, set[str]] = {}
    for dll, table in zip(tables[::2], tables[1::2]):
        # The next table begins with a line of addresses, which has no name at its end.
        names = re.findall(r"^\s*[0-9a-f]+\s+(?:<none>|\d+)\s+(?:[0-9a-f]{4}\s+)?(\w+)\s*$", table, re.MULTILINE)
        found.setdefault(dll.lower(), set()).update(names)
    return found


def exports(file: Path) -> set[str]:
    """The names it exports."""
    _, _, table = headers(file).partition("[Ordinal/Name Pointer] Table")
    return set(re.findall(r"^\s*\[\s*\d+\].*?(\w+)\s*$", table.split("\n\n")[0], re.MULTILINE))
