"""The notebooks run from their beginning to their end, and what is stored of them has no outputs."""

import base64
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "docs/notebooks").glob("*.ipynb"))
PICTURES = {"literature": 6}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_draws(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    # The kernel shows its figures in the notebook, not with the backend of the tests.
    monkeypatch.delenv("MPLBACKEND", raising=False)
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = [
        base64.b64decode(output["data"]["image/png"])
        for output in outputs
        if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == PICTURES[path.stem]
    assert all(len(picture) > 5_000 for picture in pictures)
    # Nothing warns, nothing prints.
    assert [output["text"] for output in outputs if output["output_type"] == "stream"] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_stored_notebook_has_no_outputs(path: Path):
    nbformat = pytest.importorskip("nbformat")
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


LIVE = """
import wiregauge as wg
import wiregauge._live as live
shown = []
draw = live.draw
def seen(figure, kind, what, slices, finished):
    shown.append((what, [end for _, end, _ in slices], 0 if finished is None else len(finished)))
    draw(figure, kind, what, slices, finished)
live.draw = seen
"""


def test_a_notebook_draws_the_running_point_and_the_finished_ones(
    address: str, monkeypatch: pytest.MonkeyPatch
):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.delenv("MPLBACKEND", raising=False)
    code = f"""{LIVE}
options = {{"in_sizes": [48, 100], "rate": 500, "duration": 3, "no_calibration": True}}
run = wg.exchange({address!r}, progress="plot", **options)
import json
print(json.dumps(shown))
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    outputs = notebook.cells[0]["outputs"]
    # One picture, which is drawn again and again.
    assert len([out for out in outputs if "image/png" in out.get("data", {})]) == 1
    assert not [out for out in outputs if "Warning" in out.get("text", "")]
    shown = json.loads("".join(out["text"] for out in outputs if out.get("name") == "stdout"))
    first = [times for what, times, _ in shown if what.startswith("point 1 of 2")]
    assert len(first) > 1, "the first point is drawn while it is measured"
    assert all(before == after[: len(before)] for before, after in pairwise(first)), "its line grows"
    assert 0 < first[0][0] < first[-1][-1]
    finished = [count for *_, count in shown]
    assert finished == sorted(finished) and finished[0] == 0 and finished[-1] == 2


BACKEND = """
from matplotlib.backend_bases import FigureManagerBase, _Backend
from matplotlib.backends.backend_agg import FigureCanvasAgg

class FigureManager(FigureManagerBase):
    shows = 0
    def show(self):
        type(self).shows += 1

class FigureCanvas(FigureCanvasAgg):
    required_interactive_framework = "headless"
    manager_class = FigureManager
    reactions = 0
    def flush_events(self):
        type(self).reactions += 1
"""


def in_python(script: str, tmp_path: Path, backend: str) -> str:
    """Run a script with a backend of matplotlib and return what it prints."""
    (tmp_path / "a_window.py").write_text(BACKEND)
    environment = {**os.environ, "MPLBACKEND": backend, "PYTHONPATH": str(tmp_path)}
    environment.pop("DISPLAY", None)
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_script_draws_in_a_window_which_may_be_closed(address: str, tmp_path: Path):
    script = f"""{LIVE}
import matplotlib.pyplot as plt
from a_window import FigureCanvas, FigureManager
run = wg.stream({address!r}, direction=["in", "both"], duration=1.5, settle="50ms", progress="plot")
assert max(len(times) for _, times, _ in shown) > 1, shown
assert FigureManager.shows == 1 and FigureCanvas.reactions >= len(shown)
left, right = plt.gcf().axes
assert [line.get_label() for line in left.lines] == ["in", "out"] and left.get_ylabel().endswith("B/s)")
assert len(right.lines) == 2
# The user closes the window in the middle of the next run.
def closed(figure, *rest):
    seen(figure, *rest)
    plt.close(figure)
live.draw = closed
run = wg.exchange({address!r}, rate=500, duration=1, no_calibration=True, progress="plot")
assert run.state == "complete"
assert FigureManager.shows == 1
"""
    in_python(script, tmp_path, "module://a_window")


def test_without_windows_a_script_measures_and_draws_nothing(address: str, tmp_path: Path):
    script = f"""{LIVE}
run = wg.exchange({address!r}, rate=500, duration=1, no_calibration=True, progress="plot")
import matplotlib.pyplot as plt
assert shown == [] and plt.get_fignums() == [] and run.state == "complete"
"""
    in_python(script, tmp_path, "Agg")


def test_losses_and_a_silent_device_are_drawn():
    import matplotlib.pyplot as plt

    from wiregauge import _live

    slices = [(0, 0.25, {"failed": 0.0, "median": 2e5, "max": 5e6}), (0, 0.5, {"failed": 3.0})]
    figure = plt.figure()
    _live.draw(figure, "exchange", "point 1 of 1", slices, None)
    (ax,) = figure.axes
    assert ax.get_ylabel() == "RTT (ms, log)"
    lines = {line.get_label(): list(line.get_ydata()) for line in ax.lines}
    assert lines["max"][0] == 5.0 and lines["max"][1] != lines["max"][1]
    assert lines["lost or wrong"] == [0.0]
    plt.close(figure)
