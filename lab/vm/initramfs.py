"""The guest's only file system: an archive in memory, written byte for byte the same every time."""

from __future__ import annotations

import io
import lzma
import shutil
import stat
import subprocess
from pathlib import Path

from vm.kernel import Kernel
from vm.trouble import Trouble

BUSYBOX_PLACES = ("/bin/busybox", "/usr/bin/busybox")


class Archive:
    """A cpio archive in the form that the kernel unpacks (`newc`), without times or owners."""

    def __init__(self) -> None:
        self.out = io.BytesIO()
        self.made: set[str] = set()
        self.number = 0

    def entry(self, name: str, mode: int, data: bytes) -> None:
        """Appends one entry; `name` without a leading slash."""
        self.number += 1
        encoded = name.encode() + b"\0"
        fields = (self.number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
        self.out.write(b"070701" + b"".join(b"%08X" % field for field in fields) + encoded)
        self.pad()
        self.out.write(data)
        self.pad()

    def pad(self) -> None:
        """Names and contents begin at multiples of four."""
        self.out.write(bytes(-self.out.tell() % 4))

    def folder(self, name: str) -> None:
        """A folder and those above it."""
        if name in ("", ".") or name in self.made:
            return
        self.folder(str(Path(name).parent))
        self.made.add(name)
        self.entry(name, stat.S_IFDIR | 0o755, b"")

    def file(self, name: str, data: bytes, mode: int = 0o755) -> None:
        """A file, with its folder."""
        self.folder(str(Path(name).parent))
        self.entry(name, stat.S_IFREG | mode, data)

    def finish(self) -> bytes:
        """The whole archive."""
        self.entry("TRAILER!!!", 0, b"")
        return self.out.getvalue()


def busybox() -> bytes:
    """A busybox that needs no libraries."""
    for place in BUSYBOX_PLACES:
        if Path(place).is_file():
            data = Path(place).read_bytes()
            if b"/ld-linux" not in data[:4096]:
                return data
    raise Trouble("no static busybox (Debian: busybox-static; scripts/setup lab brings it)")


def in_order(kernel: Kernel, wanted: list[str]) -> list[Path]:
    """The files of modules, each behind those that it needs. Modules built in need no file."""
    needs: dict[str, list[str]] = {}
    place: dict[str, str] = {}
    for line in (kernel.modules / "modules.dep").read_text().splitlines():
        path, _, rest = line.partition(":")
        needs[path] = rest.split()
        place[plain(path)] = path
    built_in = {plain(path) for path in (kernel.modules / "modules.builtin").read_text().split()}
    order: list[str] = []

    def take(path: str) -> None:
        if path not in order:
            for needed in needs[path]:
                take(needed)
            if path not in order:
                order.append(path)

    for name in wanted:
        name = name.replace("-", "_")
        if name in place:
            take(place[name])
        elif name not in built_in:
            raise Trouble(f"Debian's {kernel.flavour} kernel ({kernel.modules.name}) has no module {name}")
    return [kernel.modules / path for path in order]


def plain(path: str) -> str:
    """The name of a module as the kernel says it."""
    return Path(path).name.partition(".ko")[0].replace("-", "_")


def module_bytes(path: Path) -> bytes:
    """A module, decompressed."""
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes())
    if path.suffix == ".zst":
        if not shutil.which("zstd"):
            raise Trouble(f"{path.name} needs zstd to be unpacked")
        return subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout
    return path.read_bytes()


def make(kernel: Kernel, modules: list[str], disk: list[str], parameters: list[str], files: dict[str, bytes]) -> bytes:
    """The archive: busybox, `files`, and the modules with a list of them (each with its parameters)
    and a list of those that only the disk needs, which are loaded at the end."""
    archive = Archive()
    archive.file("bin/busybox", busybox())
    first = in_order(kernel, modules)
    lists = {"order": first, "disk": [path for path in in_order(kernel, disk) if path not in first]}
    for title, paths in lists.items():
        lines = []
        for path in paths:
            name = plain(str(path))
            archive.file(f"modules/{name}.ko", module_bytes(path), 0o644)
            own = [word.partition(".")[2] for word in parameters if word.partition(".")[0].replace("-", "_") == name]
            lines.append(" ".join([name, *own]) + "\n")
        archive.file(f"modules/{title}", "".join(lines).encode(), 0o644)
    for name, data in files.items():
        archive.file(name, data)
    for name in ("dev", "proc", "sys", "tmp", "runs", "host"):
        archive.folder(name)
    return archive.finish()
