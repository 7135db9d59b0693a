"""wiregauge.exe under Wine: the links, the commands, and what a user of Windows would meet first.

Wine's scheduler is not Windows': times are compared with those of a small C program in the same run, and otherwise not looked at.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import time
import unittest

from wine import Responder, Wine, json_of, shared


class Windows(unittest.TestCase):
    wine: Wine

    @classmethod
    def setUpClass(cls) -> None:
        cls.wine = shared()

    def done(self, *words: str, code: int = 0):
        """Runs wiregauge.exe, which must end with this code."""
        ended = self.wine.run(*words)
        self.assertEqual(ended.returncode, code, f"{words}\n{ended.stdout}\n{ended.stderr}")
        return ended

    def exchanges(self, *words: str) -> dict:
        """The only point of an exchange run: nothing lost."""
        value = json_of(self.done("exchange", *words, "--json", "--no-calibration", "--no-store"))
        (point,) = value["points"]
        self.assertEqual((point["counts"]["lost"], point["counts"]["corrupted"]), (0, 0), point["counts"])
        return value

    def test_every_wait_measures_over_tcp(self) -> None:
        with Responder("tcp://127.0.0.1:0") as responder:
            for wait in ("block", "poll", "spin"):
                with self.subTest(wait):
                    value = self.exchanges(responder.address, "--in", "48", "--count", "200", "--wait", wait)
                    self.assertEqual(value["points"][0]["counts"]["answered"], 200)

    def test_several_requests_outstanding_and_large_responses_over_tcp(self) -> None:
        with Responder("tcp://127.0.0.1:0") as responder:
            self.exchanges(responder.address, "--out", "20000", "--in", "100000", "--depth", "8", "--count", "100")

    def test_a_new_connection_for_each_exchange(self) -> None:
        with Responder("tcp://127.0.0.1:0") as responder:
            self.exchanges(responder.address, "--connect", "each", "--count", "50")

    def test_datagrams(self) -> None:
        with Responder("udp://127.0.0.1:0") as responder:
            self.exchanges(responder.address, "--in", "500", "--depth", "4", "--count", "200")

    def test_a_com_port_answers(self) -> None:
        with Responder("pty:") as responder:
            self.wine.com_port(5, responder.address.removeprefix("serial://"))
            value = self.exchanges("serial://COM5", "--in", "48", "--depth", "2", "--count", "200")
            self.assertEqual(value["points"][0]["counts"]["answered"], 200)

    def test_streams_are_counted_at_both_ends(self) -> None:
        with Responder("tcp://127.0.0.1:0") as tcp, Responder("pty:") as pty:
            self.wine.com_port(6, pty.address.removeprefix("serial://"))
            for address in (tcp.address, "serial://COM6"):
                for direction in ("in", "out"):
                    with self.subTest(address, direction=direction):
                        ended = self.done(
                            "stream", address, "--direction", direction, "--transfer", "4096",
                            "--duration", "300ms", "--json", "--no-store",
                        )  # fmt: skip
                        (point,) = json_of(ended)["points"]
                        (flow,) = point["flows"]
                        self.assertGreater(flow["counts"]["received"], 0)
                        self.assertEqual((flow["counts"]["lost"], flow["counts"]["corrupted"]), (0, 0))

    def test_a_responder_on_windows_answers_linux(self) -> None:
        for scheme in ("tcp", "udp"):
            with self.subTest(scheme):
                server = self.wine.start("serve", f"{scheme}://127.0.0.1:0", "--quiet")
                try:
                    address = server.stdout.readline().strip().removeprefix("serving ")
                    measured = subprocess.run(
                        [os.environ["WIREGAUGE"], "exchange", address, "--in", "48", "--count", "100",
                         "--no-calibration", "--no-store", "--json"],
                        capture_output=True, encoding="utf-8", timeout=60,
                    )  # fmt: skip
                    self.assertEqual(measured.returncode, 0, measured.stderr)
                    self.assertEqual(json_of(measured)["points"][0]["counts"]["answered"], 100)
                finally:
                    server.kill()
                    server.communicate()

    def test_runs_are_stored_in_the_folder_of_the_user_and_found_again(self) -> None:
        with Responder("tcp://127.0.0.1:0") as responder:
            for count in ("300", "301"):
                self.done("exchange", responder.address, "--count", count, "--no-calibration")
        stored = list(self.wine.drive_c().glob("users/*/AppData/Local/wiregauge/runs/*/run.json"))
        self.assertGreaterEqual(len(stored), 2)
        self.assertIn("tcp-127.0.0.1", self.done("runs").stdout)
        self.assertRegex(self.done("show", "last").stdout, r"RTT in .s")
        self.done("explain", "last")
        page = self.wine.place / "a page.html"
        self.done("report", "last", "-o", f"Z:{page}")
        self.assertIn("<html", page.read_text(encoding="utf-8"))
        names = [line.split()[0] for line in self.done("runs").stdout.splitlines() if "tcp-127" in line]
        self.assertGreaterEqual(len(names), 2)
        self.done("compare", *names[:2])

    def test_a_run_is_judged_and_exported(self) -> None:
        run = f"Z:{self.wine.place / 'a run'}"
        with Responder("tcp://127.0.0.1:0") as responder:
            self.done("exchange", responder.address, "--in", "48", "--count", "2000", "--no-calibration", "--store", run)
        judged = json_of(self.done("deadline", run, "--period", "100ms", "--json"))
        self.assertEqual(judged["points"][0]["missed"], 0)
        missed = self.done("deadline", run, "--period", "1us", "--require", "missed<0.1%", code=1)
        self.assertIn("limit missed: missed<0.1%", missed.stderr)
        self.done("control", run, "--plant", "1/(s+1)", "--pid", "1,1,0", "--period", "100ms")
        table = self.wine.place / "samples.csv"
        self.done("export", run, "--csv", f"Z:{table}")
        self.assertEqual(len(table.read_text().splitlines()), 2002, "a heading, the first exchange and 2,000")

    def test_the_best_setting_is_found_and_confirmed(self) -> None:
        with Responder("tcp://127.0.0.1:0") as responder:
            found = json_of(
                self.done(
                    "tune", responder.address, "--maximise", "exchanges", "--in", "48", "--depth", "1,2,4", "--count", "300",
                    "--no-store", "--json",
                )
            )  # fmt: skip
        self.assertIn(found["best"]["depth"], (1, 2, 4))

    def test_limits_and_devices_are_listed(self) -> None:
        self.assertIn("15,872,000", self.done("limits", "usb", "--speed", "high").stdout)
        self.done("devices")

    def test_priority_processor_and_memory_are_set_and_stored(self) -> None:
        with Responder("tcp://127.0.0.1:0") as responder:
            host = self.exchanges(
                responder.address, "--count", "10", "--priority", "20", "--pin", "0", "--lock-memory"
            )["conditions"]["host"]  # fmt: skip
        self.assertEqual(host["affinity"], [0])
        self.assertTrue(host["memory_locked"])
        self.assertIn("TIME_CRITICAL", host["policy"])

    def test_conditions_name_the_system_and_the_clock(self) -> None:
        with Responder("tcp://127.0.0.1:0") as responder:
            host = self.exchanges(responder.address, "--count", "10")["conditions"]["host"]
        self.assertRegex(host["kernel"], r"^Windows \d+\.\d+")
        self.assertRegex(host["clock_source"], r"^QueryPerformanceCounter, \d+ ns$")
        self.assertGreater(host["processors"], 0)
        self.assertTrue(host["cpu"])

    def test_what_windows_does_not_have_is_refused_with_the_reason(self) -> None:
        for words, code, said in [
            (["serve", "pty:"], 2, "pseudo-terminal"),
            (["exchange", "can://can0", "--request-id", "1", "--response-id", "2"], 2, "SocketCAN"),
            (["exchange", "unix:///tmp/x"], 2, "Unix socket"),
            (["exchange", "serial://COM77"], 3, "COM77"),
            (["exchange", "tcp://127.0.0.1:1"], 3, "refuse"),
            (["serve", "usb-gadget"], 2, "Linux"),
            (["doctor", "serial://COM77"], 3, "COM77"),
            (["doctor", "--only", "governor"], 2, "power-plan"),
        ]:
            with self.subTest(words):
                ended = self.wine.run(*words)
                self.assertEqual(ended.returncode, code, ended.stderr)
                self.assertIn(said.lower(), ended.stderr.lower())

    def test_doctor_examines_this_host(self) -> None:
        for words in (["doctor"], ["doctor", "tcp://127.0.0.1:7"]):
            with self.subTest(words):
                found = json_of(self.done(*words, "--json"))["findings"]
                for one in found:
                    self.assertIn(one["level"], ("good", "unknown", "note", "problem"))
                    if one["level"] in ("note", "problem"):
                        self.assertTrue(one["evidence"] and one["remedy"] and one["cost"], one)
                # Wine has a timer and a registry, and no power plans.
                (timer,) = [one for one in found if one["check"] == "timer-resolution"]
                self.assertNotEqual(timer["level"], "unknown", timer)
                self.assertRegex(" ".join(timer["evidence"]), r"timer interrupt every [\d.]+ ms; default .*Windows build \d+")
                (plan,) = [one for one in found if one["check"] == "power-plan"]
                self.assertTrue(plan["evidence"], plan)

    def test_doctor_changes_and_restores_the_latency_timer_of_an_ftdi_adapter(self) -> None:
        enum = r"HKLM\SYSTEM\CurrentControlSet\Enum\FTDIBUS\VID_0403+PID_6001+A50285BIA\0000"
        key = enum + r"\Device Parameters"

        def timer() -> int:
            (line,) = [line for line in self.wine.reg("query", key).splitlines() if "LatencyTimer" in line]
            return int(line.split()[-1], 16)

        with Responder("pty:") as responder:
            # What Wine shows as a port that is attached, and what FTDI's driver keeps of it.
            tty = responder.address.removeprefix("serial://")
            self.wine.reg("add", r"HKLM\Software\Wine\Ports", "/v", "COM7", "/d", tty, "/f")
            self.wine.reg("add", enum, "/v", "FriendlyName", "/d", "USB Serial Port (COM7)", "/f")
            self.wine.reg("add", key, "/v", "PortName", "/d", "COM7", "/f")
            self.wine.reg("add", key, "/v", "LatencyTimer", "/t", "REG_DWORD", "/d", "16", "/f")
            found = json_of(self.done("doctor", "serial://COM7", "--only", "ftdi-latency", "--json"))["findings"]
            self.assertEqual([(one["check"], one["level"]) for one in found], [("ftdi-latency", "problem")])
            self.assertEqual(timer(), 16, "nothing is changed unasked")
            said = self.done("doctor", "serial://COM7").stdout
            self.assertTrue(said.startswith("connection: COM7: USB Serial Port (COM7), latency timer 16 ms"), said)

            fixed = self.done("doctor", "--only", "ftdi-latency", "--fix").stdout
            self.assertIn(r"\LatencyTimer: 16 -> 1", fixed)
            self.assertEqual(timer(), 1)
            again = json_of(self.done("doctor", "--only", "ftdi-latency", "--fix", "--json"))
            self.assertEqual((again["findings"][0]["level"], again["changes"]), ("good", []))
            restored = self.done("doctor", "--undo").stdout
            self.assertIn(r"\LatencyTimer: 1 -> 16", restored)
            self.assertEqual(timer(), 16)
            self.assertIn("nothing to undo", self.done("doctor", "--undo").stdout)

            # What another program changed meanwhile is left.
            self.done("doctor", "--only", "ftdi-latency", "--fix")
            self.wine.reg("add", key, "/v", "LatencyTimer", "/t", "REG_DWORD", "/d", "4", "/f")
            self.assertIn("4, changed by another program", self.done("doctor", "--undo").stdout)
            self.assertEqual(timer(), 4)

    def test_ctrl_c_keeps_the_samples(self) -> None:
        run = self.wine.place / "interrupted run"
        with Responder("tcp://127.0.0.1:0") as responder:
            going = self.wine.start(
                "exchange", responder.address, "--duration", "60s", "--no-calibration", "--store", f"Z:{run}", "--quiet"
            )  # fmt: skip
            # Before the first point there would be nothing to keep.
            until = time.monotonic() + 60
            while not list(run.glob("samples/*.rows")) and time.monotonic() < until:
                time.sleep(0.05)
            going.send_signal(signal.SIGINT)
            out, errors = going.communicate(timeout=60)
        self.assertEqual(going.returncode, 130, out + errors)
        kept = json_of(self.done("show", f"Z:{run}", "--json"))
        self.assertEqual(kept["state"], "interrupted")
        self.assertTrue(list(run.glob("samples/*.parquet")), "the samples are a file that can be read")

    def test_a_closed_loop_runs_on_the_virtual_devices(self) -> None:
        for device in ("virtual", "virtual:thread"):
            with self.subTest(device):
                self.done("loop", device, "--rate", "100k", "--notify", "4096", "--duration", "300ms", "--no-store")

    def test_no_timer_lengthens_an_exchange_beyond_that_of_a_small_c_program(self) -> None:
        """Interleaved, so that both meet the same host; the smallest ratio is the one that the host disturbed least."""
        with Responder("tcp://127.0.0.1:0", "--protocol", "echo") as responder:
            port = responder.address.rpartition(":")[2]
            ratios = []
            for _ in range(int(os.environ.get("PAIRS", "3"))):
                floor = float(self.wine.run(port, "100", "2000", program="floor.exe").stdout)
                value = self.exchanges(
                    responder.address, "--protocol", "echo", "--out", "100", "--in", "100", "--count", "2000"
                )  # fmt: skip
                ratios.append(value["points"][0]["rtt"]["p50"]["value"] / 1000 / floor)
        all_of_them = ", ".join(f"{ratio:.2f}" for ratio in sorted(ratios))
        print(f"RTT over that of a C program, interleaved pairs: {all_of_them}; median {statistics.median(ratios):.2f}")
        # Wine's own medians differ by half from one start to the next. What this finds is a timer in the path: those tick
        # every millisecond or later, which is ten of these RTTs.
        self.assertLess(min(ratios), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
