"""What the measured delays of a run do to a control loop."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _call
from ._html import Text
from ._loop_model import ModelFile
from ._optional import need

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Control"]


class Control(Text):
    """A control loop with the delays of a run; returned by `control`.

    Attributes
    ----------
    data : dict
        As printed with ``--json``; docs/control.md lists the keys. `points` has an entry for
        each point, with its verdicts in `assessment` (None if no response arrived in time).
    missed : tuple of str
        The limits of `require` that are missed or undecided.
    """

    data: dict[str, Any]
    missed: tuple[str, ...]

    def __init__(
        self,
        data: dict[str, Any],
        place: str,
        flags: Sequence[str],
        model: ModelFile | None = None,
        missed: tuple[str, ...] = (),
    ) -> None:
        self.data = data
        self.missed = missed
        self._place = place
        self._flags = list(flags)
        # The text is made when it is asked for.
        self._model = model

    def table(self) -> pd.DataFrame:
        """Return one row per point.

        Returns
        -------
        pandas.DataFrame
            The parameters of the point; `cycles`, `unanswered` and `unsent`; `median_ns`, `p99_ns`,
            `max_ns`, `late` and `lost` (shares, 0 to 1) of the delays; on this trace `held`, `growth`
            per cycle, `cost` with its bounds `cost_low` and `cost_high`, and `cost_without`, that
            without delay; NaN where something is not defined.

        Raises
        ------
        ImportError
            pandas is not installed.

        Examples
        --------
        >>> found = wg.control("last", plant="1000/(s^2+s)", pid=(0.96, 0, 0.049), period="6ms")
        >>> found.table().set_index("depth")["cost"]
        """
        pandas = need("pandas", "a table of control loops")
        frame: pd.DataFrame = pandas.DataFrame([_row(point) for point in self.data["points"]])
        return frame

    @cached_property
    def _text(self) -> str:
        return _call.text(_call.command("control", [self._place], extra=[*self._flags, "--full"]))

    def __str__(self) -> str:
        """Return all tables and notes."""
        return self._text


def _row(point: dict[str, Any]) -> dict[str, Any]:
    found = point["assessment"] or {}
    delays = found.get("delays", {})
    on_trace = found.get("on_trace", {})
    interval = on_trace.get("interval") or {}
    row = {
        **point["point"],
        **{name: point[name] for name in ("cycles", "unanswered", "unsent")},
        **{name: delays.get(name) for name in ("median_ns", "p99_ns", "max_ns", "late", "lost")},
        "held": on_trace.get("cost") is not None,
        "growth": on_trace.get("growth"),
        "cost": on_trace.get("cost"),
        "cost_low": interval.get("low"),
        "cost_high": interval.get("high"),
        "cost_without": on_trace.get("no_delay", {}).get("cost"),
    }
    return {name: float("nan") if value is None else value for name, value in row.items()}
