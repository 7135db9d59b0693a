"""Comparison of runs, with confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _call, _frames
from ._html import Text
from ._optional import need
from ._words import in_python

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison"]

_COLUMNS = {"out": "out_bytes", "in": "in_bytes", "transfer": "transfer_bytes"}
"""The parameters of a point that a summary of a run has by another name."""


class Comparison(Text):
    """A comparison of two sides of runs; returned by `compare`.

    Attributes
    ----------
    data : dict
        As printed with ``--json``: `points`, each with its `figures`, their `difference`
        and `verdict`.
    met : tuple of str
        The conditions (``fail_if``) that are met by the whole interval of the difference, each
        with its point.
    undecided : tuple of str
        The conditions that are undecided, each with its point: the interval of the difference
        contains the bound, or there is none.
    """

    data: dict[str, Any]
    met: tuple[str, ...]
    undecided: tuple[str, ...]

    def __init__(self, data: dict[str, Any], sides: Sequence[str], only: Sequence[str] = ()) -> None:
        self.data = data
        self.met = self._conditions("met")
        self.undecided = self._conditions("undecided")
        self._sides = list(sides)
        self._only = list(only)

    def _conditions(self, what: str) -> tuple[str, ...]:
        judged = self.data["fail_if"]
        return tuple(f"{one['condition']}: {place}" for one in judged for place in one[what])

    @property
    def changed(self) -> list[dict[str, Any]]:
        """Other differences between the sides, which may be the cause."""
        changed: list[dict[str, Any]] = self.data["changed"]
        return changed

    @property
    def notes(self) -> list[str]:
        """Notes on the comparison."""
        return [in_python(note) for note in self.data["notes"]]

    def table(self) -> pd.DataFrame:
        """Return one row per point and figure.

        Returns
        -------
        pandas.DataFrame
            The parameters of the point by their names in `Run.summary`, `figure`, `before` and `after` in
            its `unit`, `difference` with its bounds `low` and `high`, and `verdict`. The difference is
            relative (0.05 is 5 % more); of shares (lost, corrupted, below) it is absolute.
            ``frame.attrs["units"]`` has the units of the other columns.

        Raises
        ------
        ImportError
            pandas is not installed.

        Examples
        --------
        >>> table = wg.compare("before", "after", only=["p50", "p99"]).table()
        >>> table.pivot(index="in_bytes", columns="figure", values="difference")
        """
        pandas = need("pandas", "a table of a comparison")
        frame: pd.DataFrame = pandas.DataFrame(self._rows())
        frame.attrs["units"] = {
            column: _frames.unit(column) or "1"
            for column in frame.columns
            if column in ("difference", "low", "high") or _frames.unit(column)
        }
        return frame

    def _rows(self) -> list[dict[str, Any]]:
        rows = []
        for point in self.data["points"]:
            for figure in point["figures"]:
                difference = figure["difference"] or {}
                judged = difference.get("absolute" if _is_share(figure["figure"]) else "relative") or {}
                rows.append(
                    {
                        **{_COLUMNS.get(name, name): _number(text) for name, text in point["point"].items()},
                        "figure": figure["figure"],
                        "unit": _unit(figure["figure"]),
                        "before": (difference.get("before") or {}).get("value"),
                        "after": (difference.get("after") or {}).get("value"),
                        "difference": judged.get("value"),
                        "low": judged.get("low"),
                        "high": judged.get("high"),
                        "verdict": figure["verdict"],
                    }
                )
        return rows

    @cached_property
    def _text(self) -> str:
        return in_python(self._as("--full"))

    def markdown(self) -> str:
        """Return it as Markdown, for a pull request.

        Returns
        -------
        str

        Raises
        ------
        UsageError
            A run has been deleted.

        Examples
        --------
        >>> print(wg.compare("before", "after").markdown())
        """
        return self._as("--format=md")

    def _as(self, form: str) -> str:
        extra = [form, *(f"--only={names}" for names in self._only)]
        return _call.said(_call.command("compare", self._sides, extra=extra))

    def __str__(self) -> str:
        """Return words and tables."""
        return self._text


def _number(text: str) -> int | bool | str:
    """Return the value of a parameter."""
    if text.isdigit():
        return int(text)
    return {"yes": True, "no": False}.get(text, text)


def _unit(figure: str) -> str:
    """Return the unit of a figure before and after."""
    name = figure.split("(")[0]
    if name.endswith("throughput"):
        return "B/s"
    return {"exchanges": "1/s", "buffer": "B"}.get(name, "1" if _is_share(name) else "ns")


def _is_share(figure: str) -> bool:
    return figure.startswith(("lost", "corrupted", "below"))
