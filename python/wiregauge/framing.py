"""How messages are told apart on a link whose device knows nothing of wiregauge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

__all__ = ["Fixed", "Framing", "LengthPrefix", "Raw", "Terminator"]

# Kind, end, bytes, big_endian, counts_itself: what the extension takes.
RawFraming = tuple[str, bytes, int, bool, bool]


@dataclass(frozen=True)
class Raw:
    """Nothing is added: a reply is as long as the caller says (`reply_bytes`), else as the request."""

    def _raw(self) -> RawFraming:
        return ("raw", b"", 0, False, False)


@dataclass(frozen=True)
class Fixed:
    """Every reply is so many bytes long.

    Parameters
    ----------
    bytes : int
        Bytes of a reply.
    """

    bytes: int

    def _raw(self) -> RawFraming:
        return ("fixed", b"", self.bytes, False, False)


@dataclass(frozen=True)
class Terminator:
    r"""Each message ends with these bytes, which are added to requests and taken off replies.

    Parameters
    ----------
    end : bytes
        1 to 8 bytes, such as ``b"\n"`` for SCPI.
    """

    end: bytes = b"\n"

    def _raw(self) -> RawFraming:
        return ("terminator", bytes(self.end), 0, False, False)


@dataclass(frozen=True)
class LengthPrefix:
    """Each message begins with its length, which is added to requests and taken off replies.

    Parameters
    ----------
    bytes : int
        Bytes of the length: 1, 2 or 4.
    big_endian : bool
        The most significant byte first.
    counts_itself : bool
        The number counts its own bytes as well.
    """

    bytes: int
    big_endian: bool = False
    counts_itself: bool = False

    def _raw(self) -> RawFraming:
        return ("length-prefix", b"", self.bytes, self.big_endian, self.counts_itself)


Framing = Union[Raw, Fixed, Terminator, LengthPrefix]
