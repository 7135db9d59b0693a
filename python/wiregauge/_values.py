"""From Python's values to the words of the command line, which checks them and knows the defaults.

Only values of a wrong type or shape are rejected here, by the name of the argument. The meaning and
validity of a value are checked in one place: the program.
"""

from __future__ import annotations

import math
import operator
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import cache
from inspect import signature
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

Convert = Callable[[str, Any], list[str]]
"""Takes an argument's name and value, gives the texts for its flag: one for each time it is given."""

_Each = Callable[[str, object, str], str]
Path = str | os.PathLike[str]
_Time = float | str | timedelta
_Setting = str | Mapping[str, int | str]


def _wrong(name: str, value: object, wanted: str) -> TypeError:
    return TypeError(f"{name} must be {wanted}, not {type(value).__name__}")


def _integer(name: str, value: object, wanted: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        raise _wrong(name, value, wanted)
    try:
        return str(operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        raise _wrong(name, value, wanted) from None


def _real(name: str, value: object, wanted: str) -> float:
    if isinstance(value, (bool, complex)) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise _wrong(name, value, wanted)
    try:
        number = float(value)  # type: ignore[arg-type]
    except TypeError:
        raise _wrong(name, value, wanted) from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, not {number}")
    return number


def _several(name: str, value: object, one: _Each, wanted: str) -> str:
    """A value, or a row of them."""
    if getattr(value, "ndim", 0) > 1:
        raise ValueError(f"{name} must have one dimension, not {value.ndim}")  # type: ignore[attr-defined]
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return one(name, value, wanted)
    if getattr(value, "ndim", 1) == 0:
        return one(name, value.item(), wanted)  # type: ignore[attr-defined]
    texts = [one(f"{name}[{at}]", item, wanted) for at, item in enumerate(value)]
    if not texts:
        raise ValueError(f"{name} must have at least one value")
    return ",".join(texts)


def _time(name: str, value: object, wanted: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, timedelta):
        value = value.total_seconds()
    ns = round(_real(name, value, wanted) * 1e9)
    for unit, factor in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns % factor == 0 and ns:
            return f"{ns // factor}{unit}"
    return f"{ns}ns"


def _number(name: str, value: object, wanted: str) -> str:
    if isinstance(value, str):
        return value
    number = _real(name, value, wanted)
    return str(int(number)) if number.is_integer() else repr(number)


def _byte_rate(name: str, value: object, wanted: str) -> str:
    if isinstance(value, str):
        return value
    return f"{round(_real(name, value, wanted))}B/s"


def _text(name: str, value: object, wanted: str) -> str:
    if not isinstance(value, str):
        raise _wrong(name, value, wanted)
    return value


def _escaped(name: str, value: object, wanted: str) -> str:
    """Text or bytes with the program's escapes; every character stands for itself."""
    if isinstance(value, str):
        value = value.encode()
    if not isinstance(value, (bytes, bytearray)):
        raise _wrong(name, value, wanted)
    plain = set(range(32, 127)) - {ord("\\")}
    return "".join(chr(byte) if byte in plain else f"\\x{byte:02x}" for byte in value)


def _one(convert: _Each, wanted: str) -> Convert:
    return lambda name, value: [convert(name, value, wanted)]


def _list(convert: _Each, wanted: str) -> Convert:
    return lambda name, value: [_several(name, value, convert, wanted)]


size = _one(_integer, "an int (bytes) or a str such as '64k'")
sizes = _list(_integer, "an int, several of them, or a str such as '48,1k..64k'")
count = _one(_integer, "an int or a str such as '10k'")
time = _one(_time, "a number of seconds, a timedelta, or a str such as '300ms'")
times = _list(_time, "a number of seconds, several, or a str such as '2ms,5ms'")
number = _one(_number, "a number or a str")
numbers = _list(_number, "a number, several, or a str such as '0.96,0,0.049'")
rates = _list(_number, "a number per second, several, or a str such as '62.5M'")
byte_rates = _list(_byte_rate, "a number of bytes per second, several, or a str such as '24MB/s'")
text = _one(_text, "a str")
escaped = _one(_escaped, "a str or bytes")
texts = _list(_text, "a str or several")


def ways(name: str, value: object) -> list[str]:
    """GPU paths as texts, or one of them; True for all."""
    if isinstance(value, bool):
        return ["all"] if value else []
    return texts(name, value)


def repeated(name: str, value: object) -> list[str]:
    """Texts, each with its own flag."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, (bytes, Mapping)) or not isinstance(value, Iterable):
        raise _wrong(name, value, "a str or several")
    return [_text(f"{name}[{at}]", item, "a str") for at, item in enumerate(value)]


def queries(name: str, value: object) -> list[str]:
    """Texts or bytes to send, each with its own flag."""
    wanted = "a str, bytes, or several"
    if isinstance(value, (str, bytes, bytearray)):
        return [_escaped(name, value, wanted)]
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise _wrong(name, value, wanted)
    return [_escaped(f"{name}[{at}]", item, wanted) for at, item in enumerate(value)]


def settings(name: str, value: object) -> list[str]:
    """Settings as ``{"in": 3000, "depth": 3}`` or ``"in=3000,depth=3"``, or one of them."""
    wanted = "a dict such as {'in': 3000, 'depth': 3}, a str such as 'in=3000,depth=3', or several"

    def one(name: str, value: object) -> str:
        if isinstance(value, Mapping):
            parts = ((key, _integer(f"{name}[{key!r}]", n, "an int or a str")) for key, n in value.items())
            return ",".join(f"{key}={n}" for key, n in parts)
        return _text(name, value, wanted)

    if isinstance(value, (str, Mapping)):
        return [one(name, value)]
    if isinstance(value, bytes) or not isinstance(value, Iterable):
        raise _wrong(name, value, wanted)
    return [one(f"{name}[{at}]", item) for at, item in enumerate(value)]


def path(name: str, value: object) -> list[str]:
    """A path."""
    if not isinstance(value, (str, os.PathLike)):
        raise _wrong(name, value, "a str or a path")
    found = os.fspath(value)
    if not isinstance(found, str):
        raise _wrong(name, value, "a path of text")
    return [found]


def load(name: str, value: object) -> list[str]:
    """Threads that load a host, as ``{"cpu": 2}`` or ``"cpu=2,memory=1"``."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Mapping):
        raise _wrong(name, value, "a dict such as {'cpu': 2} or a str such as 'cpu=2'")
    return [",".join(f"{key}={_integer(f'{name}[{key!r}]', n, 'an int')}" for key, n in value.items())]


def stall(name: str, value: object) -> list[str]:
    """How often and how long, as ``("every=1000", 0.4)`` or ``"every=1000:400ms"``."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Sequence) or len(value) != 2:
        raise _wrong(name, value, "a str such as 'every=1000:400ms' or how often and how long")
    often = _number(f"{name}[0]", value[0], "a probability or a str such as 'every=1000'")
    return [f"{often}:{_time(f'{name}[1]', value[1], 'a number of seconds')}"]


def limits(name: str, value: object) -> list[str]:
    """Lowest and highest value, as ``(-10, 10)`` or ``"-10..10"``."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Sequence) or len(value) != 2:
        raise _wrong(name, value, "a str such as '-10..10' or two numbers")
    return ["..".join(_number(f"{name}[{at}]", end, "a number") for at, end in enumerate(value))]


def can_id(name: str, value: object) -> list[str]:
    """A CAN identifier: ``0x7e0``, or hexadecimal text as in candump (8 digits: 29 bits)."""
    if isinstance(value, str):
        return [value]
    number = int(_integer(name, value, "an int such as 0x7e0 or a str such as '7e0'"))
    return [f"{number:03x}" if number <= 0x7FF else f"{number:08x}"]


def switch(name: str, value: object) -> list[str]:
    """True or False; `flags` knows what to make of it."""
    if not isinstance(value, bool):
        raise _wrong(name, value, "True or False")
    return []


Size = Annotated[int | str, size]
Sizes = Annotated[int | str | Iterable[int | str], sizes]
Count = Annotated[int | str, count]
Time = Annotated[_Time, time]
Times = Annotated[_Time | Iterable[_Time], times]
Number = Annotated[float | str, number]
Numbers = Annotated[float | str | Iterable[float | str], numbers]
Rates = Annotated[float | str | Iterable[float | str], rates]
ByteRates = Annotated[float | str | Iterable[float | str], byte_rates]
Texts = Annotated[str | Iterable[str], texts]
Ways = Annotated[str | Iterable[str] | bool, ways]
Repeated = Annotated[str | Iterable[str], repeated]
Queries = Annotated[str | bytes | Iterable[str | bytes], queries]
Escaped = Annotated[str | bytes, escaped]
CanId = Annotated[int | str, can_id]
Settings = Annotated[_Setting | Iterable[_Setting], settings]
File = Annotated[Path, path]
Range = Annotated[str | Sequence[float], limits]
System = Annotated[Any, text]
Load = Annotated[str | Mapping[str, int], load]
Stall = Annotated[str | tuple[float | str, _Time], stall]


@cache
def converters(command: str) -> dict[str, Convert]:
    """Return the converter of each flag of a command, from the annotations of its function."""
    function = getattr(sys.modules["wiregauge"], command.replace("-", "_"))
    hints = get_type_hints(function, include_extras=True)
    parameters = signature(function).parameters.values()
    keywords = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    return {name: _converter(hints[name]) for name in keywords if name != "progress"}


def _converter(hint: object) -> Convert:
    """A type of this module has its converter; plain ones are switches, numbers and texts."""
    kinds = [kind for kind in get_args(hint) if kind is not NoneType] or [hint]
    for kind in kinds:
        if get_origin(kind) is Annotated:
            converter: Convert = get_args(kind)[1]
            return converter
    return switch if bool in kinds else count if int in kinds else text


def flags(command: str, values: Mapping[str, object]) -> list[str]:
    """Make the words for all arguments that were given."""
    words: list[str] = []
    for name, convert in converters(command).items():
        value = values.get(name)
        if value is None:
            continue
        flag = flag_of(name)
        if convert is switch:
            switch(name, value)
            words += [flag] if value else []
        else:
            words += [f"{flag}={text}" for text in convert(name, value)]
    return words


def flag_of(name: str) -> str:
    """Return the flag of the program that an argument stands for."""
    name = {"in_sizes": "in", "out_sizes": "out"}.get(name, name)
    return "--" + name.replace("_", "-")


def addresses(values: tuple[object, ...]) -> list[str]:
    """Check the addresses of devices."""
    if len(values) == 1:
        return [_text("address", values[0], "a str")]
    return [_text(f"addresses[{at}]", value, "a str") for at, value in enumerate(values)]
