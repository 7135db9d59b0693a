"""MicroPython's responder held to docs/vectors/v1.json.

On CPython and on MicroPython itself, with and without machine code: the target's own files in each.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from harness import REPOSITORY

MICROPYTHON = REPOSITORY / "firmware" / "build" / "micropython" / "bin" / "micropython"
PLACE = REPOSITORY / "firmware" / "micropython"
VECTORS = REPOSITORY / "docs" / "vectors" / "v1.json"
INTERPRETERS = {
    "CPython": [sys.executable],
    "MicroPython": [str(MICROPYTHON), "-X", "heapsize=64m"],
}


# CPython has no Viper emitter.
@pytest.mark.parametrize(
    ("interpreter", "loops"),
    [("CPython", "wg_plain"), ("MicroPython", "wg_plain"), ("MicroPython", "wg_native")],
)
def test_micropython_keeps_to_the_vectors(interpreter: str, loops: str, tmp_path: Path) -> None:
    """Every list of the vectors, each stream whole and in pieces of every size."""
    script = Path(__file__).parent / "micropython_vectors.py"
    done = subprocess.run(
        [*INTERPRETERS[interpreter], str(script), str(PLACE), str(VECTORS), loops],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lists = json.loads(VECTORS.read_text())
    names = (
        "check",
        "pattern",
        "requests",
        "hello_replies",
        "invalid",
        "streams",
        "stream_pattern",
        "stream_checks",
        "answers",
    )
    # Its limit is at least that of frames within a stream.
    expected = sum(
        case.get("of") != "response" and (name != "answers" or case["max_frame"] >= 512)
        for name in names
        for case in lists[name]
    )
    assert done.stdout.split()[-2:] == [str(expected), "cases"], done.stdout
