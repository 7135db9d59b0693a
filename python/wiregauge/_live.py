"""A plot of a run while it is measured: the running point over time, and the finished points."""

from __future__ import annotations

import io
import math
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._axes import COLOURS, rate_unit, time_unit
from ._optional import need
from ._progress import Meter, Slice
from .run import Run

if TYPE_CHECKING:
    import pandas as pd

_LINES = {
    "exchange": ("RTT", ["rtt_p50_ns", "rtt_p99_ns"]),
    "stream": ("throughput", ["rate_bytes_s"]),
    "loop": ("service delay", ["service_p50_ns", "service_p99_ns"]),
}
_COLOUR = {
    **{name: COLOURS[0] for name in ("median", "p50", "in")},
    **{name: COLOURS[4] for name in ("max", "p99", "out")},
}
"""Of each line, the same in both halves."""

_FAILED = {"exchange": "lost or wrong", "loop": "xrun"}

_SLICES = 2400
"""Slices of the running point that are drawn: the last 10 minutes."""

_SIZE = (9.0, 3.2)
"""Of the figure (inches)."""

_IDLE = 2
"""Drawing takes at most one part in 1 + this of the time of a processor."""


class LivePlot(Meter):
    """A bar, and a plot that is drawn again whenever there is something new. The plot stays at the end."""

    slice_time = 0.25

    def __init__(self, canvas: NotebookCanvas | Window) -> None:
        super().__init__(True)
        # Else it would be missed in the middle of the measurement, and end it.
        need("pandas", "a plot of the progress")
        self._canvas = canvas
        self._run: Path | None = None
        self._what = ""
        self._point = -1
        self._slices: deque[Slice] = deque(maxlen=_SLICES)
        self._kind = ""
        self._finished: pd.DataFrame | None = None
        self._next = 0.0
        self._warm_up()

    def _warm_up(self) -> None:
        """Draw once before the measurement: the first time takes much longer, for example to find fonts."""
        _draw_slices(self._canvas.figure.subplots(), "exchange", [(0, 0.0, {"median": 1.0, "max": 2.0})])
        self._canvas.figure.savefig(io.BytesIO())
        self._canvas.figure.clear()

    def report(self, part: float, what: str, run: Path | None = None, slices: Sequence[Slice] = ()) -> None:
        """Show the progress; draw what is new."""
        super().report(part, what, run)
        self._run = run
        is_new = bool(slices)
        for piece in slices:
            if piece[0] != self._point:
                self._point = piece[0]
                self._slices.clear()
            self._slices.append(piece)
        if run is not None and what != self._what:
            self._what = what
            self._read()
            is_new = is_new or self._finished is not None
        if is_new and time.monotonic() >= self._next:
            self._draw()
        self._canvas.react()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Draw the last point, and remove the bar."""
        if self._run is not None:
            self._read()
            self._draw()
        super().__exit__(kind, error, trace)

    def _draw(self) -> None:
        if self._kind not in _LINES or not (self._slices or self._finished is not None):
            return
        begun = time.thread_time()
        self._canvas.figure.clear()
        draw(self._canvas.figure, self._kind, self._what, list(self._slices), self._finished)
        self._canvas.show()
        self._next = time.monotonic() + _IDLE * (time.thread_time() - begun)

    def _read(self) -> None:
        """Read the finished points, if the run has any."""
        try:
            run = Run(self._run) if self._run is not None else None
        except ValueError:
            # It was removed, because nothing was measured.
            return
        if run is not None:
            self._kind = run.kind
            self._finished = run.summary() if run.points else None


class NotebookCanvas:
    """A figure in the output of a cell of Jupyter."""

    def __init__(self) -> None:
        self._ipython = need("IPython.display", "a plot of the progress")
        self._handle: Any = None
        # Not of pyplot, so that no backend shows it once more at the end of the cell.
        self.figure = need("matplotlib.figure", "a plot of the progress").Figure(figsize=_SIZE)

    def show(self) -> None:
        """Show the figure as it is now."""
        picture = io.BytesIO()
        self.figure.savefig(picture, format="png")
        image = self._ipython.Image(picture.getvalue())
        if self._handle is None:
            self._handle = self._ipython.display(image, display_id=True)
        else:
            self._handle.update(image)

    def react(self) -> None:
        """Nothing to do: the browser handles its own events."""


class Window:
    """A window of matplotlib. It stays open at the end; the user may close it earlier."""

    def __init__(self, figure: Any) -> None:
        self.figure = figure
        self._shown = False

    @property
    def _is_open(self) -> bool:
        pyplot = need("matplotlib.pyplot", "a plot of the progress")
        return bool(pyplot.fignum_exists(self.figure.number))

    def show(self) -> None:
        """Show the figure as it is now."""
        if not self._is_open:
            return
        if not self._shown:
            self._shown = True
            self.figure.show()
        self.figure.canvas.draw()
        self.figure.canvas.flush_events()

    def react(self) -> None:
        """Let the window react to the mouse, to resizing and closing."""
        if self._shown and self._is_open:
            self.figure.canvas.flush_events()


def open_window() -> Window | None:
    """Make a window; None if matplotlib has none here, for example without a display."""
    pyplot = need("matplotlib.pyplot", "a plot of the progress")
    figure = pyplot.figure(figsize=_SIZE)
    if figure.canvas.required_interactive_framework is None:
        pyplot.close(figure)
        return None
    return Window(figure)


def draw(figure: Any, kind: str, what: str, slices: Sequence[Slice], finished: pd.DataFrame | None) -> None:
    """Draw the running point on the left, and the finished points on the right, as far as there are any."""
    axes = list(figure.subplots(1, bool(slices) + (finished is not None), squeeze=False)[0])
    # A layout that matplotlib computes takes as long as all the rest.
    figure.subplots_adjust(left=0.08, right=0.98, bottom=0.16, top=0.82, wspace=0.22)
    figure.suptitle(what, fontsize="small")
    if slices:
        _draw_slices(axes.pop(0), kind, slices)
    if finished is not None:
        _draw_points(axes.pop(0), kind, finished)


def _draw_slices(ax: Any, kind: str, slices: Sequence[Slice]) -> None:
    """Draw the figures of the running point over time."""
    seconds = [end for _, end, _ in slices]
    names = [name for name in ("median", "max", "in", "out") if any(name in found for *_, found in slices)]
    values = {name: [found.get(name, math.nan) for *_, found in slices] for name in names}
    drawn = [value for line in values.values() for value in line if value > 0.0]
    factor, unit = _unit(kind, max(drawn, default=0.0))
    for name in names:
        ax.plot(seconds, [value / factor for value in values[name]], color=_COLOUR[name], label=name)
    failed = [end for _, end, found in slices if found.get("failed")]
    if failed:
        label, at_the_bottom = _FAILED[kind], ax.get_xaxis_transform()
        zeros = [0.0] * len(failed)
        ax.plot(failed, zeros, "x", color="tab:red", clip_on=False, label=label, transform=at_the_bottom)
    if kind != "stream" and drawn and max(drawn) > 10 * min(drawn):
        # Else the longest time would make the median a line at the bottom.
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
        unit += ", log"
    else:
        ax.set_ylim(bottom=0.0)
    ax.set(xlabel="time in the point (s)", ylabel=f"{_LINES[kind][0]} ({unit})")
    _legend(ax)


def _draw_points(ax: Any, kind: str, frame: pd.DataFrame) -> None:
    """Draw the figures of the finished points over their number."""
    what, columns = _LINES[kind]
    factor, unit = _unit(kind, float(frame[columns].max().max()))
    for column in columns:
        for way, rows in frame.groupby("way") if "way" in frame else [("", frame)]:
            percentile = "" if kind == "stream" else column.split("_")[1]
            label = " ".join(part for part in (str(way), percentile) if part)
            colour = _COLOUR.get(label)
            ax.plot(rows["point"] + 1, rows[column] / factor, marker="o", color=colour, label=label)
    if kind == "stream":
        # Else a difference of a few per cent would look large.
        ax.set_ylim(bottom=0.0)
    ax.set(xlabel="finished point", ylabel=f"{what} ({unit})")
    ax.xaxis.get_major_locator().set_params(integer=True)
    _legend(ax)


def _legend(ax: Any) -> None:
    ax.legend(fontsize="small", loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, frameon=False)


def _unit(kind: str, high: float) -> tuple[float, str]:
    """Return the factor and name of the unit for values up to this one."""
    if kind == "stream":
        return rate_unit(high)
    return time_unit(high)
