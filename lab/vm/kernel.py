"""Debian's kernel packages, unpacked without being installed: an ELF image to boot, and modules."""

from __future__ import annotations

import lzma
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vm.places import KERNELS
from vm.progress import Doing
from vm.trouble import Trouble, run

# Debian's metapackages; each depends on the image of the version that the archive has now.
METAPACKAGES = {"std": "linux-image-amd64", "rt": "linux-image-rt-amd64"}
FLAVOURS = tuple(METAPACKAGES)


@dataclass(frozen=True)
class Kernel:
    """One unpacked kernel."""

    flavour: str
    folder: Path

    @property
    def image(self) -> Path:
        """The ELF file, booted through its PVH entry: nothing to decompress in the guest."""
        return self.folder / "vmlinux"

    @property
    def modules(self) -> Path:
        """The folder of modules.dep."""
        return next((self.folder / "lib" / "modules").iterdir())


def get(flavour: str, doing: Doing) -> Kernel:
    """The kernel of the version that Debian's package lists name now, downloaded if it is not here.

    Without package lists the newest one that is here has to do."""
    doing("looking for its version")
    try:
        package, version = current(flavour)
    except Trouble:
        here = sorted(KERNELS.glob(f"{flavour}-*"), key=lambda folder: folder.stat().st_mtime)
        if here:
            return Kernel(flavour, here[-1])
        raise
    folder = KERNELS / f"{flavour}-{package.removeprefix('linux-image-')}-{version.replace(':', '_')}"
    if not folder.is_dir():
        unpack(package, folder, doing)
    return Kernel(flavour, folder)


def current(flavour: str) -> tuple[str, str]:
    """Name and version of the image package behind the metapackage."""
    doing = f"looking for Debian's {flavour} kernel"
    printed = run(["apt-cache", "depends", METAPACKAGES[flavour]], doing)
    found = re.search(r"Depends: (linux-image-\S+)", printed)
    if not found:
        raise Trouble(f"{doing}: no package of {METAPACKAGES[flavour]}; try apt-get update")
    shown = run(["apt-cache", "show", "--no-all-versions", found[1]], doing)
    return found[1], re.search(r"^Version: (\S+)", shown, re.M)[1]


def unpack(package: str, folder: Path, doing: Doing) -> None:
    """Downloads the package and unpacks it; `folder` appears when it is complete."""
    doing(f"downloading {package}")
    KERNELS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=KERNELS) as temporary:
        place = Path(temporary)
        # apt's sandbox user may not write here, which it says on every download; it is harmless.
        run(["apt-get", "download", "-o", "APT::Sandbox::User=root", package], f"downloading {package}", cwd=place)
        doing(f"unpacking {package}")
        root = place / "root"
        run(["dpkg-deb", "-x", next(place.glob("*.deb")), root], f"unpacking {package}")
        # From Debian 13 on, modules lie under usr/.
        if not (root / "lib").exists():
            (root / "lib").symlink_to("usr/lib")
        version = next((root / "lib" / "modules").iterdir()).name
        doing("resolving its modules")
        run([tool("depmod"), "-b", root, version], f"resolving the modules of {package}")
        doing("decompressing its image")
        packed = next((root / "boot").glob("vmlinuz-*"))
        (root / "vmlinux").write_bytes(elf_of(packed))
        try:
            root.rename(folder)
        except OSError:
            if not folder.is_dir():  # another lab was faster
                raise


def tool(name: str) -> str:
    """A program that may lie where only root looks."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin") or name


def elf_of(packed: Path) -> bytes:
    """The ELF image within a bzImage."""
    data = packed.read_bytes()
    start = data.find(b"\xfd7zXZ\x00")
    if start >= 0:
        # What follows the stream is not xz: the decompressor stops by itself, lzma.decompress would not.
        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(data[start:])
    raise Trouble(f"{packed.name} is not compressed with xz; the lab knows nothing else")
