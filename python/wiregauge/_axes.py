"""Units, ticks, colours and series of the figures of the report, without matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

MOST = 10
"""More series than this cannot be distinguished in one plot."""

MOST_OUTLINES = 4
"""More outlines of histograms over each other cannot be distinguished."""

COLOURS = (
    "#216fa9", "#903a00", "#009392", "#0b98f8", "#d55f03",
    "#cc71c0", "#788a59", "#000000", "#772dce", "#712200",
)  # fmt: skip
"""Of series, as in the figures of the report: also distinct for people with a colour blindness."""

MARKERS = ("o", "s", "^", "D")
"""Of series, in their order."""

_MOST_NAMED = 12
"""More sizes than this are not named one by one."""

SHARES = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
"""Where a percentile axis has a label."""

_A_NINE = 32
"""Points of a percentile curve for each nine: more cannot be seen."""

_FEW = 10
"""With fewer samples beyond it a percentile is drawn thin: its standard error is over a third of them."""

T = TypeVar("T")
Limit = tuple[float, str]
"""A rate (B/s) and its name."""


def time_unit(longest_ns: float) -> tuple[float, str]:
    """Return nanoseconds per unit, and the unit, as in the figures of the report."""
    return (1e6, "ms") if longest_ns >= 1e6 else (1e3, "µs")


def rate_unit(high: float) -> tuple[float, str]:
    """Return bytes a second per unit, and the unit."""
    return (1e6, "MB/s") if high >= 1e6 else (1e3, "kB/s")


def spread(things: list[T], most: int = MOST) -> list[T]:
    """Return at most so many of them, evenly from the first to the last."""
    if len(things) <= most:
        return things
    return [things[round(at * (len(things) - 1) / (most - 1))] for at in range(most)]


def sizes(values: Iterable[int]) -> tuple[list[float], list[str]]:
    """Return where a logarithmic axis of sizes or depths has ticks, and their labels."""
    marks = sorted(set(values))
    if len(marks) > _MOST_NAMED:
        powers = [1 << power for power in range(32) if marks[0] <= 1 << power <= marks[-1]]
        marks = spread(powers, _MOST_NAMED)
    # Nothing at all has its place half an octave below one byte.
    return [max(mark, 0.7) for mark in marks], [f"{mark:,}" for mark in marks]


# ---- percentiles -------------------------------------------------------------------------------


def to_nines(share: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return how many nines a share has: 1 for 0.9, 2 for 0.99."""
    return -np.log10(np.clip(1.0 - np.asarray(share, np.float64), 1e-15, None))


def from_nines(nines: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the share with so many nines."""
    return 1.0 - 10.0 ** -np.asarray(nines, np.float64)


Curve = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Shares and times."""


def percentile_curve(times: npt.NDArray[np.float64]) -> tuple[Curve, Curve]:
    """Return the percentiles of some times: those that enough samples support, and the tail."""
    ordered = np.sort(times)
    count = ordered.size
    known = min(max(np.log10(count / _FEW), 0.0), np.log10(count))

    def part(first: float, last: float) -> Curve:
        shares = from_nines(np.linspace(first, last, 2 + int(_A_NINE * (last - first))))
        at = np.minimum((shares * count).astype(np.int64), count - 1)
        return shares, ordered[at]

    tail = part(known, np.log10(count))
    tail[1][-1] = ordered[-1]
    return part(0.0, known), tail


# ---- throughput --------------------------------------------------------------------------------


def _count(points: Iterable[Mapping[str, Any]], name: str) -> int:
    return len({point["point"][name] for point in points})


class Sweep:
    """The sizes of a run of exchanges against which its throughput is drawn: of IN, of OUT, or of both.

    As on the page: if the sizes of both directions vary, only points with the smallest size of the other.
    """

    def __init__(self, points: Sequence[Mapping[str, Any]]) -> None:
        cells = [point["point"] for point in points]
        in_varies, out_varies = (
            len({cell[name] for cell in cells}) > 1 for name in ("in_bytes", "out_bytes")
        )
        self.way, other = ("out", "in") if out_varies and not in_varies else ("in", "out")
        self.is_equal = len(cells) > 0 and all(cell["in_bytes"] == cell["out_bytes"] for cell in cells)
        others = {cell[f"{other}_bytes"] for cell in cells}
        smallest = min(others, default=0)
        self.points = [
            point
            for point in points
            if point["counts"]["answered"] and (self.is_equal or point["point"][f"{other}_bytes"] == smallest)
        ]

        self.held = "" if self.is_equal or len(others) < 2 else f", {other.upper()} {smallest:,} B only"
        """Which points alone are drawn, for the title."""
        self.is_of_depths = _count(self.points, f"{self.way}_bytes") < 2 <= _count(self.points, "depth")
        """True if only the depth varies."""

    def place(self, cell: Mapping[str, Any]) -> int:
        """Return where a point is on the axis."""
        return int(cell["depth"] if self.is_of_depths else cell[f"{self.way}_bytes"])

    def label(self, cell: Mapping[str, Any]) -> str:
        """Return what distinguishes the line of a point."""
        if self.is_of_depths:
            return f"OUT {cell['out_bytes']:,} B, IN {cell['in_bytes']:,} B"
        return f"depth {cell['depth']}"

    @property
    def size(self) -> str:
        """What the axis of sizes shows."""
        if self.is_of_depths:
            return "depth (log)"
        return ("size in each direction" if self.is_equal else f"{self.way.upper()} size") + " (B, log)"

    @property
    def what(self) -> str:
        """What the axis of rates shows."""
        return "throughput in each direction" if self.is_equal else f"{self.way.upper()} throughput"


def limits(found: Iterable[Mapping[str, Any] | None], most: float) -> list[Limit]:
    """Return the limits up to `most` (B/s), each once, with their names."""
    named: dict[Limit, None] = {}
    for limit in found:
        if limit is not None and 0.0 < limit["bytes_s"] <= most:
            factor, unit = rate_unit(limit["bytes_s"])
            # What comes before the place where it is written.
            source = limit["source"].replace(";", ",").split(",")[0]
            named[limit["bytes_s"], f"limit {limit['bytes_s'] / factor:,.4g} {unit}: {source}"] = None
    return list(named)
