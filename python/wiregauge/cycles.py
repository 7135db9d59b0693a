"""What a run means for a control loop."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _call
from ._html import escape
from ._optional import need

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Deadline"]


class Deadline:
    """A run, held against a control loop; made by `deadline`.

    Attributes
    ----------
    data : dict
        As the program prints it with ``--json``; docs/deadline.md has the keys. `points` has an entry for
        each point.
    missed : tuple of str
        The limits (``require``) that were not kept, or not shown to be, each with its point.
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
        """Why nothing is told beyond the measured count, for each point of which nothing is."""
        whys = (point["beyond"]["why"] for point in self.data["points"])
        return [why for why in whys if why]

    def table(self) -> pd.DataFrame:
        """Give one row a point.

        Returns
        -------
        pandas.DataFrame
            What was asked of the point; `cycles`, `missed`, the `share` of these with its bounds
            `share_low` and `share_high` (0 to 1), `effective_cycles`, `runs`, `longest_run` and
            `mean_run` (cycles); `late`, `late_low`, `late_high`, the share of responses that the tail
            puts beyond the deadline, and `one_in`, how rare that may be to be told; NaN where there is
            none.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        pandas = need("pandas", "a table of deadlines")
        frame: pd.DataFrame = pandas.DataFrame([_row(point) for point in self.data["points"]])
        return frame

    @cached_property
    def _text(self) -> str:
        return _call.said(_call.command("deadline", [self._place], extra=self._flags)[0])

    def __str__(self) -> str:
        """Tell it in words and tables."""
        return self._text

    def __repr__(self) -> str:
        """Tell it in words and tables."""
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self._text)}</pre>"


def _row(point: dict[str, Any]) -> dict[str, Any]:
    counted = ("cycles", "missed", "effective_cycles", "runs", "longest_run", "mean_run")
    late = point["beyond"]["late"] or {}
    # One that is rarer than can be told has an upper bound only.
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
