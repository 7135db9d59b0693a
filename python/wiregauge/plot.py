"""Plots of a run with matplotlib: each returns its Axes, so that they can be restyled and combined.

The figures of the report do not need it: ``run.figures``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _frames
from ._optional import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .run import Run

__all__ = ["Plot"]

_WHAT = {"exchange": "RTT", "stream": "transfer time", "loop": "service delay"}
_BEGIN = {"exchange": "start_ns", "stream": "submit_ns", "loop": "due_ns"}
_MOST = 20
"""More points than this are not distinguishable in one plot."""


class Plot:
    """The plots of a run; ``run.plot``.

    Every method takes `ax`, the Axes to draw on (those of a new figure, if not given), and returns it.
    Those that draw samples take `points`: positions in ``run.points``, all if not given, at most 20.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def histogram(
        self, points: int | Iterable[int] | None = None, *, bins: int = 100, ax: Axes | None = None
    ) -> Axes:
        """Plot a histogram of RTT, transfer time, or service delay of a loop.

        Parameters
        ----------
        points
            Positions in ``run.points``.
        bins
            Number of bars, of equal width on the logarithmic time axis.
        ax
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            Time in us over exchanges, transfers or blocks.
        """
        ax = self._axes(ax)
        drawn = list(self._times(points))
        filled = [times[times > 0] for _, times in drawn]
        every = np.concatenate(filled) if filled else np.empty(0)
        if every.size:
            low, high = every.min(), every.max()
            edges = np.geomspace(low, max(high, low * 1.001), bins + 1)
            for (label, _), times in zip(drawn, filled, strict=True):
                ax.hist(times, bins=edges, histtype="step", label=label)  # type: ignore[arg-type]
        ax.set(xscale="log", xlabel=f"{self._what} in us", ylabel=self._rows)
        return self._finish(ax, len(drawn))

    def rtt_histogram(
        self, points: int | Iterable[int] | None = None, *, bins: int = 100, ax: Axes | None = None
    ) -> Axes:
        """Plot a histogram of the RTT; see `histogram`.

        Raises
        ------
        ValueError
            The run holds no exchanges.
        """
        self._only("exchange", "rtt_histogram")
        return self.histogram(points, bins=bins, ax=ax)

    def percentiles(self, points: int | Iterable[int] | None = None, *, ax: Axes | None = None) -> Axes:
        """Plot the tail: the fraction of times that are longer.

        Parameters
        ----------
        points
            Positions in ``run.points``.
        ax
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            Fraction of longer times over the time in us, both logarithmic.
        """
        ax = self._axes(ax)
        drawn = list(self._times(points))
        for label, times in drawn:
            ordered = np.sort(times)
            longer = 1.0 - np.arange(ordered.size) / max(ordered.size, 1)
            # More steps than pixels are of no use.
            kept = np.unique(np.geomspace(1, max(ordered.size, 1), 2000).astype(np.int64)) - 1
            kept = np.unique(np.concatenate([kept, ordered.size - 1 - kept]))
            kept = kept[(kept >= 0) & (kept < ordered.size)]
            ax.step(ordered[kept], longer[kept], where="post", label=label)
        ax.set(xscale="log", yscale="log", xlabel=f"{self._what} in us", ylabel="fraction of longer times")
        return self._finish(ax, len(drawn))

    def timeline(self, points: int | Iterable[int] | None = None, *, ax: Axes | None = None) -> Axes:
        """Plot every time over its start time.

        Parameters
        ----------
        points
            Positions in ``run.points``.
        ax
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            Seconds since the start of the point over time in us.
        """
        ax = self._axes(ax)
        run = self._run
        places = self._places(points)
        for place in places:
            rows = run.samples_of(place)
            rows = rows[_frames.timed(rows, run.kind)]
            begun = rows[_BEGIN[run.kind]].astype(np.float64) / 1e9
            times = _frames.durations(rows, run.kind) * 1e6
            ax.plot(begun, times, ".", markersize=2, label=self._label(place))
        ax.set(xlabel="s since the start of the point", ylabel=f"{self._what} in us")
        return self._finish(ax, len(places))

    def throughput(self, *, ax: Axes | None = None) -> Axes:
        """Plot throughput over size, one line per depth, or per direction and queue.

        Parameters
        ----------
        ax
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            MB/s over the bytes of an exchange (both directions) or of a transfer.

        Raises
        ------
        ValueError
            The run is a loop.
        """
        run = self._run
        if run.kind == "loop":
            raise ValueError("throughput needs a run of exchanges or streams; this run is a loop")
        ax = self._axes(ax)
        lines: dict[str, list[tuple[float, float]]] = {}
        for point in run.points:
            cell = point["point"]
            if run.kind == "exchange":
                rates = point["throughput"]
                rate = rates["out_bytes_s"] + rates["in_bytes_s"]
                size = cell["out_bytes"] + cell["in_bytes"]
                lines.setdefault(f"depth {cell['depth']}", []).append((size, rate / 1e6))
                continue
            for flow in point["flows"]:
                rate = (flow["rate"] or {}).get("value")
                label = f"{flow['way']} of {cell['direction']}, queue {cell['queue']}"
                if rate is not None:
                    lines.setdefault(label, []).append((cell["transfer_bytes"], rate / 1e6))
        for label, line in lines.items():
            ax.plot(*zip(*sorted(line), strict=True), marker="o", label=label)
        what = "bytes of an exchange" if run.kind == "exchange" else "bytes of a transfer"
        ax.set(xscale="log", xlabel=what, ylabel="MB/s")
        return self._finish(ax, len(lines))

    def trt(self, *, ax: Axes | None = None) -> Axes:
        """Plot the mean TRT over the depth, one line per pair of sizes.

        Parameters
        ----------
        ax
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            Depth over us.

        Raises
        ------
        ValueError
            The run holds no exchanges.
        """
        self._only("exchange", "trt")
        ax = self._axes(ax)
        lines: dict[str, list[tuple[int, float]]] = {}
        for point in self._run.points:
            cell = point["point"]
            if point["trt"] is not None:
                label = f"out {cell['out_bytes']} B, in {cell['in_bytes']} B"
                trt = point["trt"]["mean"]["value"] / 1e3
                lines.setdefault(label, []).append((cell["depth"], trt))
        for label, line in lines.items():
            ax.plot(*zip(*sorted(line), strict=True), marker="o", label=label)
        ax.set(xlabel="depth", ylabel="mean TRT in us")
        return self._finish(ax, len(lines))

    def loop_curve(self, *, ax: Axes | None = None) -> Axes:
        """Plot the stalls per minute over the latency of a loop.

        Parameters
        ----------
        ax
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            Stalls per minute over the latency in us, with the upper 95 % bound dashed.

        Raises
        ------
        ValueError
            The run is not a loop.
        """
        self._only("loop", "loop_curve")
        ax = self._axes(ax)
        drawn = 0
        for place, point in enumerate(self._run.points):
            if not point["curve"]:
                continue
            latency = [step["latency_ns"] / 1e3 for step in point["curve"]]
            stalls = [step["per_minute"] for step in point["curve"]]
            high = [step["per_minute_high"] for step in point["curve"]]
            (line,) = ax.step(latency, stalls, where="post", label=self._label(place))
            ax.step(latency, high, where="post", linestyle="--", color=line.get_color())
            drawn += 1
        ax.set(xlabel="latency in us", ylabel="stalls per minute")
        ax.set_yscale("symlog", linthresh=1)
        return self._finish(ax, drawn)

    @property
    def _what(self) -> str:
        return _WHAT[self._run.kind]

    @property
    def _rows(self) -> str:
        return {"exchange": "exchanges", "stream": "transfers", "loop": "blocks"}[self._run.kind]

    def _only(self, kind: str, name: str) -> None:
        if self._run.kind != kind:
            raise ValueError(f"{name} needs a run of kind {kind}; this one is of kind {self._run.kind}")

    def _axes(self, ax: Axes | None) -> Axes:
        if ax is not None:
            return ax
        pyplot = need("matplotlib.pyplot", "a plot")
        drawn: Axes = pyplot.subplots()[1]
        return drawn

    def _finish(self, ax: Axes, lines: int) -> Axes:
        ax.set_title(f"{self._run.kind} {self._run.address}")
        if lines > 1:
            ax.legend(fontsize="small")
        return ax

    def _places(self, points: int | Iterable[int] | None) -> list[int]:
        there = range(len(self._run.points))
        if points is None:
            if len(there) > _MOST:
                raise ValueError(f"points must select at most {_MOST} of the {len(there)} points of this run")
            return list(there)
        if isinstance(points, Iterable):
            return [there[point] for point in points]
        return [there[points]]

    def _times(self, points: int | Iterable[int] | None) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
        for place in self._places(points):
            rows = self._run.samples_of(place)
            rows = rows[_frames.timed(rows, self._run.kind)]
            yield self._label(place), _frames.durations(rows, self._run.kind) * 1e6

    def _label(self, place: int) -> str:
        cell: dict[str, Any] = self._run.points[place]["point"]
        match self._run.kind:
            case "exchange":
                text = f"out {cell['out_bytes']} B, in {cell['in_bytes']} B, depth {cell['depth']}"
            case "stream":
                text = f"{cell['direction']}, {cell['transfer_bytes']} B, queue {cell['queue']}"
            case _:
                text = f"{cell['rate_hz'] / 1e6:g} MS/s, {cell['channels']} ch, {cell['notify_bytes']} B"
        link = f", link {cell['link']}" if cell.get("link") else ""
        return text + link + (", all links" if cell.get("together") else "")
