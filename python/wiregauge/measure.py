"""The commands that measure: `exchange`, `stream`, `loop`."""

from __future__ import annotations

from typing import Literal

from . import _call
from . import _values as v
from .run import Run

__all__ = ["exchange"]

_HOST: dict[str, v.Convert] = {
    "priority": v.count,
    "pin": v.count,
    "lock_memory": v.switch,
    "host_load": v.load,
}

_KEEP: dict[str, v.Convert] = {"csv": v.path, "store": v.path, "no_store": v.switch}

EXCHANGE: dict[str, v.Convert] = {
    "protocol": v.text,
    "out_sizes": v.sizes,
    "in_sizes": v.sizes,
    "depth": v.sizes,
    "count": v.count,
    "duration": v.time,
    "warmup": v.count,
    "interval": v.time,
    "rate": v.number,
    "timeout": v.time,
    "give_up": v.count,
    "connect": v.text,
    "below": v.times,
    "require": v.repeated,
    "wait": v.text,
    **_HOST,
    "no_calibration": v.switch,
    "baud": v.count,
    "quick_ack": v.switch,
    "keep_data": v.switch,
    **_KEEP,
}


def exchange(
    *addresses: str,
    protocol: Literal["wiregauge", "echo"] | None = None,
    out_sizes: v.Sizes | None = None,
    in_sizes: v.Sizes | None = None,
    depth: v.Sizes | None = None,
    count: v.Size | None = None,
    duration: v.Time | None = None,
    warmup: v.Size | None = None,
    interval: v.Time | None = None,
    rate: v.Rate | None = None,
    timeout: v.Time | None = None,
    give_up: int | None = None,
    connect: Literal["once", "each"] | None = None,
    below: v.Times | None = None,
    require: v.Texts | None = None,
    wait: Literal["block", "poll", "spin"] | None = None,
    priority: int | None = None,
    pin: int | None = None,
    lock_memory: bool = False,
    host_load: v.Load | None = None,
    no_calibration: bool = False,
    baud: int | None = None,
    quick_ack: bool = False,
    keep_data: bool = False,
    csv: v.Path | None = None,
    store: v.Path | None = None,
    no_store: bool = False,
    progress: bool = True,
) -> Run:
    """Measure request and response with a device: RTT, jitter, TRT, throughput, losses.

    Every size is combined with every depth. What is not given has the program's default. The
    interpreter's lock is released.
    """
    values = dict(locals())
    return _measure("exchange", v.addresses(addresses), EXCHANGE, values, progress)


def _measure(
    name: str,
    words: list[str],
    table: dict[str, v.Convert],
    values: dict[str, object],
    progress: bool,
) -> Run:
    """Run a command that measures; give its run."""
    _, runs = _call.command(name, words, table, values, ["--quiet"], progress=progress)
    return runs[-1]
