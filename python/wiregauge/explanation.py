"""The result of `explain`."""

from __future__ import annotations

from typing import Any

from ._html import Text

__all__ = ["Explanation"]


class Explanation(Text):
    """Where the time of a run goes, what limits it, and what to try.

    Attributes
    ----------
    data : dict
        As printed with ``--json``; docs/explain.md lists the keys.
    """

    data: dict[str, Any]

    def __init__(self, data: dict[str, Any], text: str) -> None:
        self.data = data
        self._text = text

    def __str__(self) -> str:
        """Return the text."""
        return self._text

    @property
    def models(self) -> list[dict[str, Any]]:
        """The link models, one for each direction of each link; ``model`` may be None. None of a capture."""
        models: list[dict[str, Any]] = self.data.get("models", [])
        return models

    @property
    def predictions(self) -> list[dict[str, Any]]:
        """The predictions, in the order of models and settings; times in nanoseconds."""
        return [one for model in self.models for one in model["predictions"]]
