"""A plot of the points measured so far, in Jupyter, during a run."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._optional import need
from ._progress import Meter
from .plot import time_unit

if TYPE_CHECKING:
    import pandas as pd

_LINES = {
    "exchange": ("RTT", ["rtt_p50_ns", "rtt_p99_ns"]),
    "stream": ("throughput", ["rate_bytes_s"]),
    "loop": ("service delay", ["service_p50_ns", "service_p99_ns"]),
}


class LivePlot(Meter):
    """A bar, and a plot that is drawn anew whenever a point has ended. The plot stays at the end."""

    def __init__(self) -> None:
        super().__init__(True)
        self._pyplot = need("matplotlib.pyplot", "a plot of the progress")
        self._display = need("IPython.display", "a plot of the progress").display
        # Else it would be missed in the middle of the measurement, and end it.
        need("pandas", "a plot of the progress")
        self._handle: Any = None
        self._run: Path | None = None
        self._what = ""

    def tell(self, part: float, what: str, run: Path | None = None) -> None:
        """Show the progress; draw if another point has begun."""
        super().tell(part, what, run)
        self._run = run
        if run is not None and what != self._what:
            self._what = what
            self._draw()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Draw the last point, and remove the bar."""
        if self._run is not None:
            self._draw()
        super().__exit__(kind, error, trace)

    def _draw(self) -> None:
        found = self._summary()
        if found is None:
            return
        kind, frame = found
        figure, ax = self._pyplot.subplots(figsize=(8.0, 3.0), layout="constrained")
        draw(ax, kind, frame)
        if self._handle is None:
            self._handle = self._display(figure, display_id=True)
        else:
            self._handle.update(figure)
        # Otherwise the notebook shows it once more at the end of the cell.
        self._pyplot.close(figure)

    def _summary(self) -> tuple[str, pd.DataFrame] | None:
        """Return the points so far; None before the first, or if the run left nothing."""
        from .run import Run

        try:
            run = Run(self._run) if self._run is not None else None
        except ValueError:
            return None
        if run is None or not run.points or run.kind not in _LINES:
            return None
        return run.kind, run.summary()


def draw(ax: Any, kind: str, frame: pd.DataFrame) -> None:
    """Draw the figures of all points over their number."""
    what, columns = _LINES[kind]
    high = float(frame[columns].max().max())
    is_rate = columns[0].endswith("_bytes_s")
    factor, unit = ((1e6, "MB/s") if high >= 1e6 else (1e3, "kB/s")) if is_rate else time_unit(high)
    for column in columns:
        for way, rows in frame.groupby("way") if "way" in frame else [("", frame)]:
            label = " ".join(part for part in (str(way), column.split("_")[1] if not is_rate else "") if part)
            ax.plot(rows["point"] + 1, rows[column] / factor, marker="o", label=label)
    ax.set(xlabel="point", ylabel=f"{what} ({unit})")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)
