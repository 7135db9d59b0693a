"""Progress of a command: a tqdm bar in notebooks and terminals, else a plain line on a terminal."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

SOON = 0.3
"""What is done sooner (in seconds) needs no bar."""

PARTS = 1000


Slice = tuple[int, float, dict[str, float]]
"""Of a running point: its index, the time since it began (s), and by name the figures of its last rows."""


class Meter:
    """Shows the progress of a command until the end of the ``with`` block."""

    slice_time: float | None = None
    """How often figures of the running point are wanted (s)."""

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._bar: Any = None
        self._line = False
        self._width = 0
        self._begun = time.monotonic()

    def __enter__(self) -> Meter:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the display."""
        if self._bar is not None:
            self._bar.close()
        if self._line:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def report(self, part: float, what: str, run: Path | None = None, slices: Sequence[Slice] = ()) -> None:
        """Show that `part` (0 to 1) is done, what is being done, and which run is being measured."""
        if not self._shown or time.monotonic() - self._begun < SOON:
            return
        if self._bar is None and not self._line:
            self._bar = _tqdm()
            self._line = self._bar is None and sys.stderr.isatty()
        if self._bar is not None:
            self._bar.set_description_str(what, refresh=False)
            self._bar.n = round(part * PARTS)
            self._bar.refresh()
        elif self._line:
            self._write(f"{100 * part:3.0f} %  {what}")

    def _write(self, line: str) -> None:
        # Spaces instead of an escape sequence: some consoles of Windows print those.
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)


def _tqdm() -> Any:
    """Make a bar if the output is visible."""
    if not (sys.stderr.isatty() or in_notebook()):
        return None
    try:
        with warnings.catch_warnings():
            # A notebook without ipywidgets gets a bar of text, and need not be warned.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return None
    form = "{desc} {percentage:3.0f} %|{bar}| {remaining} left"
    return tqdm(total=PARTS, bar_format=form, leave=False)


def in_notebook() -> bool:
    """Return whether this is Jupyter."""
    shell = sys.modules.get("IPython")
    return shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None
