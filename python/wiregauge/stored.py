"""The commands for stored runs.

`show`, `explain`, `deadline`, `control`, `report`, `compare`, `export`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from . import _call
from . import _values as v
from ._loop_model import model_file
from .comparison import Comparison
from .cycles import Deadline
from .explanation import Explanation
from .verdicts import Control

__all__ = ["compare", "control", "deadline", "explain", "export", "report", "show"]

RunLike = v.Path
"""A run, which is the path of its directory, a directory, or a name."""


def show(
    run: RunLike,
    *,
    format: Literal["text", "md", "latex", "csv", "json"] | None = None,  # noqa: A002
    full: bool = False,
    confidence: bool = False,
) -> str:
    """Show a stored run as tables: text, Markdown, LaTeX, CSV, JSON.

    Parameters
    ----------
    run
        A run, its directory, its name or the beginning of it, or ``last``.
    format
        Output format; text, if not given.
    full
        With all tables and the full text of warnings.
    confidence
        With the confidence interval of every percentile.

    Returns
    -------
    str

    Raises
    ------
    UsageError
        There is no such run.

    Examples
    --------
    >>> print(wg.show("last", full=True))
    """
    called = _call.command("show", [_call.place(run)], locals())
    # Other formats are for other programs.
    return _call.text(called) if format in (None, "text") else _call.said(called)


def explain(
    run: RunLike,
    *,
    predict: v.Settings | None = None,
    confidence: v.Number | None = None,
    endpoint: v.Count | None = None,
    begin: v.Time | None = None,
    end: v.Time | None = None,
    figure: v.File | None = None,
    force: bool = False,
) -> Explanation:
    """Explain where the time of a run goes and what limits it; predict other settings.

    Also of a capture file of a USB bus, or of usbmon: which side is too late (docs/explain.md).

    Parameters
    ----------
    run
        A run, its directory, its name or the beginning of it, or ``last``; or a capture file (pcapng,
        pcap, CSV of Total Phase's Data Center).
    predict
        Settings that were not measured, such as ``{"in": 3000, "depth": 3}`` of an exchange run or
        ``"transfer=8k,queue=2"`` of a stream; a parameter that was constant may be left out. The
        results are in ``explanation.predictions``.
    confidence
        Confidence level of the prediction interval, 0 to 1, or as ``"90%"``; the largest of 95, 90 and
        80 % that the run supports, if not given.
    endpoint
        Of a capture: only this endpoint, such as ``0x81``.
    begin, end
        Of a capture: leave out what was before and after, counted from its first packet.
    figure
        Of a capture of a bus: draw frames with their packets to this file, ``.svg``, ``.png`` or ``.html``.
    force
        Overwrite existing files.

    Returns
    -------
    Explanation
        ``str()`` returns the text, ``data`` has the figures.

    Raises
    ------
    UsageError
        No such run, or it is a loop run, or it does not support a prediction.

    Examples
    --------
    >>> print(wg.explain("last"))
    >>> wg.explain("last", predict={"in": 3000, "depth": 3}).predictions
    """
    place = _call.place(run)
    given = {
        "predict": predict,
        "confidence": confidence,
        "endpoint": endpoint,
        "begin": begin,
        "end": end,
    }
    drawn = {**given, "figure": figure}
    data = _call.answer(_call.command("explain", [place], drawn, ["--json"]))
    return Explanation(data, _call.text(_call.command("explain", [place], given)))


def deadline(
    run: RunLike,
    *,
    period: v.Time | None = None,
    deadline: v.Time | None = None,
    jitter: v.Time | None = None,
    beyond: v.Number | None = None,
    require: v.Repeated | None = None,
    point: v.Sizes | None = None,
    in_sizes: v.Sizes | None = None,
    out_sizes: v.Sizes | None = None,
    depth: v.Sizes | None = None,
    figure: v.File | None = None,
    force: bool = False,
) -> Deadline:
    """Report how often a control loop would miss its deadline.

    Parameters
    ----------
    run
        A run of exchanges, its directory, its name or the beginning of it, or ``last``.
    period
        Period of the loop, in seconds or as ``"1ms"``; interval or rate of the run, if not given.
    deadline
        Time by which an answer must arrive; the period, if not given.
    jitter
        Also count a miss if the response time differs from the median by more than this.
    beyond
        Extrapolate to the response time exceeded once in this many responses; as far as the run
        supports, if not given.
    require
        Limits that every point must meet, such as ``"missed<0.1%"``; those that are missed or
        undecided are in ``missed`` of the result.
    point
        Only these points of the run, counted from 0.
    in_sizes, out_sizes, depth
        Only points with these response or request sizes in bytes, or depths.
    figure
        Write a figure to this file (.svg or .png).
    force
        Overwrite existing files.

    Returns
    -------
    Deadline
        ``str()`` returns the text, ``data`` has the figures, ``table()`` one row per point.

    Raises
    ------
    UsageError
        No such run or point, it is not an exchange run, or no period is given and the run has none.
    StorageError
        The figure could not be written.

    Examples
    --------
    >>> wg.deadline("last", period="1ms").table()
    """
    values = dict(locals())
    place = _call.place(run)
    called = _call.command("deadline", [place], values, ["--json"])
    flags = v.flags("deadline", {**values, "figure": None})
    return Deadline(_call.answer(called), place, flags, tuple(called.missed))


def control(
    run: RunLike,
    *,
    model: v.File | Mapping[str, Any] | None = None,
    plant: v.System | None = None,
    pid: v.Numbers | None = None,
    controller: v.System | None = None,
    period: v.Time | None = None,
    noise: v.Number | None = None,
    order: Literal["newest", "arrival"] | None = None,
    on_miss: Literal["hold", "zero-at-deadline", "zero-at-once", "skip"] | None = None,
    deadline: v.Time | None = None,
    require: v.Repeated | None = None,
    point: v.Sizes | None = None,
    in_sizes: v.Sizes | None = None,
    out_sizes: v.Sizes | None = None,
    depth: v.Sizes | None = None,
    figures: v.File | None = None,
    force: bool = False,
) -> Control:
    """Report what the measured delays do to a control loop: stability, cost, step response.

    Parameters
    ----------
    run
        A run of exchanges, its directory, its name or the beginning of it, or ``last``.
    model
        File with the model of the loop (.toml or .json), or its keys as a mapping, whose matrices may be
        arrays (docs/control.md); the arguments override its keys.
    plant
        Plant in continuous time: a transfer function in s such as ``"1000/(s^2+s)"``, ``(num, den)``,
        ``(A, B, C)``, or a system of python-control or scipy.signal.
    pid
        PID controller: gain, integral time and derivative time in seconds (0: none).
    controller
        Controller in discrete time, from the control error to the command: a transfer function in z such
        as ``"(z-0.5)/(z-1)"``, ``(num, den)``, ``(A, B, C, D)``, a gain, or a system of python-control
        or scipy.signal, whose period is the default of `period`.
    period
        Period of the loop, in seconds or as ``"6ms"``; that of the model, else the interval or rate of
        the run, if not given.
    noise
        Intensity of the white noise at the plant's input; 1, if not given.
    order
        Which response counts if one overtakes another: the ``newest`` (default), or the last ``arrival``.
    on_miss
        What the actuator does in a cycle whose response is lost or misses the deadline: ``hold`` (default),
        ``zero-at-deadline``, ``zero-at-once`` or ``skip``.
    deadline
        Ignore responses that take longer; none are ignored, if not given.
    require
        Limits that every point must meet, such as ``["control.cost<20", "holds"]``; those that are missed or
        undecided are in ``missed`` of the result.
    point
        Only these points of the run, counted from 0.
    in_sizes, out_sizes, depth
        Only points with these response or request sizes in bytes, or depths.
    figures
        Write figures to this directory as SVG: step response and cost.
    force
        Overwrite existing files.

    Returns
    -------
    Control
        ``str()`` returns the text, ``data`` has the figures, ``table()`` one row per point.

    Raises
    ------
    UsageError
        No such run or point, it is not an exchange run, no response arrived in time, or the model has an
        error or is unstable without any delay.
    TypeError, ValueError
        The plant or the controller is not a system, or is not in continuous or discrete time.
    StorageError
        The figures could not be written.

    Examples
    --------
    >>> found = wg.control("last", plant="1000/(s^2+s)", pid=(0.96, 0, 0.049), period="6ms")
    >>> print(found)
    """
    values = dict(locals())
    place = _call.place(run)
    file = model_file(values)
    called = _call.command("control", [place], values, ["--json"])
    flags = v.flags("control", {**values, "figures": None})
    return Control(_call.answer(called), place, flags, file, tuple(called.missed))


def report(
    *runs: RunLike,
    output: v.File | None = None,
    figures: v.File | None = None,
    format: v.Texts | None = None,  # noqa: A002
    force: bool = False,
    points: str | None = None,
    model: v.File | Mapping[str, Any] | None = None,
    plant: v.System | None = None,
    pid: v.Numbers | None = None,
    controller: v.System | None = None,
    period: v.Time | None = None,
    noise: v.Number | None = None,
    order: Literal["newest", "arrival"] | None = None,
    on_miss: Literal["hold", "zero-at-deadline", "zero-at-once", "skip"] | None = None,
    deadline: v.Time | None = None,
    jitter: v.Time | None = None,
    progress: bool = True,
) -> list[Path]:
    """Make an HTML report of one or more runs, or write their figures to files.

    Parameters
    ----------
    *runs
        Runs, their directories or names, or ``last``.
    output
        Write the page to this file; ``report.html`` in the directory of the run (for several runs: in
        the current directory), if neither this nor `figures` is given.
    figures
        Write every figure to this directory.
    format
        Format of these files: ``svg``, ``png``, or both.
    force
        Overwrite existing files; a page of wiregauge is overwritten without.
    points
        Only these points of the runs, such as ``"in=48,depth=1,4"``.
    period, deadline, jitter
        Count the missed cycles of this loop, as in `deadline`. Of a run with a schedule they are counted
        anyway, by default with its period as period and deadline.
    model, plant, pid, controller, noise, order, on_miss
        With `period` and `deadline`, a control loop as in `control`: the page gets verdicts, tables and
        figures of what the delays do to it. All runs must be runs of exchanges.
    progress
        Show the progress.

    Returns
    -------
    list of pathlib.Path
        The files that were written.

    Raises
    ------
    UsageError
        No such run, or nothing to draw, or a file exists (see `force`), or the control loop has an error or
        does not fit a run.
    TypeError, ValueError
        The plant or the controller is not a system, or is not in continuous or discrete time.
    StorageError
        A file could not be written.

    Examples
    --------
    >>> wg.report("last", output="page.html")
    """
    places = [_call.place(run) for run in runs]
    if output is not None and str(output) == "-":
        raise ValueError("output must be a file; standard output is not supported here")
    values = dict(locals())
    file = model_file(values)
    called = _call.command("report", places, values, ["--quiet"], progress=progress)
    del file  # Until here the program reads it.
    return [Path(file) for file in called.files]


def compare(
    before: RunLike | Sequence[RunLike],
    after: RunLike | Sequence[RunLike],
    *,
    fail_if: v.Repeated | None = None,
    only: v.Texts | None = None,
) -> Comparison:
    """Compare stored runs, with confidence intervals.

    Parameters
    ----------
    before, after
        A run or several: runs, their directories or names, or ``last``.
    fail_if
        Conditions such as ``"p99 > 5% worse"``; those that the whole interval of the difference
        meets are in ``comparison.met``, those whose bound it contains in ``comparison.undecided``.
    only
        Compare only these figures, such as ``["p50", "p99"]``.

    Returns
    -------
    Comparison

    Raises
    ------
    UsageError
        The runs or conditions cannot be compared.

    Examples
    --------
    >>> comparison = wg.compare("before", "after", only=["p50", "p99"])
    >>> comparison.table()
    """
    values = dict(locals())
    sides = [_side("before", before), _side("after", after)]
    called = _call.command("compare", sides, values, ["--json"])
    return Comparison(_call.answer(called), sides, [] if only is None else v.texts("only", only))


def _side(name: str, runs: object) -> str:
    if isinstance(runs, Sequence) and not isinstance(runs, (str, bytes)):
        if not runs:
            raise ValueError(f"{name} must have at least one run")
        return ",".join(_call.place(run) for run in runs)
    return _call.place(runs)  # type: ignore[arg-type]


def export(
    run: RunLike,
    *,
    csv: v.File | None = None,
    parquet: v.File | None = None,
    json: v.File | None = None,
    data: bool = False,
    recompute: bool = False,
    force: bool = False,
) -> list[Path]:
    """Export a stored run as CSV, Parquet or JSON.

    Parameters
    ----------
    run
        A run, its directory, its name or the beginning of it, or ``last``.
    csv
        Write one row per exchange, transfer or block to this file.
    parquet
        All samples in one Parquet file.
    json
        Plan, conditions and summaries.
    data
        With `csv`: also the bytes of each answer, in hexadecimal, if the run stored them.
    recompute
        With `json`, of an exchange run: compute the figures again from the stored samples.
    force
        Overwrite existing files.

    Returns
    -------
    list of pathlib.Path
        The files that were written.

    Raises
    ------
    UsageError
        No such run, or a file exists (see `force`), or no file is given.
    StorageError
        A file could not be written.

    Examples
    --------
    >>> wg.export("last", parquet="samples.parquet")
    """
    for name, value in (("csv", csv), ("parquet", parquet), ("json", json)):
        if value is not None and str(value) == "-":
            raise ValueError(f"{name} must be a file; run.samples and run.points are already in memory")
    called = _call.command("export", [_call.place(run)], locals())
    return [Path(file) for file in called.files]
