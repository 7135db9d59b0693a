"""The figures of docs/targets.md, drawn from results.json with matplotlib (`pip install matplotlib`).

SVG with text left as text, the same bytes for the same results.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

Results = dict[str, Any]

# Okabe and Ito, as in wiregauge's own figures (crates/report/src/figures/look.rs).
# By the class's place: neighbours in a panel differ in more than colour.
LOOKS = (
    ("#000000", "o", "-"),
    ("#0072b2", "s", "-"),
    ("#56b4e9", "D", "--"),
    ("#d55e00", "v", "-"),
    ("#009e73", "^", "-"),
    ("#cc79a7", "P", "-"),
    ("#e69f00", "*", "--"),
    ("#0072b2", "<", "-"),
    ("#d55e00", ">", "-"),
    ("#009e73", "X", "-"),
    ("#cc79a7", "p", "--"),
)
NETWORK = ("stream", "each", "udp")

mpl.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "wiregauge",
        "font.family": "sans-serif",
        "font.size": 9,
        "axes.grid": True,
        "grid.color": "#dddddd",
        "grid.linewidth": 0.7,
        "axes.edgecolor": "#595959",
        "axes.axisbelow": True,
        "xtick.color": "#595959",
        "ytick.color": "#595959",
        "lines.linewidth": 1.5,
        "lines.markersize": 4.5,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
    }
)


def look(results: Results, key: str) -> dict[str, Any]:
    """Return how a class looks, in every figure the same: by more than its colour."""
    at = [cls["key"] for cls in results["classes"]].index(key)
    colour, marker, dash = LOOKS[at % len(LOOKS)]
    return {"color": colour, "marker": marker, "linestyle": dash}


def panels_of(modes: list[str], height: float) -> tuple[Figure, list[Axes]]:
    """Return a panel for each mode, two beside each other, so that text stays as large as the page's."""
    rows = (len(modes) + 1) // 2
    figure, panels = plt.subplots(rows, 2, figsize=(7.5, height * rows + 0.9), squeeze=False)
    flat = list(panels.flat)
    for axes in flat[len(modes) :]:
        axes.remove()
    return figure, flat[: len(modes)]


def logarithmic(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers: 0.1, 1, 10."""
    axis.set_major_locator(LogLocator(numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_formatter(NullFormatter())


def sizes_on(axes: Axes, sizes: list[int]) -> None:
    """Mark the sizes that were measured, and no others."""
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())


def legend_above(figure: Figure, axes: list[Axes]) -> None:
    """One legend for all panels."""
    found = {
        label: handle for one in axes for handle, label in zip(*one.get_legend_handles_labels(), strict=True)
    }
    figure.legend(found.values(), found.keys(), loc="outside upper center", ncols=4)


def modes_of(results: Results) -> list[str]:
    """Return the modes that were measured."""
    return [mode for mode in results["modes"] if any(mode in cls["modes"] for cls in results["classes"])]


def delta_times(results: Results) -> Figure:
    """Median delta time against size: one panel a mode."""
    modes = modes_of(results)
    figure, panels = panels_of(modes, 2.7)
    for axes, mode in zip(panels, modes, strict=True):
        sizes: list[int] = []
        for cls in results["classes"]:
            by_size = cls["modes"].get(mode, {}).get("sizes", {})
            points = [
                (int(size), one["whole"]["p50"] / 1e6)
                for size, one in by_size.items()
                if one["whole"].get("p50")
            ]
            if points:
                sizes = [size for size, _ in points]
                axes.plot(*zip(*points, strict=True), label=cls["title"], **look(results, cls["key"]))
        axes.set(yscale="log", xlabel="payload, B", ylabel="delta time p50, ms", title=results["modes"][mode])
        logarithmic(axes.yaxis)
        sizes_on(axes, sizes)
    same_scale([axes for axes, mode in zip(panels, modes, strict=True) if mode in NETWORK], "y")
    legend_above(figure, panels)
    return figure


def same_scale(panels: list[Axes], axis: str) -> None:
    """Give panels the same limits, those that hold all of them; the serial line has limits of its own."""
    if not panels:
        return
    limits = [getattr(axes, f"get_{axis}lim")() for axes in panels]
    for axes in panels:
        getattr(axes, f"set_{axis}lim")(min(low for low, _ in limits), max(high for _, high in limits))


def tails(results: Results) -> Figure:
    """How many exchanges of the loop took longer than a time: one panel a mode."""
    modes = modes_of(results)
    figure, panels = panels_of(modes, 2.7)
    deadline = results["rule"]["deadline_ns"] / 1e6
    for axes, mode in zip(panels, modes, strict=True):
        for cls in results["classes"]:
            curve = cls["modes"].get(mode, {}).get("loop", {}).get("nines", [])
            if curve:
                longer, times = [1 - share for share, _ in curve], [time / 1e6 for _, time in curve]
                axes.plot(times, longer, label=cls["title"], **{**look(results, cls["key"]), "markersize": 3})
        axes.axvline(
            deadline, color="#222222", linestyle=":", linewidth=1.2, label=f"deadline, {deadline:g} ms"
        )
        axes.set(xscale="log", yscale="log", title=results["modes"][mode])
        axes.set(xlabel="from the intended start, ms", ylabel="share that took longer")
        logarithmic(axes.xaxis)
        logarithmic(axes.yaxis)
    same_scale([axes for axes, mode in zip(panels, modes, strict=True) if mode in NETWORK], "x")
    same_scale(panels, "y")
    legend_above(figure, panels)
    return figure


def split(results: Results) -> Figure | None:
    """Connection, access and transfer of mode 2, as medians."""
    measured = [cls for cls in results["classes"] if "each" in cls["modes"]]
    if not measured:
        return None
    figure, axes = plt.subplots(figsize=(7, 0.42 * len(measured) + 1.5))
    parts = {
        "connect": "connection",
        "access": "access (to the first byte)",
        "transfer": "transfer (first to last byte)",
    }
    start = [0.0] * len(measured)
    for (part, title), colour in zip(parts.items(), ("#0072b2", "#e69f00", "#009e73"), strict=True):
        times = []
        for cls in measured:
            sizes = cls["modes"]["each"]["sizes"]
            times.append((sizes.get("100") or next(iter(sizes.values())))[part]["p50"] / 1e6)
        axes.barh(
            [cls["title"] for cls in measured], times, left=start, label=title, color=colour, height=0.6
        )
        start = [before + time for before, time in zip(start, times, strict=True)]
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set(xlabel="p50 at 100 B, ms", xlim=(0, 1.05 * max(start)))
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def firsts(results: Results) -> Figure:
    """The first exchange of a board just started, beside the usual one."""
    modes = modes_of(results)
    figure, panels = panels_of(modes, 2.3)
    for axes, mode in zip(panels, modes, strict=True):
        measured = [cls for cls in results["classes"] if mode in cls["modes"]]
        names = [cls["title"] for cls in measured]
        part = "access" if mode == "each" else "whole"
        usual = [next(iter(cls["modes"][mode]["sizes"].values()))[part].get("p50") for cls in measured]
        axes.plot([(time or 0) / 1e6 for time in usual], names, "o", color="#0072b2", label="usual, p50")
        for name, cls in zip(names, measured, strict=True):
            times = [one["rtt_ns"] / 1e6 for one in cls["modes"][mode]["first"] if one["rtt_ns"]]
            label = "the first one, each round"
            axes.plot(times, [name] * len(times), "|", color="#d55e00", ms=10, mew=1.6, label=label)
        axes.invert_yaxis()
        axes.set(xscale="log", xlabel="RTT, ms", title=results["modes"][mode])
        logarithmic(axes.xaxis)
    legend_above(figure, panels)
    return figure


def device_times(results: Results) -> Figure | None:
    """The device's own time against size, where its processor is simulated."""
    figure, panels = plt.subplots(1, 2, figsize=(7.5, 3.4), sharey=True)
    drawn = False
    for axes, mode, title in ((panels[0], "stream", "TCP or serial line"), (panels[1], "udp", "UDP")):
        sizes: list[int] = []
        for cls in results["classes"]:
            cell = cls["device"].get(mode) or (cls["device"].get("line") if mode == "stream" else None)
            if cls["clock"] != "simulated" or not cell:
                continue
            points = [(int(size), one["p50"] / 1e3) for size, one in cell["sizes"].items() if one["p50"] > 0]
            if points:
                sizes, drawn = [size for size, _ in points], True
                axes.plot(*zip(*points, strict=True), label=cls["title"], **look(results, cls["key"]))
        axes.set(yscale="log", xlabel="request and response, B", title=title)
        logarithmic(axes.yaxis)
        sizes_on(axes, sizes or [1])
    panels[0].set_ylabel("device time p50, us of its own clock")
    legend_above(figure, list(panels))
    if drawn:
        return figure
    plt.close(figure)
    return None


FIGURES: dict[str, Callable[[Results], Figure | None]] = {
    "delta-time": delta_times,
    "tails": tails,
    "split": split,
    "first": firsts,
    "device-time": device_times,
}


def draw(results: Results, folder: Path) -> None:
    """Draw every figure that has something to say."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in FIGURES.items():
        figure = make(results)
        if figure is not None:
            # No date: the same results give the same file.
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Title": make.__doc__})
            plt.close(figure)
