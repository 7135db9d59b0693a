"""One call of a command: its words, its progress, its end, as a run or an exception."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from . import _values as v
from ._progress import meter
from ._words import in_python
from .errors import interrupted, of_failure

if TYPE_CHECKING:
    from .run import Run

PROGRAM = [sys.executable, "-P", "-m", "wiregauge"]
"""What starts wiregauge once more, for what has to be a process of its own."""


def command(
    name: str,
    words: Sequence[str],
    values: Mapping[str, object] | None = None,
    extra: Sequence[str] = (),
    *,
    progress: bool | Literal["plot"] = False,
) -> tuple[_native.Called, list[Run]]:
    """Run a command and return its results; raise its error.

    Parameters
    ----------
    name
        The command.
    words
        Its positional arguments.
    values
        Its arguments by name; others are ignored.
    extra
        Further flags.
    progress
        Show the progress; ``plot`` also as a plot.
    """
    typed = [name, *v.flags(name, values or {}), *extra]
    # What begins with a hyphen would be taken for a flag.
    typed += ["--", *words] if any(word.startswith("-") for word in words) else words
    with meter(progress) as shown:
        called = _native.call(typed, PROGRAM, shown.report, shown.slice_time)
    runs = runs_of(called)
    run = runs[-1] if runs else None
    raised = called.raised
    if isinstance(raised, KeyboardInterrupt):
        raise interrupted(run) from None
    if raised is not None:
        raise raised
    if called.failure is not None:
        raise of_failure(called.failure, run)
    return called, runs


def runs_of(called: _native.Called) -> list[Run]:
    """Make runs of the directories that a call left behind."""
    from .run import Run

    runs = [Run(path, passing=called.passing) for path in called.runs]
    for run in runs:
        run.missed = tuple(called.missed)
    return runs


def said(called: _native.Called) -> str:
    """Return what a command said."""
    return called.said.decode()


def text(called: _native.Called) -> str:
    """Return what a command said to a person, with functions and arguments instead of commands and flags."""
    return in_python(said(called))


def answer(called: _native.Called) -> Any:
    """Return what a command said as JSON."""
    return json.loads(called.said)


def place(run: Run | v.Path) -> str:
    """Return the word for a run that a command understands."""
    from .run import Run

    if isinstance(run, Run):
        return str(run.path)
    return v.path("run", run)[0]
