"""Plots of a run with matplotlib: each returns its Axes, so that they can be restyled and combined.

Units and axes are those of the report's figures, which do not need it: ``run.figures``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

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
_MOST = 10
"""More series than this cannot be distinguished in one plot."""

_SHARES = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
"""Where a percentile axis has a label."""

T = TypeVar("T")


class Plot:
    """The plots of a run; ``run.plot()`` draws the main one for its kind.

    Every method takes `ax`, the Axes to draw on (those of a new figure, if not given), and returns it.
    Those that draw samples take `points`: positions in ``run.points``, at most 10; if not given, all, or 10
    of them from the first to the last. Times are in us or ms, rates in kB/s or MB/s, as in the report: the
    label of the axis names the unit.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def __call__(self, points: int | Iterable[int] | None = None, *, ax: Axes | None = None) -> Axes:
        """Plot percentiles, throughput, or stalls against latency, depending on the kind of the run.

        Parameters
        ----------
        points
            Positions in ``run.points``, for exchanges and for the histogram of a loop.
        ax
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            `percentiles` for exchanges, `throughput` for a stream, `loop_curve` for a loop, or its
            `histogram` if no curve was measured.

        Raises
        ------
        ValueError
            There is no plot for this kind of run; ``run.figures`` has those of the report.
        ImportError
            matplotlib is not installed.

        Examples
        --------
        >>> ax = wg.load("last").plot()
        >>> ax.figure.savefig("run.pdf")
        """
        match self._run.kind:
            case "exchange":
                return self.percentiles(points, ax=ax)
            case "stream":
                return self.throughput(ax=ax)
            case "loop" if any(point["curve"] for point in self._run.points):
                return self.loop_curve(ax=ax)
            case "loop":
                return self.histogram(points, ax=ax)
            case kind:
                raise ValueError(f"there is no plot for a run of kind {kind}; run.figures has its figures")

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
            Number of exchanges, transfers or blocks over the time.
        """
        ax = self._axes(ax)
        drawn, unit = self._times(points)
        filled = [times[times > 0] for _, times in drawn]
        every = np.concatenate(filled) if filled else np.empty(0)
        if every.size:
            low, high = every.min(), every.max()
            edges = np.geomspace(low, max(high, low * 1.001), bins + 1)
            for (label, _), times in zip(drawn, filled, strict=True):
                ax.hist(times, bins=edges, histtype="step", label=label)  # type: ignore[arg-type]
        ax.set(xscale="log", xlabel=f"{self._what} ({unit}, log)", ylabel=self._rows)
        return self._finish(ax, self._of(points))

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
        """Plot the time at each percentile, on a percentile axis: 50 %, 90 %, 99 %, 99.9 % ...

        Parameters
        ----------
        points
            Positions in ``run.points``.
        ax
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            The time over the share of the samples (0 to 1), the tail as wide as the bulk. Each curve ends
            with its longest sample.
        """
        ax = self._axes(ax)
        drawn, unit = self._times(points)
        most, low, high = 2, np.inf, 0.0
        for label, times in drawn:
            if not times.size:
                continue
            ordered = np.sort(times)
            most, low, high = max(most, times.size), min(low, ordered[0]), max(high, ordered[-1])
            # More steps than pixels are of no use: 32 for each nine.
            nines = np.linspace(0.0, np.log10(times.size), 2 + int(32 * np.log10(times.size)))
            shares = 1.0 - 10.0**-nines
            at = np.minimum((shares * times.size).astype(np.int64), times.size - 1)
            ax.plot(shares, ordered[at], drawstyle="steps-post", marker="o", markevery=[-1], label=label)
        ax.set_xscale("function", functions=(_to_nines, _from_nines))
        shown = [share for share in _SHARES if share <= 1.0 - 0.5 / most]
        ax.set_xticks(shown, [f"{100 * share:.6g} %" for share in shown])
        ax.set_xlim(0.0, 1.0 - 0.8 / most)
        is_wide = high > 4 * low > 0
        ax.set(
            yscale="log" if is_wide else "linear",
            xlabel=f"percentile of the {self._rows}",
            ylabel=f"{self._what} ({unit}, log)" if is_wide else f"{self._what} ({unit})",
        )
        return self._finish(ax, self._of(points))

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
            The time of each sample over the seconds since the start of its point.
        """
        ax = self._axes(ax)
        drawn, unit = self._times(points)
        for (label, times), place in zip(drawn, self._places(points), strict=True):
            rows = self._rows_of(place)
            begun = rows[_BEGIN[self._run.kind]].astype(np.float64) / 1e9
            ax.plot(begun, times, ".", markersize=2, label=label)
        ax.set(xlabel="time since the start of the point (s)", ylabel=f"{self._what} ({unit})")
        return self._finish(ax, self._of(points))

    def throughput(self, *, ax: Axes | None = None) -> Axes:
        """Plot throughput over size, one line per depth, or per direction and queue.

        Parameters
        ----------
        ax
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            The rate over the bytes of an exchange (both directions) or of a transfer.

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
                lines.setdefault(f"depth {cell['depth']}", []).append((size, rate))
                continue
            for flow in point["flows"]:
                rate = (flow["rate"] or {}).get("value")
                label = f"{flow['way']} of {cell['direction']}, queue {cell['queue']}"
                if rate is not None:
                    lines.setdefault(label, []).append((cell["transfer_bytes"], rate))
        high = max((rate for line in lines.values() for _, rate in line), default=0.0)
        factor, unit = (1e6, "MB/s") if high >= 1e6 else (1e3, "kB/s")
        self._draw(ax, lines, factor)
        what = "an exchange" if run.kind == "exchange" else "a transfer"
        ax.set(xscale="log", xlabel=f"size of {what} (B, log)", ylabel=f"throughput ({unit})")
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
            The mean TRT over the depth.

        Raises
        ------
        ValueError
            The run holds no exchanges.
        """
        self._only("exchange", "trt")
        ax = self._axes(ax)
        lines: dict[str, list[tuple[float, float]]] = {}
        for point in self._run.points:
            cell = point["point"]
            if point["trt"] is not None:
                label = f"out {cell['out_bytes']} B, in {cell['in_bytes']} B"
                trt = point["trt"]["mean"]["value"]
                lines.setdefault(label, []).append((cell["depth"], trt))
        factor, unit = time_unit(max((trt for line in lines.values() for _, trt in line), default=0.0))
        self._draw(ax, lines, factor)
        ax.set(xlabel="depth", ylabel=f"mean TRT ({unit})")
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
            Stalls per minute over the latency, with the upper 95 % bound dashed.

        Raises
        ------
        ValueError
            The run is not a loop.
        """
        self._only("loop", "loop_curve")
        ax = self._axes(ax)
        curves = [(place, point) for place, point in enumerate(self._run.points) if point["curve"]]
        shown = _spread(curves)
        longest = max((step["latency_ns"] for _, point in shown for step in point["curve"]), default=0)
        factor, unit = time_unit(longest)
        for place, point in shown:
            latency = [step["latency_ns"] / factor for step in point["curve"]]
            stalls = [step["per_minute"] for step in point["curve"]]
            high = [step["per_minute_high"] for step in point["curve"]]
            (line,) = ax.step(latency, stalls, where="post", label=self._label(place))
            ax.step(latency, high, where="post", linestyle="--", color=line.get_color())
        ax.set(xlabel=f"latency ({unit})", ylabel="stalls per minute")
        ax.set_yscale("symlog", linthresh=1)
        return self._finish(ax, len(curves))

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
        # The layout leaves room for a legend beside the axes.
        drawn: Axes = pyplot.subplots(figsize=(8.0, 4.8), layout="constrained")[1]
        return drawn

    def _draw(self, ax: Axes, lines: dict[str, list[tuple[float, float]]], factor: float) -> None:
        for label, line in _spread(list(lines.items())):
            x, y = zip(*sorted(line), strict=True)
            ax.plot(x, [value / factor for value in y], marker="o", label=label)

    def _finish(self, ax: Axes, of: int) -> Axes:
        """Title and legend of a plot that shows at most 10 of so many series."""
        for axis, scale in ((ax.xaxis, ax.get_xscale()), (ax.yaxis, ax.get_yscale())):
            if scale == "log":
                axis.set_major_formatter("{x:g}")
        left_out = f", {_MOST} of {of} series" if of > _MOST else ""
        ax.set_title(f"{self._run.kind} {self._run.address}{left_out}")
        if len(ax.get_legend_handles_labels()[0]) > 1:
            ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)
        return ax

    def _places(self, points: int | Iterable[int] | None) -> list[int]:
        there = range(len(self._run.points))
        if points is None:
            return _spread(list(there))
        if not isinstance(points, Iterable):
            return [there[points]]
        places = [there[point] for point in points]
        if len(places) > _MOST:
            raise ValueError(
                f"points must be at most {_MOST}, not {len(places)}: more cannot be distinguished"
            )
        return places

    def _of(self, points: object) -> int:
        """Return the number of series of which at most 10 are shown."""
        return len(self._run.points) if points is None else 1

    def _rows_of(self, place: int) -> npt.NDArray[np.void]:
        rows = self._run.samples_of(place)
        return rows[_frames.timed(rows, self._run.kind)]

    def _times(
        self, points: int | Iterable[int] | None
    ) -> tuple[list[tuple[str, npt.NDArray[np.float64]]], str]:
        """Return label and times of each series, in a unit that suits the longest, and that unit."""
        if self._run.kind not in _WHAT:
            raise ValueError(f"there is no plot of the times of a run of kind {self._run.kind}")
        found = [
            (self._label(place), _frames.durations(self._rows_of(place), self._run.kind) * 1e9)
            for place in self._places(points)
        ]
        longest = max((float(times.max()) for _, times in found if times.size), default=0.0)
        factor, unit = time_unit(longest)
        return [(label, times / factor) for label, times in found], unit

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


def time_unit(longest_ns: float) -> tuple[float, str]:
    """Return nanoseconds per unit, and the unit, as in the figures of the report."""
    return (1e6, "ms") if longest_ns >= 1e6 else (1e3, "µs")


def _spread(things: list[T]) -> list[T]:
    """Return at most 10 of them, evenly from the first to the last."""
    if len(things) <= _MOST:
        return things
    return [things[round(at * (len(things) - 1) / (_MOST - 1))] for at in range(_MOST)]


def _to_nines(share: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return -np.log10(np.clip(1.0 - np.asarray(share, np.float64), 1e-15, None))


def _from_nines(nines: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return 1.0 - 10.0 ** -np.asarray(nines, np.float64)
