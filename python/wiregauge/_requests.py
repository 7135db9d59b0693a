"""Requests and replies of a batch, as rows of memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._queries import Request

Buffer = bytes | bytearray | memoryview | npt.NDArray[Any]
"""Data to send: any object with a contiguous buffer."""


def at_least(name: str, value: int, least: int) -> None:
    """Refuse a smaller number, or what is no int, by the name of its argument."""
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")


def rows(
    requests: Buffer | Sequence[Request], request_bytes: int | None
) -> tuple[Buffer, npt.NDArray[np.uintp], int]:
    """All requests in one piece, where each ends in it, and the bytes of the longest."""
    if isinstance(requests, (list, tuple)):
        if request_bytes is not None:
            raise ValueError("`request_bytes` is for one buffer; a list has the size of each request")
        if any(isinstance(one, str) for one in requests):
            raise TypeError(
                "requests must be bytes or arrays; str is for the protocols text and scpi, and the framing "
                "Terminator"
            )
        for at, one in enumerate(requests):
            if not isinstance(one, (bytes, bytearray, memoryview, np.ndarray)):
                raise TypeError(f"requests[{at}] must be bytes or an array, not {type(one).__name__}")
        pieces = [memoryview(one).cast("B") if not isinstance(one, bytes) else one for one in requests]
        lengths = [len(piece) for piece in pieces]
        ends = np.cumsum(lengths, dtype=np.uintp)
        return b"".join(pieces), ends, max(lengths, default=0)
    if isinstance(requests, Sequence) and not isinstance(requests, (bytes, bytearray, memoryview)):
        raise TypeError(f"requests must be an array, a list or a buffer, not {type(requests).__name__}")
    if request_bytes is not None:
        size = requests.nbytes if isinstance(requests, (np.ndarray, memoryview)) else len(requests)
        if request_bytes < 1 or size % request_bytes:
            raise ValueError(f"{size} bytes are not a whole number of requests of {request_bytes} bytes")
        return requests, _equal(size // request_bytes, request_bytes), request_bytes
    if not isinstance(requests, np.ndarray):
        raise TypeError(
            f"requests must be an array with one row each, a list, or one buffer with `request_bytes`; "
            f"not a {type(requests).__name__} alone"
        )
    if requests.ndim < 2:
        raise ValueError(
            f"an array of requests must have one row for each; this one has the shape {requests.shape}. "
            "Use reshape(-1, N), or `request_bytes`"
        )
    _in_order(requests, "requests")
    row = requests.itemsize * math.prod(requests.shape[1:])
    return requests, _equal(len(requests), row), row


def _equal(count: int, size: int) -> npt.NDArray[np.uintp]:
    return np.arange(1, count + 1, dtype=np.uintp) * np.uintp(size)


def checked_replies(out: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    """Return a buffer with a row for each reply, if it is one."""
    if not isinstance(out, np.ndarray) or out.ndim < 2 or len(out) != count:
        shape = getattr(out, "shape", type(out).__name__)
        raise ValueError(f"`out` must be an array with a row for each of the {count} requests, not {shape}")
    if not out.flags.writeable:
        raise ValueError("`out` is read-only")
    _in_order(out, "`out`")
    return out


def _in_order(array: npt.NDArray[Any], what: str) -> None:
    if array.dtype.hasobject:
        raise TypeError(f"{what} cannot hold Python objects (dtype {array.dtype})")
    if not array.flags.c_contiguous:
        raise ValueError(f"{what} must be contiguous in C order; numpy.ascontiguousarray makes such a copy")
