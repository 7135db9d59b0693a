"""The calls of an open device for text, SCPI and Modbus."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _native
from . import _values as v
from .errors import UsageError, usage

Protocol = Literal["wiregauge", "text", "scpi", "modbus"]
"""What a device speaks."""

Request = bytes | bytearray | memoryview | npt.NDArray[Any] | str
"""Data to send; `str` where the protocol is text or scpi, or the framing a `Terminator`."""

Registers = Sequence[int] | npt.NDArray[Any]
"""Values of registers: -32768 to 65535, negative ones as two's complement."""

Parts = tuple[str, bytes | None, int | None, str | None, int | None, int]
"""Protocol, until, reply_bytes, reply_length, idle in ns, unit: what the native half takes."""

_OF = {"until": "text", "reply_bytes": "text", "reply_length": "text", "idle": "text", "unit": "modbus"}
_ERRORS = 1000
_UNITS_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9}


def parts(protocol: str, given: dict[str, Any]) -> Parts | None:
    """Check what was given for a protocol."""
    if protocol not in ("wiregauge", "text", "scpi", "modbus"):
        raise usage(
            "protocol",
            f'protocol: "{protocol}" is not known: use "wiregauge", "text", "scpi" or "modbus"; '
            "for other devices a `framing`",
        )
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if _OF[name] != protocol:
            raise usage(
                name,
                f'{name} has no effect with protocol="{protocol}"\n'
                f'  hint: use protocol="{_OF[name]}", or omit {name}',
            )
    if protocol == "wiregauge":
        return None
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} exclude each other: a reply has one end")
    until = given.get("until")
    if isinstance(until, str):
        until = until.encode()
    for name, most in (("reply_bytes", 2**32 - 1), ("unit", 255)):
        if name in given and not 0 <= given[name] <= most:
            raise usage(name, f"{name} must be 0 to {most}, not {given[name]}")
    length = given.get("reply_length")
    if length is not None and not isinstance(length, str):
        raise TypeError(f"reply_length must be a str such as u16be@2+4, not {type(length).__name__}")
    idle = nanoseconds("idle", given["idle"]) if "idle" in given else None
    return protocol, until, given.get("reply_bytes"), length, idle, given.get("unit", 1)


class QueryDevice(_native.RawDevice):
    """The calls of an open device for messages of text, and for Modbus."""

    # ---- text and scpi ---------------------------------------------------------------------------

    def query(self, message: Request) -> str:
        r"""Send a message and return its reply as text.

        Parameters
        ----------
        message : str or bytes
            What to send: with ``scpi`` a newline is added, with the framing `Terminator` its end, with
            ``text`` nothing.

        Returns
        -------
        str
            The reply without its end, decoded as UTF-8; with ``scpi`` also without a carriage return. For
            bytes use `exchange`.

        Raises
        ------
        LinkError
            No complete reply within the timeout, or the link failed.
        ValueError
            The reply is not text (use `exchange` or `query_block`), or the message has several lines.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.7:5025", protocol="scpi") as meter:
        ...     meter.query("*IDN?")
        """
        if self._is_scpi and isinstance(message, str) and "\n" in message.rstrip("\r\n"):
            raise ValueError("a query has one message, not several lines; join commands with ; if need be")
        return self._text(self.exchange(message))

    def write(self, message: Request) -> None:
        """Send a message that the device does not answer, such as ``*RST``.

        Also for devices that never answer. Unexpected answers can be read with `read`; the next exchange
        drops them. Not with the protocols wiregauge and modbus, in which every message is answered.

        Parameters
        ----------
        message : str or bytes
            As in `query`.

        Raises
        ------
        LinkError
            The link failed, or did not accept the message within the timeout.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.7:5025", protocol="scpi") as meter:
        ...     meter.write("*RST")
        """
        self._write(message)

    def read(self, reply_bytes: int | None = None) -> str:
        """Return one more reply as text, of a message sent with `write`.

        Parameters
        ----------
        reply_bytes : int, optional
            Its size, with the framing `Raw`.

        Returns
        -------
        str
            As from `query`; bytes: `read_bytes`.

        Raises
        ------
        LinkError
            No complete reply within the timeout.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.7:5025", protocol="scpi") as meter:
        ...     meter.write("READ?")
        ...     meter.read()
        """
        return self._text(self._read(reply_bytes))

    def read_bytes(self, reply_bytes: int | None = None) -> bytes:
        """Return one more reply, of a message sent with `write`, as it came.

        Parameters
        ----------
        reply_bytes : int, optional
            Its size, with the framing `Raw`.

        Returns
        -------
        bytes

        Raises
        ------
        LinkError
            No complete reply within the timeout.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.7:5025", protocol="scpi") as meter:
        ...     meter.write("CURV?")
        ...     meter.read_bytes()
        """
        return self._read(reply_bytes)

    def query_block(self, message: Request) -> bytes:
        """Send a message and return the block data of its reply (IEEE 488.2, ``#3100...``).

        Parameters
        ----------
        message : str or bytes
            As in `query`.

        Returns
        -------
        bytes
            The data, without its header.

        Raises
        ------
        ValueError
            The reply is no block data.
        LinkError
            No complete reply within the timeout, or the link failed.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.7:5025", protocol="scpi") as scope:
        ...     scope.query_block("CURV?")
        """
        reply = self.exchange(message)
        if reply[:1] == b"#" and reply[1:2].isdigit():
            digits = int(reply[1:2])
            size = reply[2 : 2 + digits]
            if digits and size.isdigit():
                data = reply[2 + digits :][: int(size)]
                if len(data) == int(size):
                    return data
            elif not digits:
                # Of indefinite length: up to the newline.
                return reply[2:]
        raise ValueError(f"the reply to {message!r} is no block data: it begins {reply[:20]!r}")

    def query_binary_values(self, message: Request, dtype: npt.DTypeLike = ">f4") -> npt.NDArray[Any]:
        """Send a message and return the numbers in the block data of its reply.

        Parameters
        ----------
        message : str or bytes
            As in `query`.
        dtype : dtype
            Of the numbers, byte order included, such as ``">f4"`` (``FORM REAL,32``), ``"<i2"`` or ``"u1"``.

        Returns
        -------
        array (n,) of dtype

        Raises
        ------
        LinkError
            No complete reply within the timeout, or the link failed.
        ValueError
            The reply is no block data, or no whole number of values.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.7:5025", protocol="scpi") as scope:
        ...     scope.query_binary_values("CURV?", "<i2")
        """
        data = self.query_block(message)
        size = np.dtype(dtype).itemsize
        if len(data) % size:
            raise ValueError(f"{len(data)} bytes are not a whole number of values of {size} bytes ({dtype})")
        return np.frombuffer(data, dtype)

    def query_ascii_values(self, message: Request) -> npt.NDArray[np.float64]:
        """Send a message and return the numbers of its reply, which commas separate.

        Parameters
        ----------
        message : str or bytes
            As in `query`.

        Returns
        -------
        array (n,) of float64

        Raises
        ------
        LinkError
            No complete reply within the timeout, or the link failed.
        ValueError
            The reply is no list of numbers.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.7:5025", protocol="scpi") as meter:
        ...     meter.query_ascii_values("FETC?")
        """
        reply = self.query(message)
        try:
            return np.array([float(value) for value in reply.split(",")])
        except ValueError:
            raise ValueError(f"the reply to {message!r} is no list of numbers: {reply[:60]!r}") from None

    def errors(self) -> list[str]:
        """Read the error queue of an instrument (``SYST:ERR?``) until it is empty.

        Returns
        -------
        list of str
            Such as ``-113,"Undefined header"``, the oldest first; empty without errors.

        Raises
        ------
        LinkError
            No complete reply within the timeout, or the link failed.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.7:5025", protocol="scpi") as meter:
        ...     meter.errors()
        """
        found: list[str] = []
        for _ in range(_ERRORS):
            error = self.query("SYST:ERR?")
            # The number may have a sign, and a header before it: `:SYST:ERR 0,"No error"`.
            code = error.split(",", 1)[0].split()[-1:]
            if not code or code[0].lstrip("+-").strip("0") == "":
                break
            found.append(error)
        return found

    def _text(self, reply: bytes) -> str:
        try:
            text = reply.decode()
        except UnicodeDecodeError:
            raise ValueError(
                f"the reply is not text: {reply[:20]!r}; use exchange, read_bytes or query_block"
            ) from None
        return text.removesuffix("\r") if self._is_scpi else text

    _is_scpi = False

    # ---- modbus ----------------------------------------------------------------------------------

    def read_holding(
        self, address: int, count: int = 1, *, unit: int | None = None
    ) -> npt.NDArray[np.uint16]:
        """Read holding registers (function 3) in one request.

        Parameters
        ----------
        address : int
            The first one; 0 is the first of the device (40001 in some manuals).
        count : int
            How many, 1 to 125.
        unit : int, optional
            Address of the unit [default: that of `open`].

        Returns
        -------
        array (count,) of uint16
            ``values.view("i2")`` are the same as signed numbers.

        Raises
        ------
        ModbusError
            The device answered with an exception; `code` and `name` say which.
        LinkError
            No reply, or a wrong one.

        Examples
        --------
        >>> with wg.open("serial:///dev/ttyUSB0", protocol="modbus", baud=19200, framing="8E1") as drive:
        ...     drive.read_holding(100, 10)
        """
        return self._registers("holding", address, count, unit)

    def read_input(self, address: int, count: int = 1, *, unit: int | None = None) -> npt.NDArray[np.uint16]:
        """Read input registers (function 4).

        Parameters
        ----------
        address, count, unit
            As in `read_holding`.

        Returns
        -------
        array (count,) of uint16

        Raises
        ------
        ModbusError, LinkError
            As `read_holding`.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.9:502", protocol="modbus") as drive:
        ...     drive.read_input(0, 4)
        """
        return self._registers("input", address, count, unit)

    def read_coils(self, address: int, count: int = 1, *, unit: int | None = None) -> npt.NDArray[np.bool_]:
        """Read coils (function 1).

        Parameters
        ----------
        address, unit
            As in `read_holding`.
        count : int
            How many, 1 to 2000.

        Returns
        -------
        array (count,) of bool

        Raises
        ------
        ModbusError, LinkError
            As `read_holding`.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.9:502", protocol="modbus") as drive:
        ...     drive.read_coils(0, 8)
        """
        return self._bits("coil", address, count, unit)

    def read_discrete(
        self, address: int, count: int = 1, *, unit: int | None = None
    ) -> npt.NDArray[np.bool_]:
        """Read discrete inputs (function 2).

        Parameters
        ----------
        address, unit
            As in `read_holding`.
        count : int
            How many, 1 to 2000.

        Returns
        -------
        array (count,) of bool

        Raises
        ------
        ModbusError, LinkError
            As `read_holding`.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.9:502", protocol="modbus") as drive:
        ...     drive.read_discrete(0, 8)
        """
        return self._bits("discrete", address, count, unit)

    def write_registers(self, address: int, values: int | Registers, *, unit: int | None = None) -> None:
        """Write holding registers (function 6 for one value, else 16).

        Parameters
        ----------
        address, unit
            As in `read_holding`.
        values : int, or array (n,) of int
            -32768 to 65535; 1 to 123 of them.

        Raises
        ------
        ModbusError, LinkError
            As `read_holding`.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.9:502", protocol="modbus") as drive:
        ...     drive.write_registers(100, [1, 2, 3])
        """
        numbers = np.atleast_1d(np.asarray(values))
        if numbers.ndim != 1 or not (np.issubdtype(numbers.dtype, np.integer) or not numbers.size):
            raise TypeError(f"values must be whole numbers, not {numbers.dtype} of shape {numbers.shape}")
        if numbers.size and not -32768 <= int(numbers.min()) <= int(numbers.max()) <= 65535:
            raise ValueError(
                f"a register holds -32768 to 65535, not {int(numbers.min())} to {int(numbers.max())}"
            )
        words = (numbers.astype(np.int64) & 0xFFFF).astype(np.uint16)
        self._write_registers(_address(address), words, unit)

    def write_coils(
        self, address: int, values: bool | Sequence[bool] | npt.NDArray[Any], *, unit: int | None = None
    ) -> None:
        """Write coils (function 5 for one value, else 15).

        Parameters
        ----------
        address, unit
            As in `read_holding`.
        values : bool, or array (n,) of bool
            1 to 1968 of them.

        Raises
        ------
        ModbusError, LinkError
            As `read_holding`.

        Examples
        --------
        >>> with wg.open("tcp://10.0.0.9:502", protocol="modbus") as drive:
        ...     drive.write_coils(0, [True, False])
        """
        bits = np.atleast_1d(np.asarray(values))
        if bits.ndim != 1 or not np.isin(bits, (0, 1)).all():
            raise ValueError("values of coils must be True or False")
        self._write_coils(_address(address), bits.astype(np.uint8), unit)

    @property
    def unit(self) -> int:
        """The unit that Modbus requests go to if a call names none."""
        return self._unit

    @unit.setter
    def unit(self, unit: int) -> None:
        self._set_unit(unit)

    def _registers(self, table: str, address: int, count: int, unit: int | None) -> npt.NDArray[np.uint16]:
        values = np.zeros(_count(count), np.uint16)
        self._read_registers(table, _address(address), values, unit)
        return values

    def _bits(self, table: str, address: int, count: int, unit: int | None) -> npt.NDArray[np.bool_]:
        values = np.zeros(_count(count), np.bool_)
        self._read_bits(table, _address(address), values.view(np.uint8), unit)
        return values


def _address(address: int) -> int:
    if not 0 <= address <= 65535:
        raise ValueError(f"addresses are 0 to 65535, not {address}")
    return int(address)


def _count(count: int) -> int:
    # What one request carries is checked by the protocol; this bounds the memory.
    if not 1 <= count <= 65536:
        raise ValueError(f"a request reads 1 value or more, not {count}")
    return int(count)


def nanoseconds(name: str, value: v.Time, least: int = 1) -> int:
    """Parse a time as the program does: seconds, a timedelta, or a number with a unit."""
    text = v.time(name, value)[0]
    if re.match(r"-[0-9.]", text):
        raise usage(name, f"{name} must be at least {f'{least} ns' if least else 0}, not {text}")
    found = re.fullmatch(r"([0-9.]+)(\D+)", text)
    try:
        ns = float(found[1]) * _UNITS_NS[found[2]] if found else math.nan
    except (KeyError, ValueError):
        ns = math.nan
    if math.isnan(ns):
        hint = "use a number and a unit, such as 300ms, 1.5s, 40us or 2min"
        raise usage(name, f"{name}: {text!r} is not a duration: {hint}")
    # A year and more is a slip of the keyboard.
    if not least <= ns <= 3.2e16:
        raise usage(name, f"{name} must be {f'{least} ns' if least else 0} to 1 year, not {text}")
    return round(ns)
