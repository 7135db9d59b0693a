"""The command that finds the best setting and confirms it: `tune`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from . import _call, _measured
from . import _values as v
from ._html import Text
from ._words import in_python
from .run import Run

__all__ = ["Estimate", "Setting", "Tuned", "Verdict", "tune"]


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % confidence interval.

    Attributes
    ----------
    value : float
        In nanoseconds, bytes/s, per second, or a fraction, as for its figure.
    low, high : float or None
        None if the samples give no bound.
    """

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Verdict:
    """Whether the confirming run proves a constraint.

    Attributes
    ----------
    text : str
        The constraint as it was given.
    found : Estimate or None
        The measured value; None if not available.
    verdict : str
        ``met``, ``violated``, or ``undecided`` (the interval contains the limit).
    """

    text: str
    found: Estimate | None
    verdict: str


class Setting(dict[str, Any]):
    """The setting, with the names of the flags.

    Of exchanges ``out_bytes``, ``in_bytes``, ``depth``, ``wait``, ``connect``; of a stream ``direction``,
    ``transfer_bytes``, ``queue``. The point of a front has ``latency_ns``, ``bytes_s`` and
    ``per_second`` besides; docs/tune.md has the keys.
    """


class Tuned(Text):
    """The result of a search; returned by `tune`.

    Attributes
    ----------
    best : Setting or None
        The best setting; if none is proven to meet the constraints, the closest; None if nothing answered.
    objective : Estimate or None
        The maximised or minimised figure at this setting.
    verdicts : tuple of Verdict
        One for each constraint.
    missed : tuple of str
        Constraints that are missed or undecided; empty if all are met.
    front : tuple of Setting
        Settings for which no other is better in both latency and throughput (Pareto front), the chosen
        one, and the best of each way to wait and to connect; by latency.
    knee : Setting or None
        The one with the largest ratio of throughput to latency.
    why : tuple of str
        What keeps the setting from being better.
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
        As printed with ``--json``; docs/tune.md lists the keys.
    """

    def __init__(self, data: Mapping[str, Any], run: Run | None) -> None:
        self.data: dict[str, Any] = dict(data)
        self.run = run
        best = data["best"]
        self.best: Setting | None = None if best is None else _setting(best)
        self.objective: Estimate | None = None if best is None else _estimate(best["objective"])
        given = [] if best is None else best["constraints"]
        self.verdicts: tuple[Verdict, ...] = tuple(
            Verdict(one["text"], _estimate(one["found"]), one["verdict"]) for one in given
        )
        self.missed: tuple[str, ...] = tuple(data["missed"])
        self.front: tuple[Setting, ...] = tuple(Setting(point) for point in data["front"])
        self.knee: Setting | None = None if data["knee"] is None else Setting(data["knee"])
        self.why: tuple[str, ...] = tuple(data["why"])
        use: Mapping[str, Any] = data["use"] or {"open": {}, "call": {}, "command": []}
        self.open: dict[str, Any] = dict(use["open"])
        self.call: dict[str, Any] = dict(use["call"])
        self.command: str = " ".join(use["command"])

    def __str__(self) -> str:
        """Return a short text."""
        if self.best is None:
            return "; ".join(self.missed)
        lines = [in_python(self.data["answer"])]
        lines += [in_python(text) for text in self.why]
        return "\n".join(lines)


def _estimate(found: Mapping[str, Any] | None) -> Estimate | None:
    return None if found is None else Estimate(found["value"], found["low"], found["high"])


def _setting(best: Mapping[str, Any]) -> Setting:
    """Return only the setting of a choice."""
    measured = ("name", "objective", "constraints", "exchanges", "milliseconds", "confirmed")
    return Setting({name: value for name, value in best.items() if name not in measured})


def tune(
    address: str,
    *,
    maximise: str | None = None,
    minimise: str | None = None,
    subject_to: v.Repeated | None = None,
    out_sizes: v.Sizes | None = None,
    in_sizes: v.Sizes | None = None,
    depth: v.Sizes | None = None,
    wait: v.Texts | None = None,
    connect: v.Texts | None = None,
    protocol: Literal["wiregauge", "echo", "lines"] | None = None,
    count: v.Count | None = None,
    direction: Literal["in", "out", "both"] | None = None,
    transfer: v.Sizes | None = None,
    queue: v.Sizes | None = None,
    duration: v.Time | None = None,
    confirm: v.Count | None = None,
    budget: v.Time | None = None,
    timeout: v.Time | None = None,
    priority: int | None = None,
    pin: int | None = None,
    lock_memory: bool = False,
    host_load: v.Load | None = None,
    no_calibration: bool = False,
    baud: int | None = None,
    store: v.File | None = None,
    no_store: bool = False,
    note: str | None = None,
    keep_going: bool = False,
    force: bool = False,
    progress: bool = True,
) -> Tuned:
    """Find the best settings and confirm them with a new run.

    Tunes exchanges, or a stream if `direction`, `transfer`, `queue` or `duration` is given. Figures
    are such as ``rtt.p99``, ``trt``, ``in-throughput``; docs/tune.md lists them.

    Parameters
    ----------
    address
        The device, such as ``usb://1d6b:0104`` or ``serial:///dev/ttyACM0``.
    maximise
        Maximise this figure. Either this or `minimise`.
    minimise
        Minimise this figure.
    subject_to
        Constraints, such as ``["p99 < 10ms", "lost = 0"]``.
    out_sizes, in_sizes
        Sizes of a request and of a response to choose from, in bytes; ``"48..8000"`` for all.
    depth
        Numbers of outstanding requests to choose from.
    wait
        Ways to wait for an answer, to choose from: ``block``, ``poll``, ``spin``.
    connect
        How often the link is opened, to choose from: ``once``, ``each``.
    protocol
        Wire protocol: wiregauge, echo, or lines of text.
    count
        Exchanges that an exhaustive search would measure at each setting; the search needs fewer.
    direction
        For a stream: direction.
    transfer
        For a stream: bytes per transfer, to choose from.
    queue
        For a stream: transfers submitted at once, to choose from.
    duration
        For a stream: time (s) that an exhaustive search would measure each setting.
    confirm
        Length of the confirming run: exchanges, or the duration of a stream as text (``"5s"``). If
        not given, at least ``count`` (``duration``), and up to two longer runs follow while a
        constraint stays open that they would decide.
    budget
        Stop the search after this time (s) and confirm the best setting so far. Longer confirmations
        must end by then.
    timeout
        An exchange without an answer after this time (s) is lost.
    priority
        Real-time priority of the measuring thread, 1 to 99.
    pin
        Pin the measuring thread to this CPU.
    lock_memory
        Lock all memory of this process; it stays locked afterwards.
    host_load
        Synthetic load while measuring, such as ``{"cpu": 2, "memory": 1}``.
    no_calibration
        Do not measure the floor before and after the confirming run: the RTT of a local echo,
        without the device.
    baud
        Baud rate of a serial line; unchanged, if not given.
    store
        Store the confirming run in this directory; with the other stored runs, if not given.
    no_store
        Do not store the confirming run: its files are deleted with the `Run` object.
    note
        Store this text with the confirming run, such as ``"new cable"``; see `Run.note`.
    keep_going
        If the storage is full, measure on, and count what could not be stored.
    force
        Overwrite existing files.
    progress
        Show the progress.

    Returns
    -------
    Tuned
        ``tuned.missed`` has the constraints that are missed or undecided.

    Raises
    ------
    UsageError
        A value is not valid.
    LinkError
        The link failed. ``error.run`` is an earlier confirming run, or None.
    StorageError
        The run could not be written.
    Interrupted
        Ctrl-C was pressed. ``error.run`` as of `LinkError`.

    Examples
    --------
    >>> tuned = wg.tune("tcp://10.0.0.5:7700", minimise="rtt.p99", subject_to="lost = 0")
    >>> wg.open("tcp://10.0.0.5:7700", **tuned.open)
    """
    values = dict(locals())
    words = [v.text("address", address)[0]]
    called, runs = _measured.command("tune", words, values, ["--json"], progress=progress)
    return Tuned(_call.answer(called), runs[-1] if runs else None)
