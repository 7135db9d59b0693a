"""The rows of a run as numpy records, without a copy of the memory filled by Rust.

The fields are the columns of docs/run-format.md, and `point` in front: the position of the row's point
in the plan. Times are integer nanoseconds, sizes bytes, outputs and commands of a control run float64.
`phase`, `status`, `way` and `xrun` are numbers of one byte; the enumerations here name them.
"""

from __future__ import annotations

import operator
from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native

__all__ = ["ControlStatus", "Phase", "Status", "TransferStatus", "Way", "Xrun", "dtype", "names"]


class Phase(IntEnum):
    """The phase of a row; only measured rows are in the statistics."""

    FIRST = 0
    WARM_UP = 1
    MEASURED = 2


class Status(IntEnum):
    """Outcome of an exchange."""

    OK = 0
    LOST = 1
    LATE = 2
    DUPLICATED = 3
    REORDERED = 4
    CORRUPTED = 5
    UNEXPECTED = 6


class TransferStatus(IntEnum):
    """Outcome of a transfer of a stream."""

    OK = 0
    STALLED = 1
    CANCELLED = 2
    FAILED = 3


class ControlStatus(IntEnum):
    """Outcome of a cycle of `loop_control`."""

    OK = 0
    SAMPLE_LOST = 1
    COMMAND_LOST = 2
    OVERTAKEN = 3
    UNSENT = 4


class Way(IntEnum):
    """Direction of a transfer, seen from the host."""

    IN = 0
    OUT = 1


class Xrun(IntEnum):
    """Errors of a block of a loop."""

    NONE = 0
    OVERRUN = 1
    UNDERRUN = 2
    BOTH = 3


def names(kind: str, field: str) -> list[str] | None:
    """Return the names for the numbers of a field, in order.

    Parameters
    ----------
    kind
        Of the run: ``exchange``, ``stream``, ``loop`` or ``control``.
    field
        A field of its rows.

    Returns
    -------
    list of str or None
        None for a field that is a number.
    """
    return _native.names(kind, field) or None


@cache
def dtype(kind: str) -> np.dtype[np.void]:
    """Return the record type of a kind of run.

    Parameters
    ----------
    kind
        ``exchange``, ``stream``, ``loop`` or ``control``.

    Returns
    -------
    numpy.dtype
        A structured type; its fields are in the order of docs/run-format.md, after `point`.

    Raises
    ------
    ValueError
        There is no such kind.
    """
    size, fields = _native.layout(kind)
    layout: Any = {
        "names": [name for name, _, _ in fields],
        "formats": [form for _, form, _ in fields],
        "offsets": [place for _, _, place in fields],
        "itemsize": size,
    }
    made: np.dtype[np.void] = np.dtype(layout)
    return made


def array(rows: _native.Rows, kind: str) -> npt.NDArray[np.void]:
    """View rows as records, without a copy; the array keeps them alive."""
    if not len(rows):
        return np.empty(0, dtype(kind))
    made: npt.NDArray[np.void] = np.frombuffer(rows, dtype=dtype(kind))  # type: ignore[call-overload]
    return made


def place_of(point: object, count: int) -> int:
    """Return the place of a point among `count`, counted from the end if negative.

    Parameters
    ----------
    point
        The position that was given.
    count
        Points of the run.

    Returns
    -------
    int
        0 to ``count - 1``.

    Raises
    ------
    IndexError
        There is no such point.
    TypeError
        It is no whole number.
    """
    try:
        place = operator.index(point)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"a point must be an int, not {type(point).__name__}") from None
    if not -count <= place < count:
        there = f"{count} points, 0 to {count - 1}" if count > 1 else f"{count} point" + "s" * (count == 0)
        raise IndexError(f"point {place}: the run has {there}")
    return place % count
