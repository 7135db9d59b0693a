"""Exceptions, with the error texts of the `wiregauge` program.

======================  ==========================================  ==========
exception               when                                        exit code
======================  ==========================================  ==========
`UsageError`            the arguments are not valid           2
`LinkError`             the device or the host failed               3
`StorageError`          a file could not be written                 3
`Interrupted`           Ctrl-C; samples are kept           130
======================  ==========================================  ==========
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .run import Run

__all__ = ["Error", "Interrupted", "LinkError", "ModbusError", "StorageError", "UsageError"]


class Error(Exception):
    """Base class of all errors of wiregauge.

    Attributes
    ----------
    run : Run or None
        What was measured before the error, if anything.
    """

    run: Run | None = None


class UsageError(Error, ValueError):
    """The arguments are not valid.

    Attributes
    ----------
    argument : str or None
        The argument with the wrong value, if known.
    """

    argument: str | None = None


class _SystemError(Error, OSError):
    os_code: int | None = None

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
    done: int = 0
    replies: npt.NDArray[Any] | None = None
    cycles: npt.NDArray[np.void] | None = None


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
    name: str | None = None


class StorageError(_SystemError):
    """A file could not be written; data stored earlier is intact.

    Attributes
    ----------
    os_code : int or None
        Error number of the operating system, if any.
    """


class Interrupted(KeyboardInterrupt):
    """Ctrl-C was pressed during a measurement.

    Attributes
    ----------
    run : Run or None
        What was measured before; None if nothing.
    """

    run: Run | None = None


def of_failure(failure: tuple[str, str, int | None, str | None], run: Run | None = None) -> Error:
    """Create an exception from an error of the native module."""
    kind, text, os_code, flag = failure
    error: Error
    if kind == "usage":
        error = UsageError(text)
        error.argument = argument_of(flag) if flag else None
        if error.argument:
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


def argument_of(flag: str) -> str:
    """Return the argument for a flag of the program."""
    name = flag.removeprefix("--").strip("<>.").replace("-", "_")
    return {"in": "in_sizes", "out": "out_sizes"}.get(name, name)
