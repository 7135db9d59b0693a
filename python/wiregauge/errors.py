"""What can go wrong, in the words that the `wiregauge` program has for it.

======================  ==========================================  ==========
exception               when                                        exit code
======================  ==========================================  ==========
`UsageError`            what was asked for cannot be done           2
`LinkError`             the device or the host failed               3
`StorageError`          a file could not be written                 3
`Interrupted`           Ctrl-C; what was measured is kept           130
======================  ==========================================  ==========
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .run import Run

__all__ = ["Error", "Interrupted", "LinkError", "StorageError", "UsageError"]


class Error(Exception):
    """Whatever wiregauge says no to.

    Attributes
    ----------
    run : Run or None
        What was measured before the failure, if anything was.
    """

    run: Run | None = None


class UsageError(Error, ValueError):
    """What was asked for cannot be done as it was said.

    Attributes
    ----------
    argument : str or None
        The argument whose value is wrong, if it is one.
    """

    argument: str | None = None


class LinkError(Error, OSError):
    """The device or the host failed: what was being done to which device, and what to try.

    Attributes
    ----------
    kind : str
        ``permission``, ``unreachable``, ``not-found``, ``busy``, ``silent``, ``rubbish`` (it answers,
        but not in the protocol), ``vanished``, ``closed`` (it is open in another process) or ``io``.
    done : int
        Of a call of a `Device`: the exchanges, cycles or bytes that were done before.
    replies : numpy.ndarray or None
        Of `Device.exchange_many`: the replies that came before.
    cycles : numpy.ndarray or None
        Of `Device.control`: the cycles before.
    os_code : int or None
        The system's error number, if it came from there.
    """

    kind: str = "io"
    done: int = 0
    replies: npt.NDArray[Any] | None = None
    cycles: npt.NDArray[np.void] | None = None
    os_code: int | None = None

    def __str__(self) -> str:
        """Give the words, without the number in front that OSError puts there."""
        return str(self.args[0]) if self.args else ""


class StorageError(Error, OSError):
    """A file could not be written; what was stored before is there.

    Attributes
    ----------
    os_code : int or None
        The system's error number, if it came from there.
    """

    os_code: int | None = None

    def __str__(self) -> str:
        """Give the words, without the number in front that OSError puts there."""
        return str(self.args[0]) if self.args else ""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C was pressed while something was measured.

    Attributes
    ----------
    run : Run or None
        What was measured until then; None if that was nothing.
    """

    run: Run | None = None


def of_failure(failure: tuple[str, str, int | None, str | None], run: Run | None = None) -> Error:
    """Make an exception of what the native half says of a failure."""
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


def argument_of(flag: str) -> str:
    """Give the argument that stands for a flag of the program."""
    name = flag.removeprefix("--").strip("<>.").replace("-", "_")
    return {"in": "in_sizes", "out": "out_sizes"}.get(name, name)
