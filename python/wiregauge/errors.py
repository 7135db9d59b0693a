"""Exceptions, with the error texts of the `wiregauge` program, which name arguments instead of flags.

======================  ==========================================  ==========
exception               when                                        exit code
======================  ==========================================  ==========
`UsageError`            the arguments are not valid                 2
`LinkError`             the device or the host failed               3
`StorageError`          a file could not be written                 3
`Interrupted`           Ctrl-C; samples are kept                    130
======================  ==========================================  ==========

The last column is the exit code of the program. A script that does not catch an error exits with 1, one that
does not catch `Interrupted` with 130.
"""

from __future__ import annotations

import re
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._words import argument_of, in_python

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

__all__ = ["Error", "Interrupted", "LinkError", "ModbusError", "StorageError", "UsageError"]


class Error(Exception):
    """Base class of all errors of wiregauge.

    Attributes
    ----------
    run : Run or None
        What was measured before the error, if anything.
    """

    run: Any = None  # A Run, whose module is above this one.
    """The `Run` with what was measured before the error; None if nothing was."""


class UsageError(Error, ValueError):
    """The arguments are not valid.

    Attributes
    ----------
    argument : str or None
        The argument with the wrong value, if known.
    """

    argument: str | None = None
    """The argument with the wrong value, if known."""


def usage(argument: str, text: str) -> UsageError:
    """Create the error of an argument with a wrong value."""
    error = UsageError(text)
    error.argument = argument
    return error


class _SystemError(Error, OSError):
    os_code: int | None = None
    """Error number of the operating system, if any."""

    def __str__(self) -> str:
        """Return the text, without the number that OSError adds."""
        return str(self.args[0]) if self.args else ""


class LinkError(_SystemError):
    """The device or the host failed: what failed on which device, the reason, and a hint.

    Attributes
    ----------
    kind : str
        ``permission``, ``unreachable``, ``not-found``, ``busy``, ``timeout``, ``protocol`` (it
        responds, but not with the protocol), ``exception`` (see `ModbusError`), ``disconnected``,
        ``closed`` (it is open in another process) or ``io``.
    done : int
        For a call of a `Device`: the exchanges, cycles or bytes done before the error.
    replies : numpy.ndarray or None
        For `Device.exchange_many`: the replies before the error.
    cycles : numpy.ndarray or None
        For `Device.control`: the cycles before the error.
    os_code : int or None
        Error number of the operating system, if any.
    """

    kind: str = "io"
    """What failed, such as ``timeout``."""
    done: int = 0
    """For a call of a `Device`: the exchanges, cycles or bytes done before the error."""
    replies: npt.NDArray[Any] | None = None
    """For `Device.exchange_many`: the replies before the error."""
    cycles: npt.NDArray[np.void] | None = None
    """For `Device.control`: the cycles before the error."""


class ModbusError(LinkError):
    """A Modbus device answered with an exception; `kind` is ``exception``.

    Attributes
    ----------
    code : int
        Code of the exception (Modbus Application Protocol V1.1b3, section 7), such as 2.
    name : str or None
        Its name, such as ``illegal data address``; None for a code that the specification does not name.
    """

    code: int = 0
    """Code of the exception, such as 2."""
    name: str | None = None
    """Its name, such as ``illegal data address``, if it has one."""


class StorageError(_SystemError):
    """A file could not be written; data stored earlier is intact.

    Attributes
    ----------
    os_code : int or None
        Error number of the operating system, if any.
    """


class Interrupted(KeyboardInterrupt):
    """Ctrl-C was pressed during a measurement. ``str()`` says where the samples are.

    A script that does not catch it exits with 130, as after any Ctrl-C.

    Attributes
    ----------
    run : Run or None
        What was measured before; None if nothing. Of a campaign: its last run.
    path : pathlib.Path or None
        The directory of that run.
    """

    run: Any = None  # A Run, whose module is above this one.
    """The `Run` with what was measured before; None if nothing was. Of a campaign: its last run."""

    @property
    def path(self) -> Path | None:
        """The directory of the run; None if nothing was measured."""
        path: Path | None = None if self.run is None else self.run.path
        return path


def interrupted(run: Any) -> Interrupted:
    """Create the exception of a measurement that Ctrl-C ended."""
    if run is None:
        error = Interrupted("interrupted before anything was measured")
    else:
        count = len(run.points)
        points = "1 point" if count == 1 else f"{count} points"
        where = "only in `run` of this exception (no_store=True)" if run.passing else f"in {run.path}"
        error = Interrupted(f"interrupted; {points} measured, {where}")
    error.run = run
    _exit_as_after_ctrl_c()
    return error


def plans_in_words(count: int) -> str:
    """Return so many plans in words."""
    return "1 plan" if count == 1 else f"{count} plans"


def interrupted_campaign(runs: Sequence[Any], plans: int, left: int, store: Path) -> Interrupted:
    """Create the exception of a campaign that Ctrl-C ended, of so many plans, with its runs in order."""
    of = plans_in_words(plans)
    stored = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    where = f"{stored} of {of} stored in {store}" if runs else f"no run of {of} was begun"
    if left:
        where += f"; {left} may still be measured at their workers"
    error = Interrupted(f"interrupted; {where}")
    error.run = runs[-1] if runs else None
    _exit_as_after_ctrl_c()
    return error


def _exit_as_after_ctrl_c() -> None:
    """Let a script that does not catch `Interrupted` exit with 130.

    Python does so for KeyboardInterrupt itself only, not for its subclasses.
    """
    before = sys.excepthook
    if getattr(before, "_is_of_wiregauge", False):
        return

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        before(kind, error, trace)
        # A prompt (it sets ps1) goes on.
        if isinstance(error, Interrupted) and not hasattr(sys, "ps1"):
            raise SystemExit(130)

    hook._is_of_wiregauge = True  # type: ignore[attr-defined]
    sys.excepthook = hook


_NAMED = re.compile(r"^--([a-z-]+): |^(plant): |\(--([a-z-]+)\)|hint: use --([a-z-]+)[ =]\S+ or more")
"""What the program writes of the flag whose value is wrong where it finds that after parsing."""


def of_failure(failure: tuple[str, str, int | None, str | None], run: Any = None) -> Error:
    """Create an exception from an error of the native module."""
    kind, text, os_code, flag = failure
    if flag is None and (named := _NAMED.search(text)):
        flag = next(filter(None, named.groups()))
    text = in_python(text)
    error: Error
    if kind == "usage":
        error = UsageError(text)
        error.argument = argument_of(flag) if flag else None
        if error.argument and error.argument not in text:
            error.add_note(f"argument: {error.argument}")
    elif kind == "storage":
        error = StorageError(text)
        error.os_code = error.errno = os_code
    else:
        error = LinkError(text)
        error.kind = kind
        error.os_code = error.errno = os_code
    error.run = run
    return error


def of_exception(text: str, code: int, name: str | None) -> ModbusError:
    """Create the error of a Modbus exception."""
    error = ModbusError(text)
    error.kind, error.code, error.name = "exception", code, name
    return error
