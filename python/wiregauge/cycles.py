"""Missed deadlines of a control loop, from a run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _call
from ._html import Text
from ._optional import need

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Deadline"]


class Deadline(Text):
    """A run evaluated for a control loop; returned by `deadline`.

    Attributes
    ----------
    data : dict
        As printed with ``--json``; docs/deadline.md lists the keys. `points` has an entry for
        each point.
    missed : tuple of str
        The limits (``require``) that are missed or undecided, each with its point.
    """

    data: dict[str, Any]
    missed: tuple[str, ...]

    def __init__(
        self, data: dict[str, Any], place: str, flags: Sequence[str], missed: tuple[str, ...]
    ) -> None:
        self.data = data
        self.missed = missed
        self._place = place
        self._flags = list(flags)

    @property
    def refused(self) -> list[str]:
        """Why there is no tail extrapolation, for each such point."""
        whys = (point["beyond"]["why"] for point in self.data["points"])
        return [why for why in whys if why]

    def table(self) -> pd.DataFrame:
        """Return one row per point.

        Returns
        -------
        pandas.DataFrame
            The parameters of the point; `cycles`, `missed`, the `share` of these with its bounds
            `share_low` and `share_high` (0 to 1), `effective_cycles`, `runs`, `longest_run` and
            `mean_run` (cycles); `late`, `late_low`, `late_high`, the share of responses beyond the
            deadline by the fitted tail, and `one_in`, how far the tail is supported; NaN without a
            tail.

        Raises
        ------
        ImportError
            pandas is not installed.

        Examples
        --------
        >>> wg.deadline("last", period="1ms").table()[["in_bytes", "depth", "share"]]
        """
        pandas = need("pandas", "a table of deadlines")
        frame: pd.DataFrame = pandas.DataFrame([_row(point) for point in self.data["points"]])
        return frame

    @cached_property
    def _text(self) -> str:
        return _call.text(_call.command("deadline", [self._place], extra=self._flags))

    def __str__(self) -> str:
        """Return words and tables."""
        return self._text


def _row(point: dict[str, Any]) -> dict[str, Any]:
    counted = ("cycles", "missed", "effective_cycles", "runs", "longest_run", "mean_run")
    late = point["beyond"]["late"] or {}
    # One that is too rare to estimate has an upper bound only.
    high = late.get("than", late.get("high"))
    row = {
        **point["point"],
        **{name: point[name] for name in counted},
        "share": point["share"]["value"],
        "share_low": point["share"]["low"],
        "share_high": point["share"]["high"],
        "late": late.get("value"),
        "late_low": late.get("low"),
        "late_high": high,
        "one_in": point["beyond"]["one_in"],
    }
    return {name: float("nan") if value is None else value for name, value in row.items()}
