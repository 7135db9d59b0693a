"""The program that comes with the package is the binary, under Python; functions print nothing."""

import json
import os
import pty
import shutil
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from conftest import PROGRAM, in_a_moment, program

import wiregauge as wg
from wiregauge import _native


def a_terminal() -> tuple[int, int]:
    control, terminal = pty.openpty()
    termios.tcsetwinsize(control, (24, 100))
    return control, terminal


def all_of(control: int) -> bytes:
    """Read what a terminal shows, until its program has ended."""
    seen = b""
    try:
        while block := os.read(control, 65536):
            seen += block
    except OSError:
        pass
    os.close(control)
    return seen


def test_it_is_installed_under_its_name():
    beside = Path(sys.executable).with_name("wiregauge")
    if not beside.exists():
        pytest.skip("the package is not installed beside this Python")
    said = subprocess.run([beside, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"wiregauge {wg.__version__}\n"


def test_help_version_and_mistakes_have_the_exit_codes_of_the_binary():
    assert program("--version").stdout == f"wiregauge {wg.__version__}\n"
    helped = program("help", "exchange")
    assert helped.returncode == 0 and "--keep-data" in helped.stdout
    wrong = program("exchange", "tcp://127.0.0.1:7", "--no-such")
    assert wrong.returncode == 2 and "--no-such" in wrong.stderr and wrong.stdout == ""
    assert program().returncode == 2
    assert program("show", "no-such-run").returncode == 2


def test_a_reader_that_has_seen_enough_is_no_failure(stored):
    command = f"{' '.join(PROGRAM)} export {stored.path} --csv - | head -n 2; echo ${{PIPESTATUS[0]}}"
    said = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    lines = said.stdout.splitlines()
    assert lines[0].startswith("point,") and lines[2] == "0" and said.stderr == ""


def test_it_measures_and_decides_by_exit_code(address):
    ended = program("exchange", address, "--count", "20", "--require", "max<1ns")
    assert ended.returncode == 1 and "limit missed: max<1ns" in ended.stderr and "RTT" in ended.stdout
    run = json.loads(program("show", "last", "--json").stdout)
    assert run["conditions"]["command"][1:3] == ["exchange", address]


def test_it_has_colours_and_a_bar_on_a_terminal_only(address):
    control, terminal = a_terminal()
    command = [*PROGRAM, "exchange", address, "--duration", "1s"]
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        seen = all_of(control)
        process.wait(20)
    assert process.returncode == 0
    assert b"point 1 of 1" in seen and b"\x1b[" in seen
    assert "\x1b[" not in program("show", "last").stdout


def test_the_demo_prints_nothing_and_can_be_ended(capfd, tmp_path):
    # All of it takes half a minute; `make demo` runs it.
    in_a_moment(runs=tmp_path / "demo")
    with pytest.raises(wg.Interrupted) as caught:
        wg.demo(store=tmp_path / "demo", progress=False)
    run = caught.value.run
    assert run.address.startswith("serial:") and run.state == "interrupted"
    assert len(run.samples) > 1
    assert capfd.readouterr() == ("", "")


def test_functions_print_nothing(stored, streamed, looped, address, capfd, tmp_path):
    run = wg.exchange(address, count=20, require="max<1ns")
    wg.stream(address, duration=0.5, settle="1ms")
    wg.loop("virtual", rate="100k", notify="1k", duration=0.05, settle="1ms", no_calibration=True)
    wg.show(run)
    wg.explain(run)
    wg.compare(stored, run, fail_if="lost > 1% more")
    wg.report(run)
    wg.export(run, json=tmp_path / "x.json")
    wg.runs()
    wg.devices()
    with pytest.raises(wg.Error):
        wg.exchange("tcp://127.0.0.1:7:7")
    assert capfd.readouterr() == ("", "")


SHOWS = """
import sys
if {without}: sys.modules["tqdm"] = sys.modules["tqdm.auto"] = None
import wiregauge as wg
wg.exchange({address!r}, duration=1.2, no_calibration=True, progress={progress})
"""


@pytest.mark.parametrize("without", [False, True])
@pytest.mark.parametrize("progress", [False, True])
def test_progress_is_shown_on_a_terminal_with_tqdm_or_without(address, without, progress):
    control, terminal = a_terminal()
    script = SHOWS.format(without=without, address=address, progress=progress)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=terminal) as process:
        os.close(terminal)
        seen = all_of(control)
        assert process.stdout.read() == b""
    text = seen.decode()
    if not progress:
        assert text == ""
    else:
        assert "point 1 of 1" in text and "%" in text
        assert ("left" in text) is not without


RUNNING = {
    "exchange": ("--rate=500 --duration=1s --no-calibration", {"median", "max", "failed"}),
    "stream": ("--direction=both --duration=1s", {"in", "out"}),
    "loop": ("--rate=100k --notify=1k --duration=1s --no-calibration", {"median", "max", "failed"}),
}


@pytest.mark.parametrize("kind", RUNNING)
@pytest.mark.parametrize("slice_time", [None, 0.1])
def test_figures_of_the_running_point_are_reported_if_they_are_wanted(kind, slice_time, address):
    flags, names = RUNNING[kind]
    slices = []

    def report(part, what, run, figures):
        slices.extend(figures)

    words = [kind, *flags.split(), "--quiet", "virtual" if kind == "loop" else address]
    assert _native.call(words, PROGRAM, report, slice_time).outcome == "done"
    assert bool(slices) == (slice_time is not None)
    ends = [end for _, end, _ in slices]
    assert ends == sorted(ends)
    for point, end, figures in slices:
        assert point == 0 and end > 0
        assert set(figures) == names
        assert figures.get("median", 0) <= figures.get("max", 0)


def test_a_loop_over_a_device_in_a_process_of_its_own_needs_no_binary():
    run = wg.loop(
        "virtual:process",
        rate="1M",
        notify=10_000,
        ring=4_000_000,
        preload=400_000,
        duration=0.3,
        settle="50ms",
        no_calibration=True,
    )
    assert run.points[0]["blocks"] > 5
    ended = program("loop", "virtual:process", "--rate", "1M", "--duration", "200ms", "--no-calibration")
    assert ended.returncode == 0, ended.stderr


def test_progress_is_silent_where_there_is_no_terminal(address):
    script = SHOWS.format(without=False, address=address, progress=True)
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stderr == said.stdout == ""


def test_other_peoples_programs_are_measured_too(echo_tty):
    run = wg.exchange(echo_tty, protocol="echo", out_sizes=[1, 64], count=20)
    assert [point["counts"]["answered"] for point in run.points] == [20, 20]


def test_a_modelled_board_on_a_pseudo_terminal_and_the_binary_as_responder():
    with wg.serve("pty:", bus="full-speed", service_time=700e-6) as board:
        run = wg.exchange(board, in_sizes=48, depth=[1, 4], duration=1)
    # A host that stops for a while makes the mean longer, and hardly the median.
    one, four = run.table()["trt_p50_ns"]
    assert one > 1.5 * four
    binary = shutil.which("wiregauge") or PROGRAM[0]
    command = [
        binary,
        *(PROGRAM[1:] if binary == PROGRAM[0] else []),
        "serve",
        "udp://127.0.0.1:0",
        "--quiet",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().split()[1]
        assert wg.exchange(address, count=20).points[0]["counts"]["answered"] == 20
        process.terminate()
