"""What a campaign needs of an executor, and the one that it has if it is given none."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future as PlainFuture
from typing import Any, Protocol


class Future(Protocol):
    """What an executor returns for a call."""

    def result(self) -> Any: ...
    def cancel(self) -> object: ...
    def add_done_callback(self, fn: Callable[[Any], object], /) -> object: ...


class Executor(Protocol):
    """Runs calls somewhere."""

    def submit(self, fn: Callable[..., Any], /, *arguments: Any) -> Any: ...


class OneByOne:
    """Runs calls in a thread of this process, one after the other.

    Unlike that of a ThreadPoolExecutor, the thread does not keep a script from ending.
    """

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[PlainFuture[Any], Callable[[], Any]] | None] = (
            queue.SimpleQueue()
        )
        threading.Thread(target=self._run, name="wiregauge-campaign", daemon=True).start()

    def submit(self, fn: Callable[..., Any], /, *arguments: Any) -> PlainFuture[Any]:
        """Run a call after the ones before it."""
        future: PlainFuture[Any] = PlainFuture()
        self._calls.put((future, lambda: fn(*arguments)))
        return future

    def close(self) -> None:
        """Let the thread end after these calls."""
        self._calls.put(None)

    def _run(self) -> None:
        while (submitted := self._calls.get()) is not None:
            future, call = submitted
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)
