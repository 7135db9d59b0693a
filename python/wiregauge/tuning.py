"""The command that finds the best setting and proves it: `tune`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from . import _call
from . import _values as v
from ._html import escape
from .measure import HOST
from .run import Run

__all__ = ["Estimate", "Setting", "Tuned", "Verdict", "tune"]

TUNE: dict[str, v.Convert] = {
    "maximise": v.text,
    "minimise": v.text,
    "subject_to": v.repeated,
    "out_sizes": v.sizes,
    "in_sizes": v.sizes,
    "depth": v.sizes,
    "wait": v.texts,
    "connect": v.texts,
    "protocol": v.text,
    "count": v.count,
    "direction": v.text,
    "transfer": v.sizes,
    "queue": v.sizes,
    "duration": v.time,
    "confirm": v.count,
    "budget": v.time,
    "timeout": v.time,
    **HOST,
    "no_calibration": v.switch,
    "baud": v.count,
    "figure": v.path,
    "store": v.path,
    "no_store": v.switch,
}


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % confidence interval.

    Attributes
    ----------
    value : float
        In nanoseconds, bytes/s, a second, or a part of 1, as its figure is.
    low, high : float or None
        None where the samples cannot bound it.
    """

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Verdict:
    """Whether the run that confirms a setting shows a constraint.

    Attributes
    ----------
    text : str
        The constraint as it was given.
    found : Estimate or None
        What was found; None if it could not be had.
    verdict : str
        ``kept``, ``violated``, or ``not-shown``: the interval holds the limit.
    """

    text: str
    found: Estimate | None
    verdict: str


class Setting(dict[str, Any]):
    """What to set, under the names of the flags.

    Of exchanges ``out_bytes``, ``in_bytes``, ``depth``, ``wait``, ``connect``; of a stream ``direction``,
    ``transfer_bytes``, ``queue``. The point of a front has ``latency_ns``, ``bytes_s`` and
    ``per_second`` besides; docs/tune.md has the keys.
    """


class Tuned:
    """What a search found; made by `tune`.

    Attributes
    ----------
    best : Setting or None
        The setting; where nothing keeps the constraints, the nearest. None if nothing answered.
    objective : Estimate or None
        What was to be largest or smallest, there.
    verdicts : tuple of Verdict
        Of each constraint, there.
    missed : tuple of str
        What was asked for and is not shown; empty if all is well.
    front : tuple of Setting
        Settings that no other measured one beats in latency and throughput, from the shortest latency.
    knee : Setting or None
        Of these, the one with the most throughput for its latency.
    why : tuple of str
        Why the limit is where it is.
    run : Run or None
        The run that confirmed the setting.
    open : dict
        For `wiregauge.open`, beside the address: ``wg.open(address, **tuned.open)``.
    call : dict
        For `Device.exchange_many`, or `Device.read_stream` and `Device.write_stream`:
        ``device.exchange_many(requests, **tuned.call)``.
    command : str
        The command that measures the setting.
    data : dict
        As the program prints it with ``--json``; docs/tune.md has the keys.
    """

    def __init__(self, data: Mapping[str, Any], run: Run | None) -> None:
        self.data = dict(data)
        self.run = run
        best = data["best"]
        self.best = None if best is None else _setting(best)
        self.objective = None if best is None else _estimate(best["objective"])
        given = [] if best is None else best["constraints"]
        self.verdicts = tuple(Verdict(one["text"], _estimate(one["found"]), one["verdict"]) for one in given)
        self.missed: tuple[str, ...] = tuple(data["missed"])
        self.front = tuple(Setting(point) for point in data["front"])
        self.knee = None if data["knee"] is None else Setting(data["knee"])
        self.why: tuple[str, ...] = tuple(data["why"])
        use: Mapping[str, Any] = data["use"] or {"open": {}, "call": {}, "command": []}
        self.open: dict[str, Any] = dict(use["open"])
        self.call: dict[str, Any] = dict(use["call"])
        self.command = " ".join(use["command"])

    def __str__(self) -> str:
        """Tell it in a few lines."""
        if self.best is None or self.objective is None:
            return "; ".join(self.missed)
        what = "nearest to what was asked for" if self.missed else "best"
        setting = ", ".join(f"{name} {value}" for name, value in self.best.items())
        figure, value = self.data["objective"]["figure"], self.objective.value
        lines = [f"{what}: {setting}: {figure} {value:.6g}"]
        lines += [f"{one.text}: {one.verdict}" for one in self.verdicts]
        lines += list(self.why)
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Tell it in a few lines."""
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _estimate(found: Mapping[str, Any] | None) -> Estimate | None:
    return None if found is None else Estimate(found["value"], found["low"], found["high"])


def _setting(best: Mapping[str, Any]) -> Setting:
    """Keep what is to be set, of a choice."""
    measured = ("objective", "constraints", "exchanges", "milliseconds", "confirmed")
    return Setting({name: value for name, value in best.items() if name not in measured})


def tune(
    address: str,
    *,
    maximise: str | None = None,
    minimise: str | None = None,
    subject_to: v.Texts | None = None,
    out_sizes: v.Sizes | None = None,
    in_sizes: v.Sizes | None = None,
    depth: v.Sizes | None = None,
    wait: v.Texts | None = None,
    connect: v.Texts | None = None,
    protocol: Literal["wiregauge", "echo", "lines"] | None = None,
    count: v.Size | None = None,
    direction: Literal["in", "out", "both"] | None = None,
    transfer: v.Sizes | None = None,
    queue: v.Sizes | None = None,
    duration: v.Time | None = None,
    confirm: v.Size | None = None,
    budget: v.Time | None = None,
    timeout: v.Time | None = None,
    priority: int | None = None,
    pin: int | None = None,
    lock_memory: bool = False,
    host_load: v.Load | None = None,
    no_calibration: bool = False,
    baud: int | None = None,
    figure: v.Path | None = None,
    store: v.Path | None = None,
    no_store: bool = False,
    progress: bool = True,
) -> Tuned:
    """Find the setting that serves an aim best, and prove it by a fresh run.

    Exchanges are tuned, or a stream if `direction`, `transfer`, `queue` or `duration` is given. Figures
    are such as ``rtt.p99``, ``trt``, ``in-throughput``; docs/tune.md lists them.

    Parameters
    ----------
    address
        The device, such as ``usb://1d6b:0104`` or ``serial:///dev/ttyACM0``.
    maximise
        Look for the setting where this figure is largest. Either this or `minimise`.
    minimise
        Look for the setting where this figure is smallest.
    subject_to
        What must hold there, such as ``["p99 < 10ms", "lost = 0"]``.
    out_sizes, in_sizes
        Sizes of a request and of a response to choose from, in bytes; ``"48..8000"`` for all.
    depth
        Requests kept outstanding, to choose from.
    wait
        Ways to wait for an answer, to choose from: ``block``, ``poll``, ``spin``.
    connect
        How often the link is opened, to choose from: ``once``, ``each``.
    protocol
        What the ends say to each other: wiregauge's frames, or an echo.
    count
        Exchanges at a setting, were every setting measured; the search makes do with a part of them.
    direction
        Of a stream: which way.
    transfer
        Of a stream: bytes of one transfer, to choose from.
    queue
        Of a stream: transfers submitted at once, to choose from.
    duration
        Of a stream: how long (s) a setting would be measured, were every setting measured.
    confirm
        How long the run is that confirms the setting found: exchanges, or the time of a stream as text
        (``"5s"``).
    budget
        Stop searching after this long (s); what was found until then is confirmed.
    timeout
        After this long (s) without an answer an exchange is lost.
    priority
        Real-time priority of the measuring thread, 1 to 99.
    pin
        Keep the measuring thread on this processor.
    lock_memory
        Lock all memory of this process, which stays so afterwards.
    host_load
        Threads that load this host meanwhile, such as ``{"cpu": 2, "memory": 1}``.
    no_calibration
        Do not measure this host's own floor before and after the run that confirms.
    baud
        Baud rate of a serial line; as it is set, if not given.
    figure
        Draw latency against throughput of what was measured into this file, .svg or .png.
    store
        Store the run that confirms in this directory; among the stored runs, if not given.
    no_store
        Do not store that run: its files go with it.
    progress
        Show how far it is.

    Returns
    -------
    Tuned
        ``tuned.missed`` tells what of `subject_to` is not shown.

    Raises
    ------
    UsageError
        A value makes no sense.
    LinkError
        The link failed for good. ``error.run`` is a run that confirmed a setting before, or None.
    StorageError
        The run, or the figure, could not be written.
    Interrupted
        Ctrl-C was pressed. ``error.run`` as of `LinkError`.
    """
    words = [v.text("address", address)[0]]
    called, runs = _call.command("tune", words, TUNE, locals(), ["--json"], progress=progress)
    return Tuned(_call.answer(called), runs[-1] if runs else None)
