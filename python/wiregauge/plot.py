"""Plots of a run with matplotlib: each returns its Axes, so that they can be restyled and combined.

Units and axes are those of the report's figures, which do not need it: ``run.figures``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from . import _axes, _frames
from ._axes import COLOURS, MARKERS, MOST, MOST_OUTLINES, time_unit
from ._optional import need
from .samples import place_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Plot"]

_WHAT = {"exchange": "RTT", "stream": "transfer time", "loop": "service delay"}
_BEGIN = {"exchange": "start_ns", "stream": "submit_ns", "loop": "due_ns"}

Lines = dict[str, list[tuple[float, float]]]
"""Places of each line by its label."""


class Source(Protocol):
    """What is drawn of a run."""

    @property
    def kind(self) -> str: ...
    @property
    def address(self) -> str: ...
    @property
    def points(self) -> list[dict[str, Any]]: ...
    @property
    def plan(self) -> dict[str, Any]: ...
    def samples_of(self, point: int) -> npt.NDArray[np.void]: ...


class Plot:
    """The plots of a run; ``run.plot()`` draws the main one for its kind.

    Every method takes `ax`, the Axes to draw on (those of a new figure, if not given), and returns it.
    Those that draw samples take `points`: positions in ``run.points``, at most 10; if not given, all, or 10
    of them from the first to the last (4 of a histogram). Times are in us or ms, rates in kB/s or MB/s, as in
    the report: the label of the axis names the unit. A new figure has the colours of the report.
    """

    def __init__(self, run: Source) -> None:
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
            There is no plot for this kind of run; its rows are in ``run.samples``.
        ImportError
            matplotlib is not installed.

        Examples
        --------
        >>> ax = wg.load("last").plot()
        >>> plt.savefig("run.pdf")
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
                raise ValueError(f"there is no plot for a run of kind {kind}; run.samples has its rows")

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
            Share of the exchanges, transfers or blocks of each point (%) over the time.
        """
        ax = self._axes(ax)
        drawn, unit = self._times(points, MOST_OUTLINES)
        filled = [times[times > 0] for _, times in drawn]
        every = np.concatenate(filled) if filled else np.empty(0)
        if every.size:
            low, high = every.min(), every.max()
            edges = np.geomspace(low, max(high, low * 1.001), bins + 1)
            for (label, _), times in zip(drawn, filled, strict=True):
                shares = np.full(times.size, 100.0 / max(times.size, 1))
                ax.hist(times, edges, weights=shares, histtype="step", label=label)  # type: ignore[arg-type]
        ax.set(xscale="log", xlabel=f"{self._what} ({unit}, log)", ylabel=f"{self._rows} (%)")
        return self._finish(ax, self._of(points), MOST_OUTLINES)

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
            with its longest sample; where it is thin, fewer than 10 samples are beyond.
        """
        ax = self._axes(ax)
        drawn, unit = self._times(points)
        most, low, high = 2, np.inf, 0.0
        for label, times in drawn:
            if not times.size:
                continue
            most, low, high = max(most, times.size), min(low, times.min()), max(high, times.max())
            known, tail = _axes.percentile_curve(times)
            is_known = known[0][-1] > 0.0
            colour = None
            if is_known:
                (line,) = ax.plot(*known, drawstyle="steps-post", label=label)
                colour = line.get_color()
            ax.plot(
                *tail,
                drawstyle="steps-post",
                marker="o",
                markevery=[-1],
                linewidth=0.8,
                color=colour,
                label="_tail" if is_known else label,
            )
        ax.set_xscale("function", functions=(_axes.to_nines, _axes.from_nines))
        shown = [share for share in _axes.SHARES if share <= 1.0 - 0.5 / most]
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
        """Plot throughput over size and the limit of the medium, one line per depth, or direction and queue.

        Parameters
        ----------
        ax
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            Of exchanges as on the page: the IN throughput over the IN size, if that varies, else the same of
            OUT, at the smallest size of the other direction, which the title names; over the depth, if only
            that varies. Of streams the rate over the transfer size, or over the queue. A limit that is far
            above is not drawn.

        Raises
        ------
        ValueError
            The run is a loop.
        """
        run = self._run
        if run.kind not in ("exchange", "stream"):
            raise ValueError(f"throughput needs a run of exchanges or streams; this run is a {run.kind}")
        if run.kind == "exchange":
            sweep = _axes.Sweep(run.points)
            size, what, wide, reach, held = sweep.size, sweep.what, 30.0, (4.0, 100.0), sweep.held
            lines = self._exchange_rates(sweep)
            known = [point["limit"] for point in sweep.points]
        else:
            what, wide, reach, held = "throughput", 60.0, (2.5, 30.0), ""
            size, lines = self._stream_rates()
            known = [flow["limit"] for point in run.points for flow in point["flows"]]
        ax = self._axes(ax)
        rates = [rate for line in lines.values() for _, rate in line]
        low, high = min(rates, default=0.0), max(rates, default=0.0)
        is_wide = high > wide * low > 0.0
        limits = _axes.limits(known, high * reach[is_wide])
        factor, unit = _axes.rate_unit(max([high, *(rate for rate, _ in limits)]))
        self._draw(ax, lines, factor)
        for rate, name in limits:
            ax.axhline(rate / factor, color="gray", linestyle="--", linewidth=1.0, label=name)
        ax.set(xscale="log", xlabel=size)
        if is_wide:
            ax.set(yscale="log", ylabel=f"{what} ({unit}, log)")
        else:
            ax.set(ylabel=f"{what} ({unit})")
            ax.set_ylim(0.0, max(ax.get_ylim()[1], *(1.05 * rate / factor for rate, _ in limits), 0.0))
        ax = self._finish(ax, len(lines), held=held)
        self._name(ax, [int(place) for line in lines.values() for place, _ in line])
        return ax

    def _exchange_rates(self, sweep: _axes.Sweep) -> Lines:
        lines: Lines = {}
        for point in sweep.points:
            cell = point["point"]
            place = (sweep.place(cell), point["throughput"][f"{sweep.way}_bytes_s"])
            lines.setdefault(f"{sweep.label(cell)}{_link(cell)}", []).append(place)
        return lines

    def _stream_rates(self) -> tuple[str, Lines]:
        """Return what the axis of places shows, and the lines."""
        lines: Lines = {}
        cells = [point["point"] for point in self._run.points]
        queues, transfers = ({cell[name] for cell in cells} for name in ("queue", "transfer_bytes"))
        is_of_queues = len(transfers) < 2 <= len(queues)
        for point in self._run.points:
            cell = point["point"]
            for flow in point["flows"]:
                rate = (flow["rate"] or {}).get("value")
                both = " (both)" if cell["direction"] == "both" else ""
                queue = f", queue {cell['queue']}" if len(queues) > 1 and not is_of_queues else ""
                label = f"{flow['way'].upper()}{both}{queue}{_link(cell)}"
                if rate is not None:
                    place = cell["queue" if is_of_queues else "transfer_bytes"]
                    lines.setdefault(label, []).append((place, rate))
        return "queue (log)" if is_of_queues else "transfer size (B, log)", lines

    def trt(self, *, ax: Axes | None = None) -> Axes:
        """Plot the mean TRT over the depth, one line per pair of sizes, and the ideal TRT.

        Parameters
        ----------
        ax
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            The mean TRT over the depth; of a single pair of sizes also the mean RTT. Dashed: the RTT at the
            smallest depth divided by the depth, unless a schedule started the exchanges.

        Raises
        ------
        ValueError
            The run holds no exchanges.
        """
        self._only("exchange", "trt")
        ax = self._axes(ax)
        trts: Lines = {}
        rtts: Lines = {}
        for point in self._run.points:
            cell = point["point"]
            if point["trt"] is not None:
                label = f"OUT {cell['out_bytes']:,} B, IN {cell['in_bytes']:,} B{_link(cell)}"
                trts.setdefault(label, []).append((cell["depth"], point["trt"]["mean"]["value"]))
                rtts.setdefault(label, []).append((cell["depth"], point["rtt"]["mean"]["value"]))
        is_single = len(trts) == 1
        lines = trts
        if is_single:
            lines = {"mean TRT": next(iter(trts.values())), "mean RTT": next(iter(rtts.values()))}
        times = [time for line in lines.values() for _, time in line]
        factor, unit = time_unit(max(times, default=0.0))
        self._draw(ax, lines, factor)
        if isinstance(self._run.plan.get("schedule"), str):
            self._draw_ideals(ax, rtts, factor)
        what = "time" if is_single else "mean TRT"
        ax.set(xscale="log", yscale="log", xlabel="depth (log)", ylabel=f"{what} ({unit}, log)")
        ax = self._finish(ax, len(lines))
        self._name(ax, [int(place) for line in lines.values() for place, _ in line])
        return ax

    def _draw_ideals(self, ax: Axes, rtts: Lines, factor: float) -> None:
        """Draw the RTT at the smallest depth, divided by the depth, behind the lines of the same order."""
        shown = [sorted(line) for _, line in _axes.spread(list(rtts.items()))]
        depths = {line[0][0] for line in shown}
        first = f"RTT at depth {min(depths):g}" if len(depths) == 1 else "RTT at the smallest depth"
        colours = ["black"] if len(shown) == 1 else [line.get_color() for line in ax.lines[-len(shown) :]]
        label = f"ideal TRT: {first} / depth"
        for line, colour in zip(shown, colours, strict=True):
            depth, rtt = line[0]
            places = [place for place, _ in line]
            ideal = [rtt * depth / place / factor for place in places]
            ax.plot(places, ideal, linestyle="--", linewidth=1.0, color=colour, label=label)
            # One entry of the legend for all.
            label = "_ideal"

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
        shown = _axes.spread(curves)
        longest = max((step["latency_ns"] for _, point in shown for step in point["curve"]), default=0)
        factor, unit = time_unit(longest)
        for place, point in shown:
            latency = [step["latency_ns"] / factor for step in point["curve"]]
            stalls = [step["per_minute"] for step in point["curve"]]
            high = [step["per_minute_high"] for step in point["curve"]]
            label = self._label(place, [at for at, _ in curves]) or "stalls"
            (line,) = ax.step(latency, stalls, where="post", label=label)
            ax.step(latency, high, where="post", linestyle="--", color=line.get_color())
        if shown:
            ax.plot([], [], linestyle="--", color="gray", label="upper 95 % bound")
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
        drawn.set_prop_cycle(color=COLOURS)
        return drawn

    def _draw(self, ax: Axes, lines: Lines, factor: float) -> None:
        for at, (label, line) in enumerate(_axes.spread(list(lines.items()))):
            x, y = zip(*sorted(line), strict=True)
            ax.plot(x, [value / factor for value in y], marker=MARKERS[at % len(MARKERS)], label=label)

    def _finish(self, ax: Axes, of: int, most: int = MOST, held: str = "") -> Axes:
        """Title and legend of a plot that shows at most `most` of so many series."""
        from matplotlib.lines import Line2D

        from . import _ticks

        for axis, scale in ((ax.xaxis, ax.get_xscale()), (ax.yaxis, ax.get_yscale())):
            if scale == "log":
                _ticks.logarithmic(axis)
        left_out = f", {most} of {of} series" if of > most else ""
        ax.set_title(f"{self._run.kind} {self._run.address}{held}{left_out}")
        if len(ax.get_legend_handles_labels()[0]) > 1:
            legend = ax.legend(
                fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0
            )
            for handle in legend.legend_handles:
                # The dots of a timeline are too small to see their colour.
                if isinstance(handle, Line2D) and handle.get_marker() == ".":
                    handle.set_markersize(8)
        return ax

    @staticmethod
    def _name(ax: Axes, places: list[int]) -> None:
        """Name the measured sizes or depths on their axis."""
        from . import _ticks

        if places:
            _ticks.named(ax.xaxis, *_axes.sizes(places))

    def _places(self, points: int | Iterable[int] | None, most: int = MOST) -> list[int]:
        count = len(self._run.points)
        if points is None:
            return _axes.spread(list(range(count)), most)
        if isinstance(points, str) or not isinstance(points, Iterable):
            return [place_of(points, count)]
        places = [place_of(point, count) for point in points]
        if not places:
            raise ValueError("points must have at least one point")
        if len(places) > MOST:
            raise ValueError(
                f"points must be at most {MOST}, not {len(places)}: more cannot be distinguished"
            )
        return places

    def _of(self, points: object) -> int:
        """Return the number of series of which at most 10 are shown."""
        return len(self._run.points) if points is None else 1

    def _rows_of(self, place: int) -> npt.NDArray[np.void]:
        rows = self._run.samples_of(place)
        return rows[_frames.timed(rows, self._run.kind)]

    def _times(
        self, points: int | Iterable[int] | None, most: int = MOST
    ) -> tuple[list[tuple[str, npt.NDArray[np.float64]]], str]:
        """Return label and times of each series, in a unit that suits the longest, and that unit."""
        if self._run.kind not in _WHAT:
            raise ValueError(f"there is no plot of the times of a run of kind {self._run.kind}")
        places = self._places(points, most)
        found = [
            (self._label(place, places), _frames.durations(self._rows_of(place), self._run.kind) * 1e9)
            for place in places
        ]
        longest = max((float(times.max()) for _, times in found if times.size), default=0.0)
        factor, unit = time_unit(longest)
        return [(label, times / factor) for label, times in found], unit

    def _label(self, place: int, among: Iterable[int]) -> str:
        """Return what a point is called; of a loop only what distinguishes it from the other ones."""
        cell: dict[str, Any] = self._run.points[place]["point"]
        match self._run.kind:
            case "exchange":
                text = f"OUT {cell['out_bytes']:,} B, IN {cell['in_bytes']:,} B, depth {cell['depth']}"
            case "stream":
                text = f"{cell['direction']}, {cell['transfer_bytes']:,} B, queue {cell['queue']}"
            case _:
                return _of_loop(cell, [self._run.points[other]["point"] for other in among])
        return text + _link(cell)


def _of_loop(cell: dict[str, Any], among: list[dict[str, Any]]) -> str:
    """Return what distinguishes a point of a loop, as in the report."""

    def tested(one: dict[str, Any]) -> int | None:
        """The preload of a test; a search for one has no certain preload."""
        return one["preload_bytes"] if one["aim"] == "hold" else None

    def varies(name: str) -> bool:
        return any(other[name] != cell[name] for other in among)

    parts = []
    if varies("rate_hz"):
        parts.append(f"{cell['rate_hz'] / 1e6:g} MS/s")
    if varies("channels"):
        parts.append("1 channel" if cell["channels"] == 1 else f"{cell['channels']} channels")
    if varies("path"):
        parts.append(cell["path"])
    if varies("notify_bytes"):
        parts.append(f"notify {cell['notify_bytes']:,} B")
    if any(tested(other) != tested(cell) for other in among):
        preload = tested(cell)
        parts.append("no preload" if preload is None else f"preload {preload:,} B")
    return ", ".join(parts)


def _link(cell: dict[str, Any]) -> str:
    """Return which link a point is of, if it is not the only one."""
    link = f", link {cell['link']}" if cell.get("link") else ""
    return link + (", all links" if cell.get("together") else "")
