"""Many plans, each run in its own process, by any executor.

An executor is anything with `submit` as in `concurrent.futures`: a pool of processes or threads,
Dask's client, MPI's pool. It decides what runs where and when.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import queue
import re
import signal
import tarfile
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar

from . import _native
from . import _values as v
from ._executors import Executor, Future, OneByOne
from ._html import page, table
from ._words import in_python
from ._worker import GRACE, INTERRUPTED, WAS_TAKEN_UP, describe, work
from .errors import Error, Interrupted, LinkError, UsageError, interrupted_campaign, plans_in_words
from .run import Run

__all__ = ["Campaign", "Plan", "Result", "campaign"]


KINDS = ("exchange", "stream", "loop")

_PATIENCE = 1.5 * GRACE
"""How long the process of a plan may take to end when its worker was killed, or after Ctrl-C (s).

Its run must not be moved before it has ended.
"""


class Plan:
    """A planned measurement: plain data that can be pickled and sent to another machine.

    Parameters
    ----------
    kind : {"exchange", "stream", "loop"}
        The function of this package, and the command, that measures it.
    *addresses : str
        The device, as addressed where the plan runs; several are measured alone and together.
    resources : mapping of str to float, optional
        Resources of a worker that the plan needs, such as ``{"board:f4-07": 1}``. Passed on to
        executors whose `submit` has `resources` (Dask's client), ignored by others.
    name : str, optional
        Name of the stored run [default: its start time and link].
    **options
        As those of `wiregauge.exchange`, `stream` and `loop`: ``in_sizes=[48, 1000], depth=[1, 4],
        count=1000``.

    Examples
    --------
    >>> Plan("exchange", "tcp://10.0.0.5:7700", in_sizes=[48, 1000], resources={"board:f4-07": 1})
    Plan('exchange', 'tcp://10.0.0.5:7700', in_sizes=[48, 1000], resources={'board:f4-07': 1})
    """

    def __init__(
        self,
        kind: str,
        *addresses: str,
        resources: Mapping[str, float] | None = None,
        name: str | None = None,
        **options: object,
    ) -> None:
        for own in ("store", "no_store", "json"):
            if own in options:
                raise ValueError(f"a campaign stores its runs itself: a plan has no `{own}`")
        if not isinstance(resources, (Mapping, NoneType)):
            raise TypeError(f"resources must be a mapping, not {type(resources).__name__}")
        self.kind = kind
        self.addresses = addresses
        self.resources: dict[str, float] = dict(resources or {})
        self.name = name
        self.options = options
        # What is mistyped is reported here, not by a worker an hour later.
        self.words()

    def words(self) -> list[str]:
        """Return the command that measures it, without the program's name.

        Returns
        -------
        list of str

        Raises
        ------
        UsageError, TypeError
            The kind or an option does not exist, or a value has a wrong type.

        Examples
        --------
        >>> wg.Plan("exchange", "tcp://10.0.0.5:7700", count=1000).words()
        """
        if self.kind not in KINDS:
            raise UsageError(f"the kind of a plan must be one of {', '.join(KINDS)}, not {self.kind!r}")
        unknown = [name for name in self.options if name not in v.converters(self.kind)]
        if unknown:
            raise TypeError(f"a plan of the kind {self.kind} has no {', '.join(unknown)}")
        if not self.addresses:
            raise UsageError(f"a plan needs an address, such as Plan({self.kind!r}, 'tcp://10.0.0.5:7700')")
        return [self.kind, *v.flags(self.kind, self.options), "--", *v.addresses(self.addresses)]

    @classmethod
    def of(cls, plan: Plan | Mapping[str, Any]) -> Plan:
        """Make a plan of a mapping with its names: `address` for one device, `addresses`.

        Parameters
        ----------
        plan : Plan or mapping
            With the names of `Plan` as keys.

        Returns
        -------
        Plan

        Raises
        ------
        TypeError, ValueError
            It is no mapping, has no address, or is not valid (see `words`).

        Examples
        --------
        >>> wg.Plan.of({"kind": "exchange", "address": "tcp://10.0.0.5:7700", "count": 1000})
        """
        if isinstance(plan, Plan):
            return plan
        if not isinstance(plan, Mapping):
            raise TypeError(f"a plan must be a Plan or a mapping, not {type(plan).__name__}")
        rest = dict(plan)
        kind = rest.pop("kind", "exchange")
        if "addresses" in rest:
            addresses = rest.pop("addresses")
        elif "address" in rest:
            addresses = [rest.pop("address")]
        else:
            raise ValueError("a plan needs an address: the key `address`, or `addresses` for several")
        return cls(kind, *addresses, **rest)

    def __repr__(self) -> str:
        """Write it as it can be typed."""
        parts = [repr(self.kind), *map(repr, self.addresses)]
        parts += [f"{key}={value!r}" for key, value in self.options.items()]
        if self.resources:
            parts.append(f"resources={self.resources!r}")
        if self.name:
            parts.append(f"name={self.name!r}")
        return f"Plan({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        """Compare what is planned."""
        return isinstance(other, Plan) and self.__dict__ == other.__dict__

    __hash__: ClassVar[None]  # type: ignore[assignment]  # its options can change


@dataclass
class Result:
    """The result of one plan.

    Attributes
    ----------
    plan : Plan
        The plan.
    index : int
        Its place among the plans, from 0.
    worker : dict
        Where it ran: `host`, `pid`, and the worker's name in the executor.
    error : Exception or None
        Why there is no run, or what ended it early; with the message of the command line.
    met : bool
        True if all of it was measured, and every limit of `require` is met.
    seconds : float
        Time from its start to its end, at the worker (s).
    """

    plan: Plan
    index: int
    worker: dict[str, Any] = field(default_factory=dict)
    error: Exception | None = None
    met: bool = False
    seconds: float = 0.0
    _run: Run | None = None

    @property
    def run(self) -> Run:
        """The run; raises the error if there is none."""
        if self._run is None:
            raise self.error or RuntimeError("it has not run")
        return self._run

    @property
    def ok(self) -> bool:
        """True if it measured what was planned."""
        return self.error is None


class Campaign:
    """Plans submitted to an executor. Iterate to get a `Result` for each, as they finish.

    Finished results are kept: it may be iterated again.

    Ctrl-C while it is iterated cancels plans that have not started, ends those that run and stores what they
    have measured; then it raises `Interrupted`. The results are those of the next iteration.
    """

    def __init__(self, plans: list[Plan], executor: Executor, store: Path, ship: bool | None) -> None:
        self._plans = plans
        self._store = store
        self._ended: queue.SimpleQueue[tuple[int, Future]] = queue.SimpleQueue()
        self._results: list[Result] = []
        store.mkdir(parents=True, exist_ok=True)
        # A worker that sees its plan's directory here shares the caller's disk: it sends no run back.
        self._drop = tempfile.TemporaryDirectory(prefix=".campaign-", dir=store, ignore_cleanup_errors=True)
        drop = Path(self._drop.name).resolve()
        # Before the directory is removed when the script ends, for example after Ctrl-C in a loop's body.
        weakref.finalize(self._drop, _end_with_script, weakref.ref(self))
        # Workers that see its directory end their plans when this file exists.
        self._stop = drop / "stop"
        extras = _understood(executor)
        self._futures: list[Future] = []
        for index, plan in enumerate(plans):
            options = extras(plan)
            place = self._place(drop, index)
            if not ship:
                place.mkdir()
            future = executor.submit(
                work, plan.words(), None if ship else str(place), str(self._stop), **options
            )
            self._futures.append(future)
            future.add_done_callback(lambda done, index=index: self._ended.put((index, done)))

    def __len__(self) -> int:
        """Count the plans."""
        return len(self._plans)

    def __iter__(self) -> Iterator[Result]:
        """Yield each result as its plan finishes; Ctrl-C raises `Interrupted`."""
        yield from list(self._results)
        while len(self._results) < len(self._plans):
            try:
                result = self._next()
            except KeyboardInterrupt:
                raise self._interrupted() from None
            yield result

    def _next(self, timeout: float | None = None) -> Result:
        """Wait for the next plan that ends; queue.Empty if none does in this time (s)."""
        result = self._take(*self._ended.get(timeout=timeout))
        self._results.append(result)
        if len(self._results) == len(self._plans):
            self._drop.cleanup()
        return result

    def _interrupted(self) -> Interrupted:
        """End all plans, store what they measured, return the error; a second Ctrl-C stops waiting."""
        self.cancel()
        with contextlib.suppress(FileNotFoundError):
            self._stop.touch()
        patience = time.monotonic() + _PATIENCE
        with contextlib.suppress(KeyboardInterrupt, queue.Empty):
            while len(self._results) < len(self._plans):
                self._next(max(patience - time.monotonic(), 0))
        runs = [result._run for result in self._results if result._run is not None]
        left = len(self._plans) - len(self._results)
        return interrupted_campaign(runs, len(self._plans), left, self._store)

    def results(self) -> list[Result]:
        """All of them, in the order of the plans; waits until the last has ended.

        Returns
        -------
        list of Result
            One for each plan; a failed plan has its error there.

        Examples
        --------
        >>> [result.seconds for result in wg.campaign(plans).results() if result.ok]
        """
        return sorted(self, key=lambda result: result.index)

    def runs(self) -> list[Run]:
        """All runs, in the order of the plans; raises the first error, once all have ended.

        Returns
        -------
        list of Run

        Raises
        ------
        Error
            The first error of a plan, in the order of the plans.

        Examples
        --------
        >>> [run.points[0]["rtt"]["p99"]["value"] for run in wg.campaign(plans).runs()]
        """
        return [result.run for result in self.results()]

    def __repr__(self) -> str:
        """Count the plans by their state."""
        ended = len(self._results)
        failed = sum(not result.ok for result in self._results)
        states = f"{ended - failed} measured, {failed} failed, {len(self) - ended} not finished"
        return f"<wiregauge.Campaign, {plans_in_words(len(self))}: {states}>"

    def _repr_html_(self) -> str:
        ended = {result.index: result for result in self._results}
        rows = [_row(plan, ended.get(index)) for index, plan in enumerate(self._plans)]
        return page(table("Campaign", ["plan", "state", "run", "worker", "time (s)"], rows))

    def cancel(self) -> None:
        """Cancel plans that have not started; they end with an error.

        Examples
        --------
        >>> campaign = wg.campaign(plans, ThreadPoolExecutor(1))
        >>> campaign.cancel()
        """
        for future in self._futures:
            future.cancel()

    def _take(self, index: int, future: Future) -> Result:
        plan = self._plans[index]
        result = Result(plan, index)
        try:
            said = future.result()
        except (Exception, CancelledError) as error:
            # The worker died, could not be reached, has no wiregauge, or the plan was taken back.
            result._run = self._rescued(plan, index)
            what = "could not be run" if result._run is None else "was not measured to its end"
            reason = f"{type(error).__name__}: {error}"
            if isinstance(error, CancelledError):
                reason = "it was cancelled"
            failure = Error(f"{plan!r} {what}: {reason}")
            failure.run, failure.__cause__ = result._run, error
            result.error = failure
            return result
        result.worker, result.seconds = said["worker"], said["seconds"]
        if said["code"] == WAS_TAKEN_UP:
            result._run = self._rescued(plan, index)
            what = "could not be run" if result._run is None else "was not measured to its end"
            result.error = Error(f"{plan!r} {what}: its worker was killed")
            result.error.run = result._run
            return result
        failed = of_exit(said["code"], said["text"])
        if said["at"] is not None:
            result._run = self._settle(plan, Path(said["at"]))
        elif said["packed"] is not None:
            with tempfile.TemporaryDirectory(dir=self._drop.name) as unpacked:
                with tarfile.open(fileobj=io.BytesIO(said["packed"])) as packed:
                    packed.extractall(unpacked, filter="data")
                result._run = self._settle(plan, next(Path(unpacked).iterdir()))
        if failed is None and (result._run is None or result._run.state == "running"):
            # Windows gives a process that was killed the exit code of a missed limit.
            what = "was killed while it measured"
            if result._run is None:
                what = "stored no run" if said["opened"] else "ended before it began a run"
            text = said["text"] or "it printed nothing"
            failed = Error(
                f"its process {what} (exit code {said['code']} after {result.seconds:.1f} s): {text}"
            )
        if failed is not None:
            failed.run = result._run
        result.error = failed
        result.met = failed is None and said["code"] == 0
        return result

    @staticmethod
    def _place(drop: Path, index: int) -> Path:
        """Return where the worker of a plan stores its run, if it shares the caller's disk."""
        return drop / f"plan-{index}"

    def _rescued(self, plan: Plan, index: int) -> Run | None:
        """Store the run of a worker that was killed; the process of the run ends by itself."""
        place = self._place(Path(self._drop.name), index)
        patience = time.monotonic() + _PATIENCE
        while True:
            try:
                runs = [Run(path) for path in place.glob("*/runs/*") if path.is_dir()]
            except UsageError:
                # It is just being written, or removed because nothing was measured.
                runs = []
            is_late = time.monotonic() > patience
            if not any(place.glob("*/runs/*")) or (is_late and not runs):
                return None
            if runs and (is_late or runs[0].state != "running"):
                try:
                    return self._settle(plan, runs[0].path)
                except PermissionError:
                    # On Windows as long as the process has a file of it open.
                    if is_late:
                        return None
            time.sleep(0.02)

    def _settle(self, plan: Plan, came: Path) -> Run:
        """Store a run under its own name."""
        wanted = plan.name or came.name
        for attempt in range(1, 10_000):
            place = self._store / (wanted if attempt == 1 else f"{wanted}-{attempt}")
            try:
                move(came, place)
            except FileExistsError:
                continue
            return Run(place)
        raise FileExistsError(f"{self._store / wanted} exists, and so do all numbered names")


def _end_with_script(of: weakref.ref[Campaign]) -> None:
    """Store what is measured of a campaign when its script ends."""
    campaign = of()
    if campaign is not None and len(campaign._results) < len(campaign):
        campaign._interrupted()


def _row(plan: Plan, result: Result | None) -> list[str]:
    """Return the cells of a plan for a notebook; results count as finished once they have been iterated."""
    name = plan.name or repr(plan)
    if result is None:
        return [name, "not finished", "", "", ""]
    run = "" if result._run is None else result._run.name
    unmet = "measured, a limit was missed or is undecided"
    state = str(result.error) if result.error else "measured" if result.met else unmet
    return [name, state, run, describe(result.worker), f"{result.seconds:.1f}"]


def campaign(
    plans: Iterable[Plan | Mapping[str, Any]],
    executor: Executor | None = None,
    *,
    store: str | Path | None = None,
    ship: bool | None = None,
) -> Campaign:
    """Run plans with an executor, each in its own process.

    Parameters
    ----------
    plans : iterable of Plan, or of mappings with a plan's names
        What to measure.
    executor : optional
        Anything with `submit` as in `concurrent.futures`: ``ProcessPoolExecutor()``, Dask's
        ``Client``, ``MPIPoolExecutor()``. Workers need wiregauge installed. Without one, the plans
        run here, one after the other.
    store : path, optional
        Directory for the runs [default: with the other stored runs].
    ship : bool, optional
        True: workers send their runs back as bytes. By default they do so if they cannot access the
        caller's disk.

    Returns
    -------
    Campaign
        Iterate it to get a `Result` for each plan, in order of completion; `runs()` waits for all. A
        failed plan does not stop the others: its `Result` has the error.

    Raises
    ------
    UsageError, TypeError
        A plan is not valid; none is submitted then.

    Examples
    --------
    >>> # Dask's workers were started with --resources "board:f4-07=1"
    >>> with Client("scheduler:8786") as client:
    ...     for result in wg.campaign(plans, client):
    ...         print(result.plan, result.run.points if result.ok else result.error)
    """
    if isinstance(plans, (Plan, Mapping, str, bytes)) or not isinstance(plans, Iterable):
        raise TypeError(f"plans must be several plans, not {type(plans).__name__}")
    planned = [_planned(at, plan) for at, plan in enumerate(plans)]
    if executor is not None and not callable(getattr(executor, "submit", None)):
        name = type(executor).__name__
        raise TypeError(f"executor must have `submit`, as in concurrent.futures, not {name}")
    place = Path(store) if store is not None else _native.runs_home()
    if executor is not None:
        return Campaign(planned, executor, place, ship)
    own = OneByOne()
    try:
        return Campaign(planned, own, place, ship)
    finally:
        own.close()


def _planned(at: int, plan: object) -> Plan:
    """Return a plan, or the error with its place among the plans."""
    if not isinstance(plan, (Plan, Mapping)):
        raise TypeError(f"plans[{at}] must be a Plan or a mapping, not {type(plan).__name__}")
    return Plan.of(plan)


_WINDOWS_CTRL_C = 0xC000013A
_WINDOWS_CRASH = 0xC0000000
_WINDOWS_CRASHES = {
    0xC0000005: "access violation",
    0xC0000017: "out of memory",
    0xC00000FD: "stack overflow",
    0xC0000135: "missing DLL",
    0xC0000142: "initialisation of a DLL failed",
    0xC0000409: "abort",
}
"""Exit codes of Windows after Ctrl-C and after crashes (NTSTATUS)."""


def of_exit(code: int, text: str) -> Error | None:
    """Create an exception from the exit of a process; None if it succeeded."""
    # The usage of the command line is of no use here.
    text = re.split(r"\n\n(?:Usage:|For more information)", text.removeprefix("error: "))[0]
    text = in_python(text) or "it printed nothing"
    if code in (0, 1):
        return None
    if code == 2:
        return UsageError(text)
    if code == 3:
        return LinkError(text)
    if code in (INTERRUPTED, _WINDOWS_CTRL_C):
        return Error("it was interrupted")
    if code < 0:
        return Error(f"its process was killed by {signal.Signals(-code).name}")
    if code >= _WINDOWS_CRASH:
        what = _WINDOWS_CRASHES.get(code, "NTSTATUS error of Windows")
        return Error(f"its process crashed: {what} (exit code 0x{code:08X})")
    return Error(f"exit code {code}: {text}")


def move(came: Path, place: Path) -> None:
    """Give a run its name; FileExistsError if another run has it. A check beforehand could be overtaken."""
    # Windows does not rename to a name that exists, POSIX replaces an empty directory.
    if os.name != "nt":
        place.mkdir()
    os.rename(came, place)


def _understood(executor: Executor) -> Callable[[Plan], dict[str, Any]]:
    """Return extra arguments for an executor's `submit`, as a function of the plan."""
    try:
        named = inspect.signature(executor.submit).parameters
    except (TypeError, ValueError):
        return lambda plan: {}
    # Named, not only swallowed by **kwargs, which go to the function.
    takes = {
        name
        for name, parameter in named.items()
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    }

    def extras(plan: Plan) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if "resources" in takes and plan.resources:
            found["resources"] = plan.resources
        if "pure" in takes:
            # Dask would answer an equal plan with the run that it has.
            found["pure"] = False
        return found

    return extras
