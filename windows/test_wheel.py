"""The Python package for Windows: what its wheel holds, and the wheel installed and used in a Python for Windows under Wine."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

from pe import exports, imports, is_for_64_bit_windows, of_windows
from wine import BUILT, Responder, Wine, json_of, shared

WHEEL = Path(os.environ["WHEEL"])
PYTHON = Path(os.environ["WINDOWS_PYTHON"]) / "python.exe"
MODULE = "wiregauge/_native.pyd"


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        place = tempfile.TemporaryDirectory(prefix="wiregauge-wheel-")
        cls.addClassCleanup(place.cleanup)
        cls.place = Path(place.name)
        with zipfile.ZipFile(WHEEL) as wheel:
            cls.names = wheel.namelist()
            wheel.extractall(cls.place)
        cls.module = cls.place / MODULE

    def test_it_is_for_every_cpython_from_3_11_on_64_bit_windows(self) -> None:
        self.assertRegex(WHEEL.name, r"^wiregauge-[0-9.]+-cp311-abi3-win_amd64\.whl$")
        (about,) = self.place.glob("*.dist-info/WHEEL")
        self.assertIn("Tag: cp311-abi3-win_amd64\n", about.read_text())
        self.assertIn("Root-Is-Purelib: false\n", about.read_text())

    def test_it_has_the_modules_of_the_package_and_one_that_is_native(self) -> None:
        sources = Path(__file__).parent.parent / "python"
        wanted = {str(file.relative_to(sources)) for file in (sources / "wiregauge").iterdir() if file.is_file()}
        found = {name for name in self.names if name.startswith("wiregauge/")}
        self.assertEqual(found - {MODULE}, wanted)
        self.assertIn(MODULE, found)

    def test_its_native_module_is_a_dll_of_64_bit_windows(self) -> None:
        self.assertTrue(is_for_64_bit_windows(self.module))
        self.assertEqual(exports(self.module), {"PyInit__native"})

    def test_its_native_module_needs_python3_dll_and_what_windows_has(self) -> None:
        needed = set(imports(self.module))
        self.assertIn("python3.dll", needed)
        # Neither the DLL of one version of Python, nor those of the compiler.
        self.assertEqual({name for name in needed - {"python3.dll"} if not of_windows(name)}, set())

    def test_pip_makes_the_program_of_it(self) -> None:
        (points,) = self.place.glob("*.dist-info/entry_points.txt")
        self.assertRegex(points.read_text(), r"\[console_scripts\]\s+wiregauge=wiregauge\.__main__:main\b")


@unittest.skipUnless(PYTHON.is_file(), "there is no Python for Windows (windows/fetch-python)")
class InPython(unittest.TestCase):
    wine: Wine

    @classmethod
    def setUpClass(cls) -> None:
        cls.wine = shared()
        # Python looks for what an extension module needs beside python.exe, beside the module and there.
        (cls.wine.drive_c() / "windows/system32/bcryptprimitives.dll").symlink_to(BUILT / "bcryptprimitives.dll")
        cls.prefix = cls.wine.place / "installed"
        cls.environment = {
            **cls.wine.environment,
            "PYTHONPATH": f"Z:{cls.prefix}/Lib/site-packages",
            "PYTHONUNBUFFERED": "1",
        }
        # pip of Windows, so that it is Windows' opinion whether the wheel fits.
        installed = cls.run_python(
            "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-warn-script-location",
            "--disable-pip-version-check", "--prefix", f"Z:{cls.prefix}", f"Z:{WHEEL}",
        )  # fmt: skip
        if installed.returncode != 0:
            raise AssertionError(f"pip does not install it:\n{installed.stdout}\n{installed.stderr}")

    @classmethod
    def run_python(cls, *words: str, timeout: float = 240) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["wine", str(PYTHON), *words],
            env=cls.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
        )

    def done(self, script: str, *words: str) -> dict:
        """Runs a script with these arguments; what it printed last, which is JSON."""
        begun = time.monotonic()
        ended = self.run_python("-c", f"import sys, json, wiregauge as wg\n{script}", *words)
        seconds = time.monotonic() - begun
        self.assertEqual(ended.returncode, 0, f"the script ended after {seconds:.1f} s:\n{ended.stdout}\n{ended.stderr}")
        return json.loads(ended.stdout.splitlines()[-1])

    def test_the_program_that_pip_made_runs(self) -> None:
        program = self.prefix / "Scripts/wiregauge.exe"
        self.assertTrue(is_for_64_bit_windows(program))
        ended = subprocess.run(
            ["wine", str(program), "--version"],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stdout.strip(), f"wiregauge {WHEEL.name.split('-')[1]}")

    def test_a_run_is_measured_stored_for_the_user_and_read_as_an_array(self) -> None:
        with Responder("tcp://127.0.0.1:0") as responder:
            said = self.done(
                "run = wg.exchange(sys.argv[1], in_sizes=[48, 1000], count=100, no_calibration=True)\n"
                "rows = run.samples\n"
                "print(json.dumps({'rows': len(rows), 'path': str(run.path), 'last': str(wg.load('last').path),\n"
                "    'rtt': int(rows['rtt_ns'].max()), 'in': sorted({int(n) for n in rows['bytes_in']}),\n"
                "    'kernel': run.conditions['host']['kernel'], 'text': str(run)}))",
                responder.address,
            )
        self.assertGreaterEqual(said["rows"], 200)
        self.assertGreater(said["rtt"], 0)
        self.assertEqual(said["in"], [48, 1000])
        self.assertRegex(said["path"], r"^C:\\users\\.*\\AppData\\Local\\wiregauge\\runs\\")
        self.assertEqual(said["last"], said["path"])
        self.assertRegex(said["kernel"], r"^Windows \d")
        self.assertIn("RTT", said["text"])

    def test_an_open_device_answers_one_by_one_and_in_batches(self) -> None:
        with Responder("tcp://127.0.0.1:0") as responder:
            said = self.done(
                "with wg.open(sys.argv[1]) as device:\n"
                "    one = device.exchange(b'abc', 2000)\n"
                "    batch = device.exchange_many([bytes([n]) * 16 for n in range(50)], reply_bytes=64, depth=4)\n"
                "    print(json.dumps({'one': len(one), 'batch': [len(reply) for reply in batch]}))",
                responder.address,
            )
        self.assertEqual(said, {"one": 2000, "batch": [64] * 50})

    def test_a_responder_in_python_answers_linux(self) -> None:
        script = "import sys, wiregauge as wg\nwith wg.serve('tcp://127.0.0.1:0') as address: print(address, flush=True); sys.stdin.read()"
        with subprocess.Popen(
            ["wine", str(PYTHON), "-c", script],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as server:
            address = server.stdout.readline().strip()
            measured = subprocess.run(
                [os.environ["WIREGAUGE"], "exchange", address, "--in", "48", "--count", "100", "--no-calibration",
                 "--no-store", "--json"],
                capture_output=True, encoding="utf-8", timeout=60,
            )  # fmt: skip
            # Without its input it ends.
            _, errors = server.communicate(timeout=60)
            self.assertEqual(server.returncode, 0, errors)
        self.assertEqual(measured.returncode, 0, measured.stderr)
        self.assertEqual(json_of(measured)["points"][0]["counts"]["answered"], 100)

    def test_a_campaign_keeps_two_runs_of_one_name_apart(self) -> None:
        with Responder("tcp://127.0.0.1:0") as responder:
            said = self.done(
                "plan = wg.Plan('exchange', sys.argv[1], count=30, no_calibration=True, name='board')\n"
                "refused = wg.Plan('exchange', 'serial://COM77', count=30, no_calibration=True)\n"
                "results = wg.campaign([plan, plan, refused], store=sys.argv[2]).results()\n"
                "print(json.dumps([result.run.path.name if result.ok else str(result.error) for result in results]))",
                responder.address, f"Z:{self.wine.place}/campaign",
            )  # fmt: skip
        self.assertEqual(said[:2], ["board", "board-2"])
        self.assertIn("COM77", said[2])
        self.assertEqual(sorted(place.name for place in (self.wine.place / "campaign").iterdir()), ["board", "board-2"])

    def test_ctrl_c_keeps_what_was_measured(self) -> None:
        """As a Python thread raises it, which takes the way of Ctrl-C from there on."""
        with Responder("tcp://127.0.0.1:0") as responder:
            said = self.done(
                "import _thread, pathlib, threading, time\n"
                "store = pathlib.Path(sys.argv[2])\n"
                "def interrupt():\n"
                "    while not list(store.glob('samples/*.rows')): time.sleep(0.05)\n"
                "    _thread.interrupt_main()\n"
                "threading.Thread(target=interrupt, daemon=True).start()\n"
                "try: wg.exchange(sys.argv[1], duration=60, no_calibration=True, store=store)\n"
                "except KeyboardInterrupt as end: print(json.dumps({'path': str(end.run.path), 'state': end.run.state}))",
                responder.address, f"Z:{self.wine.place}/interrupted from Python",
            )  # fmt: skip
        self.assertEqual(said["state"], "interrupted")
        self.assertIn("interrupted from Python", said["path"])

    def test_what_windows_does_not_have_is_refused_with_the_reason(self) -> None:
        wanted = {
            "wg.open('can://can0')": "SocketCAN",
            "wg.serve('pty:')": "pseudo-terminal",
            "wg.open('unix:///tmp/x')": "Unix socket",
            "wg.open('serial://COM77')": "COM77",
        }
        said = self.done(
            "said = []\n"
            "for call in sys.argv[1:]:\n"
            "    try: eval(call)\n"
            "    except wg.Error as error: said.append(str(error))\n"
            "print(json.dumps(said))",
            *wanted,
        )
        self.assertEqual(len(said), len(wanted), said)
        for error, words in zip(said, wanted.values()):
            self.assertIn(words.lower(), error.lower())


if __name__ == "__main__":
    unittest.main(verbosity=2)
