"""The program's errors for users of Python: arguments instead of flags, functions instead of commands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from . import _native

_OF_DEVICES = ("exchange", "stream", "loop", "loop_control", "tune")
"""Their first argument is the address of a device."""

_OF_NOTHING = ("runs", "devices", "doctor")
"""They are called without arguments."""

_NAMES = ("IN", "OUT", "RTT", "TRT", "USB", "CAN", "TCP", "UDP", "CPU", "GPU")
"""They begin a phrase after a flag; other words in capitals are placeholders."""

_FLAG = r"--[a-z][a-z0-9-]*[a-z0-9]"
_ARGUMENT = rf"(?:{_FLAG}|[<\[][A-Z-]+[>\]])"
# Neither the next flag nor the end of a sentence belongs to it.
_VALUE = r"(?:'[^']*'|(?!--)[^\s;`'\"()]*[^\s,;:`'\"().])"
_RUN = r"\d{4}-\d\d-\d\dT[\w-]+"
_WORD = rf"{_RUN}|[a-z]+://[^\s,;`'()]+|ADDRESS|RUN|usb-gadget|usb-virtual|uhid|can|usb|uart|tcp|udp"


def argument_of(flag: str) -> str:
    """Return the argument for a flag of the program."""
    name = flag.removeprefix("--").strip("<>[].").replace("-", "_").lower()
    return {"in": "in_sizes", "out": "out_sizes"}.get(name, name)


def in_python(text: str) -> str:
    """Return an error or a text of the program as a user of the package would write it.

    A line that says which command measured a run stays: it is one for a shell.
    """
    for pattern, words in _OF_THE_PARSER:
        text = pattern.sub(words, text)
    lines = re.split(r"(?m)^(measured with: .*)$", text)
    return "".join(line if at % 2 else _in_python(line) for at, line in enumerate(lines))


def _in_python(text: str) -> str:
    text = _command().sub(_as_call, text)
    text = re.sub(rf"(?<![\w/-])({_FLAG})(?:(=|\s+)({_VALUE}))?", _as_argument, text)
    text = re.sub(r"(all tables[^:\n]*|intervals): full=True", r"\1: wg.show(run, full=True)", text)
    # Arguments beside each other are those of one call.
    return re.sub(r'(\b[a-z_]+=(?:"[^"]*"|True|\d+)),? +(?=[a-z_]+=(?:"|True|\d))', r"\1, ", text)


# ---- what the parser of the command line says ------------------------------------------------


_MOST = 2**32 - 1
"""A larger bound is that of a type, of no interest to anyone."""


def _invalid(found: re.Match[str]) -> str:
    value, name, reason = found[1], argument_of(found[2]), found[3]
    if setting := re.fullmatch(r"(\w+)=(-?[\d.]+)", value):
        name, value = f"{name}: {setting[1]}", setting[2]
    if least := re.search(r"the minimum is (\S+)$", reason):
        return f"{name} must be at least {least[1]}, not {value}"
    if within := re.fullmatch(r"\S+ is not in (\S+?)\.\.=?(\S+)", reason):
        if int(within[2]) >= _MOST and value.startswith("-"):
            return f"{name} must be at least {within[1]}, not {value}"
        return f"{name} must be {within[1]} to {within[2]}, not {value}"
    if value and reason.startswith("`` is "):
        return f"{name}: an empty value in {value!r}{reason.removeprefix('``')}"
    quoted = re.match(r"`([^`]*)`", reason)
    # Of a list, the one that is wrong.
    wrong = quoted[1] if quoted else value
    if wrong.isdigit() and int(wrong) > _MOST and "is not a valid size" in reason:
        return f"{name}: {wrong} is too large"
    if beyond := re.search(r"is out of range: (.*)", reason):
        return f"{name} must be {beyond[1]}, not {wrong}"
    if re.match(r"-[0-9.]", wrong) or re.fullmatch(r"0(B/s)?", wrong):
        return f"{name} must be {_least(name, reason)}, not {wrong}"
    return f"{name}: {reason}"


def _least(name: str, reason: str) -> str:
    """Return in words how small a number may be that was refused as none, because it is negative or 0."""
    if "is not a duration" in reason:
        return "at least 1 ns"
    if name in ("depth", "queue", "count"):
        return "at least 1"
    if re.search(
        r"valid (rate: use a (number|unit)|bit rate|sample rate|probab|share|number of resp)", reason
    ):
        return "more than 0"
    return "at least 0" if "not a step" not in reason else "a number that is not 0"


def _no_choice(found: re.Match[str]) -> str:
    choices = ", ".join(repr(one) for one in found[3].split(", "))
    return f"{argument_of(found[2])} must be one of {choices}, not {found[1]!r}"


def _missing(found: re.Match[str]) -> str:
    each = [" or ".join(_names(line)) for line in found[1].split("\n") if line.strip()]
    return f"missing argument: {', '.join(each)}"


def _names(line: str) -> list[str]:
    flags = re.findall(_FLAG, line)
    return [argument_of(flag) for flag in flags] or [line.strip(" <>.").lower()]


_OF_THE_PARSER: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (
        re.compile(rf"^invalid value '(.*)' for '({_ARGUMENT})[^']*'\n\s*\[possible values: (.*)\]"),
        _no_choice,
    ),
    (re.compile(rf"^invalid value '(.*)' for '({_ARGUMENT})[^']*': (.*)", re.DOTALL), _invalid),
    (re.compile(r"hint: use an exchange$"), "hint: use exchange()"),
    (
        re.compile(r"hint: pass it, or open the device with a framing"),
        "hint: pass reply_bytes, or use a framing that gives the size, such as wg.Fixed(bytes=8)",
    ),
    (re.compile(r"use a framing, for example raw"), "use a framing, for example framing=wg.Raw()"),
    (re.compile(r"\n\n\s*tip: a similar value exists: (.*)"), r"; did you mean \1?"),
    (re.compile(rf"the argument '({_FLAG})[^']*'"), r"the argument \1"),
    (re.compile(rf"cannot be used with '({_FLAG})[^']*'"), r"cannot be used with \1"),
    (re.compile(r"the following required arguments were not provided:\n((?:\s+.+\n?)+)"), _missing),
]


# ---- what the commands say -------------------------------------------------------------------


@cache
def _declared() -> dict[str, Any]:
    declared: dict[str, Any] = json.loads(_native.declared())
    return declared


@cache
def _command() -> re.Pattern[str]:
    """Return the pattern of a command that a text proposes, with the words behind it."""
    names = "|".join(sorted(set(_declared()) - {"completions", "man"}, key=len, reverse=True))
    words = rf"(?:\s+(?:{_FLAG}(?:(?:=|\s+){_VALUE})?|(?:{_WORD})(?![\w:-])))*"
    return re.compile(rf"\bwiregauge ({names})(?![\w-])({words})")


@cache
def _flags() -> dict[str, tuple[bool, frozenset[str]]]:
    """Return of each flag whether it is a switch, and which values it may have."""
    found: dict[str, tuple[bool, frozenset[str]]] = {}
    for command in _declared().values():
        for flag in command["flags"]:
            is_switch, choices = found.get(flag["name"], (True, frozenset()))
            found[flag["name"]] = (is_switch and flag["is_switch"], choices | set(flag["choices"]))
    return found


def _as_call(found: re.Match[str]) -> str:
    name = found[1].replace("-", "_")
    parts = re.findall(rf"({_FLAG})(?:(?:=|\s+)({_VALUE}))?|({_WORD})", found[2])
    arguments = [word.lower() if word.isupper() else f'"{word}"' for _, _, word in parts if word]
    arguments += [_argument(flag, " ", value, True) for flag, value, _ in parts if flag]
    if arguments and name in _OF_DEVICES and not any(word for *_, word in parts):
        arguments.insert(0, "address")
    if not arguments and name in _OF_NOTHING:
        return f"wg.{name}()"
    if not arguments and name == "serve" and found.string[found.start() - 1 : found.start()] != "`":
        # The name of a responder, not a command that is proposed.
        return found[0]
    return f"wg.{name}({', '.join(arguments)})" if arguments else f"wg.{name}"


def _as_argument(found: re.Match[str]) -> str:
    if found[1] not in _flags():
        return found[0]
    return _argument(found[1], found[2], found[3], False)


def _argument(flag: str, between: str | None, value: str | None, is_call: bool) -> str:
    """Write a flag as an argument; a word after it that is not its value stays where it is."""
    is_switch, choices = _flags().get(flag, (False, frozenset()))
    name = argument_of(flag)
    if is_switch:
        return f"{name}=True" + (f"{between}{value}" if value else "")
    if not value:
        return f"{name}=..." if is_call else name
    if re.fullmatch(r"\d+|'.*'", value):
        return f"{name}={value}"
    is_placeholder = re.fullmatch(r"[A-Z]\w*(,[A-Z]\w*)+|[A-Z]{2,}", value) and value not in _NAMES
    if is_call or value[0].isdigit() or value in choices or is_placeholder or re.search(r"\w[:=+]\w", value):
        return f'{name}="{value}"'
    return f"{name}{between}{value}"
