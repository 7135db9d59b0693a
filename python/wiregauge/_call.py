"""One call of a command: its words, what it said, or an exception."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from . import _values as v
from ._progress import Meter
from ._words import in_python
from .errors import interrupted, of_failure

PROGRAM = [sys.executable, "-P", "-m", "wiregauge"]
"""What starts wiregauge once more, for what has to be a process of its own."""


def command(
    name: str,
    words: Sequence[str],
    values: Mapping[str, object] | None = None,
    extra: Sequence[str] = (),
    *,
    progress: bool = False,
) -> _native.Called:
    """Run a command that measures nothing and return what it said; raise its error.

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
        Show the progress.
    """
    called = ended(name, words, values, extra, Meter(progress))
    raise_failure(called)
    return called


def ended(
    name: str,
    words: Sequence[str],
    values: Mapping[str, object] | None,
    extra: Sequence[str],
    meter: Meter,
) -> _native.Called:
    """Run a command until its end, with its progress; its error is in what is returned."""
    typed = [name, *v.flags(name, values or {}), *extra]
    # What begins with a hyphen would be taken for a flag.
    typed += ["--", *words] if any(word.startswith("-") for word in words) else words
    with meter as shown:
        return _native.call(typed, PROGRAM, shown.report, shown.slice_time)


def raise_failure(called: _native.Called, run: Any = None) -> None:
    """Raise the error that ended a command, with the run that it had measured."""
    raised = called.raised
    if isinstance(raised, KeyboardInterrupt):
        raise interrupted(run) from None
    if raised is not None:
        raise raised
    if called.failure is not None:
        raise of_failure(called.failure, run)


def said(called: _native.Called) -> str:
    """Return what a command said."""
    return called.said.decode()


def text(called: _native.Called) -> str:
    """Return what a command said to a person, with functions and arguments instead of commands and flags."""
    return in_python(said(called))


def answer(called: _native.Called) -> Any:
    """Return what a command said as JSON."""
    return json.loads(called.said)


def place(run: v.Path) -> str:
    """Return the word for a run that a command understands; a `Run` is a path."""
    return v.path("run", run)[0]
