"""The notebooks run from their beginning to their end, and what is stored of them has no outputs."""

import base64
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


def test_a_measurement_draws_its_points_while_it_goes_on(address: str, monkeypatch: pytest.MonkeyPatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.delenv("MPLBACKEND", raising=False)
    code = f"""
import wiregauge as wg
options = {{"in_sizes": [48, 100, 1000], "rate": 200, "duration": 0.5, "no_calibration": True}}
shown = []
import wiregauge._live as live
draw = live.draw
live.draw = lambda ax, kind, frame: (shown.append(len(frame)), draw(ax, kind, frame))
run = wg.exchange({address!r}, progress="plot", **options)
assert shown[-1] == 3 and shown[0] < 3 and shown == sorted(shown), shown
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    pictures = [out for out in notebook.cells[0]["outputs"] if "image/png" in out.get("data", {})]
    # One, which is drawn anew.
    assert len(pictures) == 1
