"""Ticks of logarithmic axes in matplotlib, as in the figures of the report."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, Locator, LogLocator, NullLocator


class LogTicks(Locator):
    """Ticks at 1, 2 and 5; more over less than about a decade; over three and more only powers of 10."""

    def __call__(self) -> Any:
        """Return the ticks of the axis."""
        assert self.axis is not None
        return self.tick_values(*self.axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Return the ticks between two values."""
        low, high = sorted((vmin, vmax))
        if low <= 0.0:
            return []
        decades = np.log10(high / low)
        parts = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0) if decades < 1.2 else (1.0, 2.0, 5.0)
        ticks = LogLocator(subs=parts if decades < 3.0 else (1.0,), numticks=12).tick_values(low, high)
        return [tick for tick in ticks if low <= tick <= high]


def logarithmic(axis: Axis) -> None:
    """Give a logarithmic axis these ticks."""
    axis.set_major_locator(LogTicks())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def named(axis: Axis, places: list[float], labels: list[str]) -> None:
    """Give an axis ticks at these places only."""
    axis.set_ticks(places, labels)
    axis.set_minor_locator(NullLocator())
