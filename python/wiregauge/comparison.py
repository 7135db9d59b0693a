"""Comparison of runs, with confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _call, _native
from ._html import Text
from ._optional import need
from .figure import Figures

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison"]


class Comparison(Text):
    """A comparison of two sides of runs; returned by `compare`.

    Attributes
    ----------
    data : dict
        As printed with ``--json``: `points`, each with its `figures`, their `difference`
        and `verdict`.
    met : tuple of str
        The conditions (``fail_if``) that are met, each with its point.
    """

    data: dict[str, Any]
    met: tuple[str, ...]

    def __init__(self, data: dict[str, Any], sides: Sequence[str], met: tuple[str, ...]) -> None:
        self.data = data
        self.met = met
        self._sides = list(sides)

    @property
    def undecided(self) -> list[str]:
        """The inconclusive conditions, each with its point."""
        judged = self.data["fail_if"]
        return [f"{one['condition']}: {place}" for one in judged for place in one["undecided"]]

    @property
    def changed(self) -> list[dict[str, Any]]:
        """Other differences between the sides, which may be the cause."""
        changed: list[dict[str, Any]] = self.data["changed"]
        return changed

    @property
    def notes(self) -> list[str]:
        """Notes on the comparison."""
        return list(self.data["notes"])

    def table(self) -> pd.DataFrame:
        """Return one row per point and figure.

        Returns
        -------
        pandas.DataFrame
            The parameters of the point, `figure`, `before` and `after` (ns, bytes, a second, or a
            share), `difference` with its bounds `low` and `high`, and `verdict`. The difference is
            relative (0.05 is 5 % more); of shares (lost, corrupted, below) it is absolute.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        pandas = need("pandas", "a table of a comparison")
        frame: pd.DataFrame = pandas.DataFrame(self._rows())
        return frame

    def _rows(self) -> list[dict[str, Any]]:
        rows = []
        for point in self.data["points"]:
            for figure in point["figures"]:
                difference = figure["difference"] or {}
                is_share = figure["figure"].startswith(("lost", "corrupted", "below"))
                judged = difference.get("absolute" if is_share else "relative") or {}
                rows.append(
                    {
                        **point["point"],
                        "figure": figure["figure"],
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
    def figures(self) -> Figures:
        """The figure of it, by its name."""
        sides = [[_native.find(run) for run in self._runs(side)] for side in self._sides]
        return Figures(_native.figures_of_comparison(*sides))

    @staticmethod
    def _runs(side: str) -> list[str]:
        from pathlib import Path

        # A directory may have a comma in its name.
        return [side] if Path(side).is_dir() else side.split(",")

    @cached_property
    def _text(self) -> str:
        return _call.said(_call.command("compare", self._sides, extra=["--full"])[0])

    def markdown(self) -> str:
        """Return it as Markdown, for a pull request.

        Returns
        -------
        str
        """
        return _call.said(_call.command("compare", self._sides, extra=["--format=md"])[0])

    def __str__(self) -> str:
        """Return words and tables."""
        return self._text
