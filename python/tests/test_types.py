"""The types of the public API are complete for mypy and pyright; a program that uses them has no error."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from pathlib import Path

import numpy as np
import wiregauge as wg


def measure(address: str) -> float:
    run = wg.exchange(address, in_sizes=[48, 1000], depth=np.arange(1, 4), timeout="250ms", count=100)
    try:
        run.summary().to_csv("summary.csv")
    except wg.UsageError as error:
        print(error.argument, error.run)
    page: Path = run.report("page.html")
    axes = run.plot()
    axes.set_title(str(page))
    deadline = run.deadline(period=1e-3)
    return float(deadline.table()["share"].max())


def talk(address: str) -> list[bytes]:
    with wg.open(address, framing=wg.Terminator(b"\\n")) as device:
        device.write("*RST")
        identity: str = device.query("*IDN?")
        reply: bytes = device.exchange(identity)
        size: int = device.exchange(reply, into=bytearray(64))
        replies = device.exchange_many(["a", "b"], depth=2)
        assert size == replies.shape[1]
        cycles = device.control(wg.Gain(0.5), period="2ms", cycles=10, request=b"12345678")
        assert cycles["status"][0] == wg.CycleStatus.OK
        return list(device.pipeline([b"1", "2"]))


def many(boards: list[str]) -> list[wg.Run]:
    plans = [wg.Plan("exchange", board, count=10) for board in boards]
    return [result.run for result in wg.campaign(plans) if result.ok]


try:
    measure("tcp://127.0.0.1:7700")
except wg.Interrupted as interrupted:
    print(interrupted.path)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_a_typed_program_has_no_error_for_mypy(program):
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--config-file=", str(program)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=program.parent)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def pyright() -> list[str]:
    """Pyright, which fetches itself for the package of that name: not where it cannot."""
    pytest.importorskip("pyright")
    command = [sys.executable, "-m", "pyright"]
    if subprocess.run([*command, "--version"], capture_output=True).returncode != 0:
        pytest.skip("pyright cannot be fetched")
    return [*command, "--pythonpath", sys.executable, "--outputjson"]


def test_a_typed_program_has_no_error_for_pyright(pyright, program):
    ended = subprocess.run([*pyright, str(program)], capture_output=True, text=True)
    found = json.loads(ended.stdout)["generalDiagnostics"]
    assert [one["message"] for one in found] == []


def test_the_types_of_the_public_api_are_complete_for_pyright(pyright):
    command = [*pyright, "--verifytypes", "wiregauge", "--ignoreexternal"]
    # Which packages there are, it asks the python of the PATH, whatever --pythonpath says.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PATH": path})
    found = json.loads(ended.stdout)["typeCompleteness"]
    unknown = [one["name"] for one in found["symbols"] if one["isExported"] and not one["isTypeKnown"]]
    assert unknown == []
    assert found["completenessScore"] == 1.0
