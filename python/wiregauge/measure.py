"""The commands that measure: `exchange`, `stream`, `loop`.

Their arguments are the flags of the program with underscores for hyphens; ``--in`` and ``--out`` are
`in_sizes` and `out_sizes`, because ``in`` is a word of Python's. What is not given has the default that
``wiregauge help exchange`` names. Numbers are in SI units and bytes; a str is read as the program reads
it: ``"2ms"``, ``"48,100,1k..64k"``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from . import _call
from . import _values as v
from .run import Run

__all__ = ["exchange", "loop", "stream"]

HOST: dict[str, v.Convert] = {
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
    "batch": v.count,
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
    **HOST,
    "no_calibration": v.switch,
    "baud": v.count,
    "quick_ack": v.switch,
    "keep_data": v.switch,
    **_KEEP,
}

STREAM: dict[str, v.Convert] = {
    "direction": v.texts,
    "transfer": v.sizes,
    "queue": v.sizes,
    "duration": v.time,
    "settle": v.time,
    "timeout": v.time,
    "no_check": v.switch,
    "rate": v.byte_rates,
    "loss": v.number,
    "require": v.repeated,
    **HOST,
    "baud": v.count,
    "usbmon": v.switch,
    **_KEEP,
}

LOOP: dict[str, v.Convert] = {
    "rate": v.rates,
    "channels": v.sizes,
    "notify": v.sizes,
    "ring": v.size,
    "preload": v.size,
    "process": v.texts,
    "gpu": v.ways,
    "gpu_device": v.count,
    "wait": v.text,
    "duration": v.time,
    "settle": v.time,
    "find": v.switch,
    "hold": v.time,
    "no_calibration": v.switch,
    **HOST,
    **_KEEP,
}


def exchange(
    *addresses: str,
    protocol: Literal["wiregauge", "echo", "lines"] | None = None,
    out_sizes: v.Sizes | None = None,
    in_sizes: v.Sizes | None = None,
    depth: v.Sizes | None = None,
    batch: int | None = None,
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

    Each size of a request is combined with each size of a response and each depth; every combination
    is a point of the run. The interpreter's lock is released while it measures.

    Parameters
    ----------
    *addresses
        The device, such as ``tcp://10.0.0.5:7700`` or ``serial:///dev/ttyACM0``. Several are measured
        one after another, and then all at once.
    protocol
        Protocol of the device: wiregauge's frames, an echo, or lines of text.
    out_sizes, in_sizes
        Sizes of a request and of a response, in bytes.
    depth
        Requests kept outstanding.
    batch
        Requests handed to the system in one call at most; if not given, all that may start, or fewer
        where a short trial before the point finds that to be faster.
    count
        Exchanges at each point.
    duration
        Measure each point so long (s) instead of counting.
    warmup
        Exchanges run and stored, but left out of the statistics, at each point.
    interval
        Start one exchange every so often (s); late ones are also charged from their intended start.
    rate
        The same as exchanges a second.
    timeout
        After this long (s) without an answer an exchange is lost.
    give_up
        Losses in a row, for each one outstanding, after which the link has failed.
    connect
        Open the link once, or for each exchange.
    below
        Report the share of exchanges below each of these times (s).
    require
        Limits that must hold at every point, such as ``"p99<2ms"``; those that do not are in
        ``run.missed``.
    wait
        How the measuring thread waits: asleep in the read, asleep in poll, or never asleep.
    priority
        Real-time priority of the measuring thread, 1 to 99.
    pin
        Keep the measuring thread on this processor.
    lock_memory
        Lock all memory of this process, which stays so afterwards.
    host_load
        Threads that load this host meanwhile, such as ``{"cpu": 2, "memory": 1}``.
    no_calibration
        Do not measure this host's own floor before and after.
    baud
        Baud rate of a serial line; as it is set, if not given.
    quick_ack
        TCP: acknowledge at once.
    keep_data
        Keep the bytes of every answer with its sample; see `Run.answers`.
    csv
        Also write one CSV row an exchange to this file.
    store
        Store the run in this directory; among the stored runs, if not given.
    no_store
        Do not store the run: its files go with the `Run`.
    progress
        Show how far it is.

    Returns
    -------
    Run

    Raises
    ------
    UsageError
        A value makes no sense.
    LinkError
        The link failed. ``error.run`` is what was measured until then, or None.
    StorageError
        The run could not be written.
    Interrupted
        Ctrl-C was pressed. ``error.run`` is what was measured until then, or None.
    """
    return _measure("exchange", v.addresses(addresses), EXCHANGE, locals(), progress)


def stream(
    *addresses: str,
    direction: v.Texts | None = None,
    transfer: v.Sizes | None = None,
    queue: v.Sizes | None = None,
    duration: v.Time | None = None,
    settle: v.Time | None = None,
    timeout: v.Time | None = None,
    no_check: bool = False,
    rate: v.Rates | None = None,
    loss: v.Rate | None = None,
    require: v.Texts | None = None,
    priority: int | None = None,
    pin: int | None = None,
    lock_memory: bool = False,
    host_load: v.Load | None = None,
    baud: int | None = None,
    usbmon: bool = False,
    csv: v.Path | None = None,
    store: v.Path | None = None,
    no_store: bool = False,
    progress: bool = True,
) -> Run:
    """Measure data that flows without waiting for answers: rates, losses, gaps, buffers.

    Each direction is combined with each size of a transfer and each queue; every combination is a
    point of the run. The interpreter's lock is released while it measures.

    Parameters
    ----------
    *addresses
        The device, such as ``tcp://10.0.0.5:7700`` or ``usb://1d6b:0104``. Several are measured one
        after another, and then all at once.
    direction
        ``in`` (device to host), ``out``, ``both`` at once, or several of them.
    transfer
        Bytes of one transfer: a write, a read, a URB, a datagram.
    queue
        Transfers submitted at once, where the link has a queue (USB).
    duration
        Measure each point so long (s).
    settle
        Start-up before it (s), left out of every figure.
    timeout
        After this long (s) without a completed transfer the link has failed.
    no_check
        Do not compare what arrives with what it should be; count bytes only.
    rate
        Compute the buffer that the device needs at these constant rates (bytes/s).
    loss
        Probability of a loss that those buffers are also computed for.
    require
        Limits that must hold at every point, such as ``"in.rate>1MB/s"``; those that do not are in
        ``run.missed``.
    priority
        Real-time priority of the measuring threads, 1 to 99.
    pin
        Keep the measuring threads on this processor.
    lock_memory
        Lock all memory of this process, which stays so afterwards.
    host_load
        Threads that load this host meanwhile, such as ``{"cpu": 2, "memory": 1}``.
    baud
        Baud rate of a serial line; as it is set, if not given.
    usbmon
        USB on Linux: note when the kernel took and gave back each transfer.
    csv
        Also write one CSV row a transfer to this file.
    store
        Store the run in this directory; among the stored runs, if not given.
    no_store
        Do not store the run: its files go with the `Run`.
    progress
        Show how far it is.

    Returns
    -------
    Run

    Raises
    ------
    UsageError
        A value makes no sense.
    LinkError
        The link failed. ``error.run`` is what was measured until then, or None.
    StorageError
        The run could not be written.
    Interrupted
        Ctrl-C was pressed. ``error.run`` is what was measured until then, or None.
    """
    return _measure("stream", v.addresses(addresses), STREAM, locals(), progress)


def loop(
    device: str,
    *,
    rate: v.Rates | None = None,
    channels: v.Sizes | None = None,
    notify: v.Sizes | None = None,
    ring: v.Size | None = None,
    preload: v.Size | None = None,
    process: v.Texts | None = None,
    gpu: v.Texts | bool | None = None,
    gpu_device: int | None = None,
    wait: str | None = None,
    duration: v.Time | None = None,
    settle: v.Time | None = None,
    find: bool = False,
    hold: v.Time | None = None,
    no_calibration: bool = False,
    priority: int | None = None,
    pin: int | None = None,
    lock_memory: bool = False,
    host_load: v.Load | None = None,
    csv: v.Path | None = None,
    store: v.Path | None = None,
    no_store: bool = False,
    progress: bool = True,
) -> Run:
    """Loop a digitizer to a generator: the shortest latency that neither loses nor starves.

    Each rate is combined with each number of channels and each block; every combination is a point of
    the run. The interpreter's lock is released while it measures.

    Parameters
    ----------
    device
        The digitizer and generator: ``virtual``, or a sound card such as ``alsa:hw:0``.
    rate
        Samples a second of each channel.
    channels
        Channels, interleaved, 16 bits each.
    notify
        Bytes of one block: the unit in which the device hands over.
    ring
        Bytes of each ring.
    preload
        Do not search: run with this many bytes of preload, and count what stalls.
    process
        What is done to the samples, in this order, such as ``["copy", "fir:64"]``.
    gpu
        Process the blocks on a CUDA device, in these ways, such as ``["cpu", "pinned", "streams:4"]``;
        True for all ways to a GPU.
    gpu_device
        With `gpu`: which one, as its driver numbers them.
    wait
        How to wait for a block: ``sleep``, ``spin``, or ``hybrid:50us``.
    duration
        Measure each point so long (s).
    settle
        Start-up before it (s), left out of every figure.
    find
        Then test the preload that was found, and longer ones until one holds.
    hold
        With `find`, which it implies: how long (s) a preload must hold.
    no_calibration
        Measure neither this host's floor nor its memory nor the stages by themselves.
    priority
        Real-time priority of the loop, 1 to 99.
    pin
        Keep the loop on this processor.
    lock_memory
        Lock all memory of this process, which stays so afterwards.
    host_load
        Threads that load this host meanwhile, such as ``{"cpu": 2, "memory": 1}``.
    csv
        Also write one CSV row a block to this file.
    store
        Store the run in this directory; among the stored runs, if not given.
    no_store
        Do not store the run: its files go with the `Run`.
    progress
        Show how far it is.

    Returns
    -------
    Run

    Raises
    ------
    UsageError
        A value makes no sense.
    LinkError
        The device failed. ``error.run`` is what was measured until then, or None.
    StorageError
        The run could not be written.
    Interrupted
        Ctrl-C was pressed. ``error.run`` is what was measured until then, or None.
    """
    return _measure("loop", v.text("device", device), LOOP, locals(), progress)


def _measure(
    name: str,
    words: list[str],
    table: Mapping[str, v.Convert],
    values: Mapping[str, object],
    progress: bool,
) -> Run:
    """Run a command that measures; give its run."""
    _, runs = _call.command(name, words, table, values, ["--quiet"], progress=progress)
    if not runs:
        raise RuntimeError(f"{name} ended without a run and without an error")
    return runs[-1]
