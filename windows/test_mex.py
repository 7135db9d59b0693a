"""The MEX file for Windows: compiled by mingw-w64 with Octave's mex.h, linked with the C library, loaded under Wine.

Neither MATLAB nor Octave for Windows is here: `mex_host.c` stands in for both, with the few functions of their API that the test calls.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from pe import exports, imports, is_for_64_bit_windows, of_windows
from wine import BUILT, shared

HOME = Path(__file__).parent.parent
HEADERS = sorted(Path("/usr/include").glob("octave-*/octave/mex.h"))
GCC = "x86_64-w64-mingw32-gcc"
# As in matlab/Makefile.
FLAGS = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror"]
HOST = "mex_host.exe"


def tool(*words: str | Path) -> str:
    ended = subprocess.run(words, capture_output=True, text=True)
    if ended.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}\n{ended.stderr}")
    return ended.stdout


@unittest.skipUnless(HEADERS, "there is no mex.h of Octave (scripts/setup octave)")
class Mex(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        place = tempfile.TemporaryDirectory(prefix="wiregauge-mex-")
        cls.addClassCleanup(place.cleanup)
        cls.place = Path(place.name)
        headers = [f"-I{HEADERS[-1].parent}", f"-I{HOME / 'crates/capi/include'}"]
        objects = []
        for source in sorted((HOME / "matlab/src").glob("*.c")):
            objects.append(cls.place / f"{source.stem}.o")
            tool(GCC, *FLAGS, *headers, "-c", source, "-o", objects[-1])
        undefined = set(re.findall(r"^\s+U (mex?[A-Z]\w*|mx[A-Z]\w*)$", tool("x86_64-w64-mingw32-nm", *objects), re.MULTILINE))
        cls.asked = undefined

        # The host has all of them: its own, and one function in the place of the rest.
        host = cls.place / "host.o"
        tool(GCC, *FLAGS, *headers, "-c", HOME / "windows/mex_host.c", "-o", host)
        own = set(re.findall(r" T (\w+)$", tool("x86_64-w64-mingw32-nm", host), re.MULTILINE))
        names = [name if name in own else f"{name} = unexpected" for name in sorted(undefined)]
        (cls.place / "host.def").write_text(f"NAME {HOST}\nEXPORTS\n" + "".join(f"  {name}\n" for name in names))
        tool(GCC, "-o", cls.place / HOST, host, cls.place / "host.def")
        tool("x86_64-w64-mingw32-dlltool", "-d", cls.place / "host.def", "-l", cls.place / "host.lib")

        (cls.place / "mex.def").write_text("EXPORTS\n  mexFunction\n")
        cls.file = cls.place / "wiregauge_mex.mexw64"
        tool(
            GCC, "-shared", "-static-libgcc", "-Wl,--no-undefined", "-Wl,--gc-sections", "-o", cls.file, *objects,
            cls.place / "mex.def", BUILT / "libwiregauge_capi.a", cls.place / "host.lib", *cls.system_libraries(),
        )  # fmt: skip

    @staticmethod
    def system_libraries() -> list[str]:
        """Those that build.m names for Windows."""
        (listed,) = re.findall(r"windows_libraries = \{([^}]*)\};", (HOME / "matlab/build.m").read_text(encoding="utf-8"))
        return re.findall(r"'(-l\w+)'", listed)

    def test_it_exports_mexfunction_alone(self) -> None:
        self.assertTrue(is_for_64_bit_windows(self.file))
        self.assertEqual(exports(self.file), {"mexFunction"})

    def test_it_needs_the_api_and_dlls_of_windows_only(self) -> None:
        needed = imports(self.file)
        self.assertEqual(needed.pop(HOST), self.asked)
        self.assertEqual({name for name in needed if not of_windows(name)}, set())

    def called(self, *words: str) -> tuple[int, str]:
        wine = shared()
        beside = self.place / "bcryptprimitives.dll"
        if not beside.is_symlink():
            beside.symlink_to(BUILT / "bcryptprimitives.dll")
        ended = subprocess.run(
            ["wine", str(self.place / HOST), f"Z:{self.file}", *words],
            env=wine.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )
        self.assertEqual(ended.stderr, "")
        return ended.returncode, ended.stdout.strip()

    def test_windows_loads_it_and_the_c_library_in_it_answers(self) -> None:
        (version,) = re.findall(r'(?m)^version = "(.*)"$', (HOME / "Cargo.toml").read_text(encoding="utf-8"))
        self.assertEqual(self.called("version"), (0, version))

    def test_a_wrong_call_is_an_error_with_its_identifier(self) -> None:
        self.assertEqual(self.called("fly"), (1, "wiregauge:argument: unknown command 'fly'"))
        code, said = self.called()
        self.assertEqual(code, 1)
        self.assertTrue(said.startswith("wiregauge:argument: "), said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
