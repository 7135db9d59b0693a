"""Figures as the report has them: SVG, for a notebook to show and a paper to take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from . import _native
from ._html import escape, page

if TYPE_CHECKING:
    import os

__all__ = ["Figure", "Figures"]


class Figure:
    """A finished figure.

    Attributes
    ----------
    name : str
        The stem of its file name, such as ``rtt-histogram``.
    title : str
        What it shows.
    caption : str
        How to read it, and what was left out of the drawing.
    svg : str
        A whole SVG document.
    """

    def __init__(self, native: _native.Figure) -> None:
        self._native = native
        self.name = native.name
        self.title = native.title
        self.caption = native.caption

    @property
    def svg(self) -> str:
        """A whole SVG document."""
        return self._native.svg

    def png(self, scale: float = 3.0) -> bytes:
        """Give it as pixels, white behind.

        Parameters
        ----------
        scale
            Pixels for each pixel of the SVG, 0.1 to 10; 3 are 300 dpi at the width of a page.

        Raises
        ------
        ValueError
            The scale is out of range.
        """
        return self._native.png(scale)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file, whose name ends in ``.svg`` or ``.png``.

        Raises
        ------
        ValueError
            The name ends otherwise.
        OSError
            The file cannot be written.
        """
        path = Path(path)
        match path.suffix.lower():
            case ".svg":
                path.write_text(self.svg, encoding="utf-8")
            case ".png":
                path.write_bytes(self.png())
            case other:
                raise ValueError(f"path must end in .svg or .png, not {other or 'nothing'!r}")
        return path

    def __repr__(self) -> str:
        """Name it."""
        return f"<wiregauge.Figure {self.name}: {self.title}>"

    def _repr_svg_(self) -> str:
        return self.svg


class Figures(Mapping[str, Figure]):
    """Figures by their names, in the order in which a reader wants them."""

    def __init__(self, natives: list[_native.Figure]) -> None:
        self._all = {native.name: Figure(native) for native in natives}

    def __getitem__(self, name: str) -> Figure:
        """Give one."""
        try:
            return self._all[name]
        except KeyError:
            there = ", ".join(self._all) or "none"
            raise KeyError(f"there is no figure {name!r} of these runs; there are: {there}") from None

    def __iter__(self) -> Iterator[str]:
        """Give their names."""
        return iter(self._all)

    def __len__(self) -> int:
        """Count them."""
        return len(self._all)

    def __repr__(self) -> str:
        """Name them."""
        return f"<wiregauge.Figures: {', '.join(self._all)}>"

    def _repr_html_(self) -> str:
        return page(
            *(
                f"<figure>{figure.svg}<figcaption><b>{escape(figure.title)}.</b> "
                f"{escape(figure.caption)}</figcaption></figure>"
                for figure in self._all.values()
            )
        )
