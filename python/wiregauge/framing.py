"""Message framing for devices without the wiregauge protocol."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Fixed", "Framing", "LengthPrefix", "Raw", "Terminator"]

Parts = tuple[str, bytes, int, bool, bool]
"""Kind, end, bytes, big_endian, counts_itself: what the native half takes."""


@dataclass(frozen=True)
class Raw:
    """No framing: the caller gives the size of a reply [default: as the request]."""

    def _parts(self) -> Parts:
        return ("raw", b"", 0, False, False)


@dataclass(frozen=True)
class Fixed:
    """Every reply has a fixed size.

    Parameters
    ----------
    bytes : int
        Bytes of a reply.
    """

    bytes: int

    def _parts(self) -> Parts:
        return ("fixed", b"", self.bytes, False, False)


@dataclass(frozen=True)
class Terminator:
    r"""Each message ends with these bytes, which are added to requests and removed from replies.

    Parameters
    ----------
    end : bytes
        1 to 8 bytes, such as ``b"\n"`` for SCPI.
    """

    end: bytes = b"\n"

    def _parts(self) -> Parts:
        return ("terminator", bytes(self.end), 0, False, False)


@dataclass(frozen=True)
class LengthPrefix:
    """Each message begins with its length, which is added to requests and removed from replies.

    Parameters
    ----------
    bytes : int
        Bytes of the length: 1, 2 or 4.
    big_endian : bool
        The most significant byte first.
    counts_itself : bool
        The length includes the field itself.
    """

    bytes: int
    big_endian: bool = False
    counts_itself: bool = False

    def _parts(self) -> Parts:
        return ("length-prefix", b"", self.bytes, self.big_endian, self.counts_itself)


Framing = Raw | Fixed | Terminator | LengthPrefix
"""Any of them."""
