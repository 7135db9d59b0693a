"""The figures of the report as SVG, for notebooks and papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from . import _native
from ._html import escape, page
from ._words import in_python

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
        How to read it, and what is not shown.
    svg : str
        A whole SVG document.
    """

    def __init__(self, native: _native.Figure) -> None:
        self._native = native
        self.name: str = native.name
        self.title: str = native.title
        self.caption: str = in_python(native.caption)

    @property
    def svg(self) -> str:
        """A whole SVG document."""
        return self._native.svg

    def png(self, scale: float = 3.0) -> bytes:
        """Return it as PNG, on a white background.

        Parameters
        ----------
        scale
            Pixels for each pixel of the SVG, 0.1 to 10; 3 are 300 dpi at the width of a page.

        Raises
        ------
        ValueError
            The scale is out of range.

        Returns
        -------
        bytes

        Examples
        --------
        >>> wg.last().figure("rtt-histogram").png(scale=2)
        """
        return self._native.png(scale)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file (``.svg`` or ``.png``).

        Parameters
        ----------
        path
            The file; its ending chooses the format. PNG has 300 dpi at the width of a page.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        ValueError
            The name has another ending.
        OSError
            The file cannot be written.

        Examples
        --------
        >>> wg.last().figure("rtt-histogram").save("histogram.svg")
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
        """Return a short description."""
        return f"<wiregauge.Figure {self.name}: {self.title}>"

    def _repr_svg_(self) -> str:
        return self.svg


class Figures(Mapping[str, Figure]):
    """Figures by name, the most important first."""

    def __init__(self, natives: list[_native.Figure]) -> None:
        self._all = {native.name: Figure(native) for native in natives}

    def __getitem__(self, name: str) -> Figure:
        """Return one."""
        try:
            return self._all[name]
        except KeyError:
            there = ", ".join(self._all) or "none"
            raise KeyError(f"these runs have no figure {name!r}; they have: {there}") from None

    def __iter__(self) -> Iterator[str]:
        """Return their names."""
        return iter(self._all)

    def __len__(self) -> int:
        """Return their number."""
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
