"""Says what is being done and for how long, so that no minutes pass in silence."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# How often it says what goes on.
INTERVAL_S = 15
# A step says what it does now; what it said before is over.
Doing = Callable[[str], None]

lock = threading.Lock()
steps: dict[str, tuple[float, str]] = {}


def say(line: str) -> None:
    """One line, whole even where several steps speak."""
    with lock:
        print(f"lab: {line}", file=sys.stdout, flush=True)


@contextmanager
def step(name: str, ended: str = "") -> Iterator[Doing]:
    """A step under a name; its end is said with what it took, and with `ended`."""
    begun = time.monotonic()
    with lock:
        steps[name] = (begun, "")

    def doing(what: str) -> None:
        with lock:
            steps[name] = (begun, what)

    try:
        yield doing
    except BaseException:
        with lock:
            del steps[name]
        say(f"{name}: FAILED after {time.monotonic() - begun:.1f} s")
        raise
    with lock:
        del steps[name]
    say(f"{name}: {time.monotonic() - begun:.1f} s{ended}")


@contextmanager
def shown() -> Iterator[None]:
    """While this lasts, the steps that go on are said every INTERVAL_S."""
    over = threading.Event()

    def tick() -> None:
        while not over.wait(INTERVAL_S):
            now = time.monotonic()
            with lock:
                going = [f"{name}{': ' if what else ''}{what} ({now - begun:.0f} s)" for name, (begun, what) in steps.items()]
            if going:
                say("now " + "; ".join(going))

    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        over.set()
        ticker.join()
