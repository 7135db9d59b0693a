"""Message framing for devices without the wiregauge protocol."""

from __future__ import annotations

import re
from dataclasses import dataclass
from numbers import Integral

from .errors import usage

__all__ = ["Fixed", "Framing", "LengthPrefix", "Raw", "Terminator", "checked"]

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

    def __post_init__(self) -> None:
        """Refuse what is no size."""
        if not isinstance(self.bytes, Integral):
            raise TypeError(f"bytes must be an int, not {type(self.bytes).__name__}")
        if self.bytes < 1:
            raise ValueError(f"bytes must be at least 1, not {self.bytes}")

    def _parts(self) -> Parts:
        return ("fixed", b"", self.bytes, False, False)


@dataclass(frozen=True)
class Terminator:
    r"""Each message ends with these bytes, which are added to requests and removed from replies.

    Parameters
    ----------
    end : bytes or str
        1 to 8 bytes, such as ``"\n"`` for SCPI; a str is kept as its bytes (UTF-8).
    """

    end: bytes | str = b"\n"

    def __post_init__(self) -> None:
        """Keep text as its bytes."""
        if isinstance(self.end, str):
            object.__setattr__(self, "end", self.end.encode())
        elif not isinstance(self.end, (bytes, bytearray)):
            raise TypeError(f"end must be bytes or a str, not {type(self.end).__name__}")
        if not 1 <= len(self.end) <= 8:
            raise ValueError(f"end must have 1 to 8 bytes, not {len(self.end)}")

    def _parts(self) -> Parts:
        return ("terminator", bytes(self.end), 0, False, False)  # type: ignore[arg-type]  # text was made bytes


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

    def __post_init__(self) -> None:
        """Refuse what is no length of a length."""
        if self.bytes not in (1, 2, 4):
            raise ValueError(f"bytes must be 1, 2 or 4, not {self.bytes!r}")
        for name in ("big_endian", "counts_itself"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise TypeError(f"{name} must be True or False, not {type(value).__name__}")

    def _parts(self) -> Parts:
        return ("length-prefix", b"", self.bytes, self.big_endian, self.counts_itself)


Framing = Raw | Fixed | Terminator | LengthPrefix
"""Any of them."""

_EXAMPLES = {
    "raw": "wg.Raw()",
    "fixed": "wg.Fixed(bytes=8)",
    "terminator": "wg.Terminator()",
    "lengthprefix": "wg.LengthPrefix(bytes=2)",
}


def checked(framing: object, address: str) -> tuple[Framing | None, str | None]:
    """Return the framing of messages, and that of the characters on a serial line."""
    if framing is None or isinstance(framing, (Raw, Fixed, Terminator, LengthPrefix)):
        return framing, None
    if isinstance(framing, type) and (example := _EXAMPLES.get(framing.__name__.lower())):
        raise TypeError(f"framing must be {example}, not the class {framing.__name__}")
    if not isinstance(framing, str):
        raise TypeError(
            f"framing must be Raw, Fixed, Terminator or LengthPrefix, or a str, not {type(framing).__name__}"
        )
    # The program knows which there are.
    if framing[:1].isdigit():
        check_serial("framing", framing, address)
        return None, framing
    example = _EXAMPLES.get(re.sub(r"\W|_", "", framing.lower()))
    raise usage(
        "framing",
        f"framing={framing!r} is for characters on a serial line, such as '8E1'\n"
        f"  hint: for messages use {example or 'wg.Raw(), Fixed, Terminator or LengthPrefix'}",
    )


def check_serial(argument: str, value: object, address: str) -> None:
    """Refuse an argument of serial lines for another link."""
    if "://" in address and not address.startswith("serial:"):
        given = f"{argument}={value!r}"
        raise usage(argument, f"{given} requires a serial line, such as serial:///dev/ttyACM0, not {address}")
