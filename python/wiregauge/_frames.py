"""A run as pandas and xarray objects.

A kind of run that a table here leaves out has its point for a dimension, and all its columns.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ._optional import need
from .samples import Phase, Status, TransferStatus, Way, names

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_DIMENSIONS = {
    "exchange": ["out_bytes", "in_bytes", "depth"],
    "stream": ["direction", "way", "transfer_bytes", "queue"],
    "loop": ["rate_hz", "channels", "notify_bytes", "aim"],
    "control": ["period_ns", "depth"],
}

_TIMES = {
    "exchange": ["start_ns", "rtt_ns"],
    "stream": ["submit_ns", "complete_ns"],
    "loop": ["due_ns", "begun_ns", "done_ns"],
    "control": ["intended_ns", "start_ns", "command_start_ns"],
}

_PLACES = {
    "exchange": ["link", "address", "together", "out_bytes", "in_bytes", "depth"],
    "stream": ["link", "address", "together", "direction", "way", "transfer_bytes", "queue"],
    "loop": ["aim", "rate_hz", "channels", "notify_bytes"],
    "control": ["period_ns", "depth"],
}
"""The columns that identify a point; those of several links only if there are several."""

_OF_SEVERAL_LINKS = ("link", "address", "together")

_SUMMARY = {
    "exchange": [
        "exchanges", "lost", "rtt_p50_ns", "rtt_p99_ns", "rtt_p99_low_ns", "rtt_p99_high_ns", "rtt_max_ns",
        "trt_mean_ns", "out_bytes_s", "in_bytes_s",
    ],
    "stream": [
        "transfers", "lost_bytes", "corrupted_bytes", "rate_bytes_s", "rate_low_bytes_s", "rate_high_bytes_s",
        "achieved_queue", "gap_p50_ns", "gap_p99_ns", "gap_max_ns",
    ],
    "loop": [
        "blocks", "overruns", "underruns", "preload_ns", "needed_ns", "floor_ns", "stalls_high_per_minute",
        "service_p50_ns", "service_p99_ns", "service_max_ns",
    ],
    "control": [
        "cycles", "samples_lost", "commands_lost", "delay_p50_ns", "delay_p99_ns", "delay_max_ns", "cost",
        "cost_low", "cost_high", "settling_s",
    ],
}  # fmt: skip
"""The ten figures of a summary."""

_COUNTS = (
    "exchanges", "answered", "lost", "transfers", "blocks", "cycles", "overruns", "underruns", "samples_lost",
    "commands_lost", "depth", "queue", "achieved_depth", "achieved_queue", "channels",
)  # fmt: skip

_UNITS = {
    "_bytes_s": "B/s",
    "_exchanges_s": "1/s",
    "_per_minute": "1/min",
    "_settling_s": "s",
    "_share": "1",
    "_bytes": "B",
    "_hz": "Hz",
    "_ns": "ns",
}


class Source(Protocol):
    """What a dataset needs of a run."""

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def address(self) -> str: ...
    @property
    def note(self) -> str | None: ...
    @property
    def plan(self) -> dict[str, Any]: ...
    @property
    def conditions(self) -> dict[str, Any]: ...
    @property
    def command(self) -> str: ...
    @property
    def samples(self) -> npt.NDArray[np.void]: ...
    def table(self) -> pd.DataFrame: ...


def table(csv: str, empty: bool) -> pd.DataFrame:
    """Read the summaries; with `empty` also the columns without a value."""
    pandas = need("pandas", "a table of a run")
    frame: pd.DataFrame = pandas.read_csv(io.StringIO(csv), keep_default_na=False, na_values=[""])
    # Without a point no column has a value, and the dimensions are needed all the same.
    if not empty and len(frame):
        frame = frame.dropna(axis="columns", how="all")
    frame.attrs["units"] = _units(frame)
    return frame


def summary(csv: str, kind: str) -> pd.DataFrame:
    """Read the main figures of a run."""
    frame = table(csv, True)
    several = "link" in frame and frame["link"].nunique() > 1
    places = [name for name in _PLACES.get(kind, []) if several or name not in _OF_SEVERAL_LINKS]
    figures = _SUMMARY.get(kind) or [str(name) for name in frame.columns if name != "point"]
    chosen = frame.reindex(columns=["point", *places, *figures])
    chosen.attrs["units"] = _units(chosen)
    return chosen


def _units(frame: pd.DataFrame) -> dict[str, str]:
    """Return the unit of each column that has one."""
    units = {str(column): unit(str(column)) for column in frame.columns}
    return {column: found for column, found in units.items() if found}


def samples(rows: npt.NDArray[np.void], kind: str) -> pd.DataFrame:
    """Make columns of rows."""
    pandas = need("pandas", "a frame of samples")
    columns: dict[str, Any] = {}
    for name in rows.dtype.names or ():
        named = names(kind, name)
        values = rows[name]
        columns[name] = pandas.Categorical.from_codes(values, named) if named else values
    frame: pd.DataFrame = pandas.DataFrame(columns)
    return frame


def unit(column: str) -> str | None:
    """Return the unit that the name of a column ends in; 1 for counts."""
    if column in _COUNTS:
        return "1"
    return next((unit for ending, unit in _UNITS.items() if f"_{column}".endswith(ending)), None)


def dataset(run: Source, with_samples: bool) -> xr.Dataset:
    """Arrange the summaries over the swept parameters."""
    xarray = need("xarray", "to_xarray")
    frame = run.table()
    dimensions = list(_DIMENSIONS.get(run.kind, ["point"]))
    for name in ("link", "together"):
        # One link alone is no dimension.
        if name in frame and frame[name].nunique() > 1:
            dimensions.append(name)
    again = frame.groupby(dimensions).cumcount()
    if again.any():
        frame = need("pandas", "to_xarray").concat([frame, again.rename("repeat")], axis=1)
        dimensions.append("repeat")
    made: xr.Dataset = xarray.Dataset.from_dataframe(frame.set_index(dimensions))
    for variable in made.variables:
        if found := unit(str(variable)):
            made[variable].attrs["units"] = found
    made.attrs.update(_attributes(run))
    if with_samples:
        _add_samples(run, made, frame, dimensions)
    return made


def _attributes(run: Source) -> dict[str, str]:
    """Return what describes the run in a file of the dataset; only text, which netCDF can store."""
    host = run.conditions["host"]
    note = {"note": run.note} if run.note else {}
    return {
        **note,
        "kind": run.kind,
        "address": run.address,
        "run": run.name,
        "started": str(run.conditions["started"]),
        "version": str(run.conditions["version"]),
        "host": ", ".join(str(host[key]) for key in ("name", "cpu", "kernel") if host.get(key)),
        "plan": json.dumps(run.plan),
        "command": run.command,
    }


def _add_samples(run: Source, made: xr.Dataset, frame: pd.DataFrame, dimensions: list[str]) -> None:
    parts = []
    for _, row in frame.iterrows():
        rows = run.samples[run.samples["point"] == row["point"]]
        rows = rows[timed(rows, run.kind)]
        if run.kind == "stream":
            rows = rows[rows["way"] == Way[str(row["way"]).upper()]]
        parts.append(rows)
    longest = max((int(rows["sequence"].max()) + 1 for rows in parts if rows.size), default=0)
    shape = [made.sizes[name] for name in dimensions]
    places = [made.indexes[name] for name in dimensions]
    times = [name for name in run.samples.dtype.names or () if name.endswith("_ns")]
    for column in _TIMES.get(run.kind, times):
        values = np.full([*shape, longest], np.nan)
        for (_, row), rows in zip(frame.iterrows(), parts, strict=True):
            at = tuple(index.get_loc(row[name]) for name, index in zip(dimensions, places, strict=True))
            values[at][rows["sequence"]] = rows[column]
        made[column] = ([*dimensions, "sequence"], values, {"units": "ns"})


def timed(rows: npt.NDArray[np.void], kind: str) -> npt.NDArray[np.bool_]:
    """Return which rows are measured and have a time: correct answers, complete transfers, blocks."""
    if "phase" not in (rows.dtype.names or ()):
        return np.ones(rows.shape, np.bool_)  # A control loop is closed from the first cycle on.
    measured: npt.NDArray[np.bool_] = rows["phase"] == Phase.MEASURED
    if kind == "exchange":
        measured &= (rows["status"] == Status.OK) | (rows["status"] == Status.REORDERED)
    if kind == "stream":
        measured &= rows["status"] == TransferStatus.OK
    return measured


def durations(rows: npt.NDArray[np.void], kind: str) -> npt.NDArray[np.float64]:
    """Return the RTT of exchanges, the transfer time of transfers, the service delay of blocks, in s.

    Parameters
    ----------
    rows
        Rows of a run, of shape (n,).
    kind
        Of the run.

    Returns
    -------
    numpy.ndarray
        Of shape (n,), in seconds.
    """
    if kind == "exchange":
        ns = rows["rtt_ns"].astype(np.float64)
    elif kind == "stream":
        ns = rows["complete_ns"].astype(np.float64) - rows["submit_ns"]
    else:
        ns = rows["done_ns"].astype(np.float64) - rows["due_ns"]
    return ns / 1e9
