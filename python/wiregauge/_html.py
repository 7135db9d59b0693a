"""Tables for notebooks, in the plain HTML that every notebook styles by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["Text", "escape", "page", "paragraphs", "table", "unbroken"]


class Text:
    """Shows its `str()` wherever an object is shown."""

    def __repr__(self) -> str:
        """Return the text."""
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table of finished cells."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<table><caption>{escape(title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def unbroken(row: Sequence[str]) -> list[str]:
    """Return the cells of a row with signs that terminals may lack; an interval stays in one line."""
    return [
        cell.replace("+-", "±").replace(" .. ", "\u00a0..\u00a0").replace(" (", "\u00a0(") for cell in row
    ]


def paragraphs(texts: Iterable[str], title: str = "") -> str:
    """Make a paragraph of each text."""
    begin = f"<b>{escape(title)}</b> " if title else ""
    return "".join(f"<p>{begin}{escape(text)}</p>" for text in texts)


def page(*parts: str) -> str:
    """Put parts below each other."""
    return "<div>" + "".join(parts) + "</div>"
