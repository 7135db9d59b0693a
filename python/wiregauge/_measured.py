"""One call of a command that measures: its runs, or an exception that carries them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Literal

from . import _call, _native
from ._live import LivePlot, NotebookCanvas, open_window
from ._progress import Meter, in_notebook
from .errors import usage
from .run import Run

Progress = bool | Literal["plot"]
"""What is shown meanwhile; ``plot``: also a live plot."""


def command(
    name: str,
    words: Sequence[str],
    values: Mapping[str, object],
    extra: Sequence[str] = (),
    *,
    progress: Progress = False,
) -> tuple[_native.Called, list[Run]]:
    """Run a command and return what it said, and its runs; the arguments are those of `_call.command`."""
    called = _call.ended(name, words, values, extra, meter(progress))
    runs = [Run(path, passing=called.passing) for path in called.runs]
    for run in runs:
        run.missed = tuple(called.missed)
    _call.raise_failure(called, runs[-1] if runs else None)
    return called, runs


def meter(progress: Progress) -> Meter:
    """Return the requested display of the progress."""
    if not (isinstance(progress, bool) or progress == "plot"):
        raise usage("progress", f"progress must be True, False or 'plot', not {progress!r}")
    if progress == "plot":
        if in_notebook():
            return LivePlot(NotebookCanvas())
        # Windows belong to the main thread.
        window = open_window() if threading.current_thread() is threading.main_thread() else None
        if window is not None:
            return LivePlot(window)
    return Meter(bool(progress))
