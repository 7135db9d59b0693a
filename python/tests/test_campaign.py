"""Campaigns: plans that go to pools of threads and processes and to Dask, and come back as runs."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from html import unescape
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY
from peers import responder

import wiregauge as wg
from wiregauge._worker import GRACE, describe
from wiregauge.campaign import _PATIENCE, of_exit


@pytest.fixture(scope="module")
def boards() -> Iterator[list[str]]:
    """Two modelled devices, one of which is slower."""
    with (
        responder("tcp://127.0.0.1:0", "--service-time", "100us") as quick,
        responder("tcp://127.0.0.1:0", "--service-time", "2ms") as slow,
    ):
        yield [quick, slow]


def plan(address: str, **more: Any) -> wg.Plan:
    options = {"in_sizes": [48], "count": 30, "no_calibration": True} | more
    return wg.Plan("exchange", address, **options)


def test_a_plan_is_plain_data(boards: list[str]) -> None:
    one = plan(boards[0], resources={"board:f4-07": 1}, name="first")
    assert pickle.loads(pickle.dumps(one)) == one
    assert eval(repr(one), {"Plan": wg.Plan}) == one
    as_mapping = {"kind": "exchange", "address": boards[0], "count": 30, "in_sizes": 48}
    assert wg.Plan.of(as_mapping).words()[0] == "exchange"


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("bounce", {}, "exchange, stream, loop"),
        ("exchange", {"sizes": [3]}, "has no sizes"),
        ("exchange", {"count": 3.5}, "count must be"),
        ("exchange", {"store": "x"}, "stores its runs itself"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused_where_it_is_made(
    kind: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        wg.Plan(kind, "tcp://127.0.0.1:7", **options)


def test_without_an_executor_plans_run_here_one_after_the_other(boards: list[str], tmp_path: Path) -> None:
    campaign = wg.campaign([plan(boards[0]), plan(boards[1])], store=tmp_path)
    assert len(campaign) == 2
    runs = campaign.runs()
    assert [run.address for run in runs] == boards
    assert all(run.state == "complete" for run in runs)
    # No response comes before the device has done its work, however busy the host is.
    for run, service_us in zip(runs, [100, 2000], strict=True):
        assert run.points[0]["rtt"]["min"] >= service_us * 1000
    # Nothing but the runs is left, and they can be opened by name.
    assert {path.name for path in tmp_path.iterdir()} == {run.name for run in runs}
    assert len(wg.load(tmp_path / runs[0].name).samples) == 31


@pytest.mark.parametrize("ship", [False, True])
def test_a_pool_of_processes_brings_runs_back_in_the_order_of_the_plans(
    boards: list[str], tmp_path: Path, ship: bool
) -> None:
    plans = [plan(boards[n % 2], name=f"board-{n}") for n in range(3)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        results = wg.campaign(plans, pool, store=tmp_path, ship=ship or None).results()
    assert [result.plan for result in results] == plans
    assert [result.run.name for result in results] == [f"board-{n}" for n in range(3)]
    assert [result.run.address for result in results] == [*boards, boards[0]]
    workers = {result.worker["pid"] for result in results}
    assert os.getpid() not in workers
    assert all(len(result.run.samples) == 31 for result in results)


def test_a_failure_has_the_words_of_the_command_line_and_ends_no_other(
    boards: list[str], tmp_path: Path
) -> None:
    plans = [plan("tcp://127.0.0.1:1"), plan(boards[0]), plan(boards[0], in_sizes=[1])]
    with ThreadPoolExecutor(2) as pool:
        nobody, good, small = wg.campaign(plans, pool, store=tmp_path).results()
    assert good.ok
    assert good.run.state == "complete"
    assert isinstance(nobody.error, wg.LinkError)
    assert "cannot connect to tcp://127.0.0.1:1" in str(nobody.error)
    assert "hint:" in str(nobody.error)
    assert isinstance(small.error, wg.UsageError)
    with pytest.raises(wg.UsageError):
        _ = small.run


def test_a_campaign_shows_itself_in_a_notebook(boards: list[str], tmp_path: Path) -> None:
    campaign = wg.campaign([plan("tcp://127.0.0.1:1"), plan(boards[0], name="good")], store=tmp_path)
    assert campaign._repr_html_().count("not finished") == 2
    campaign.results()
    html = campaign._repr_html_()
    assert html.count("<tr>") == 3
    assert "cannot connect" in html and "<td>good</td>" in html and "not finished" not in html
    assert repr(campaign) == "<wiregauge.Campaign, 2 plans: 1 measured, 1 failed, 0 not finished>"
    # A plan that has a name is called by it.
    assert "name='good'" not in html and "Plan('exchange', 'tcp://127.0.0.1:1')" in unescape(html).replace(
        ", in_sizes=[48], count=30, no_calibration=True", ""
    )
    alone = wg.campaign([plan("tcp://127.0.0.1:1")], store=tmp_path)
    assert repr(alone).startswith("<wiregauge.Campaign, 1 plan: ")


def test_runs_raises_the_first_error_once_all_have_ended(boards: list[str], tmp_path: Path) -> None:
    campaign = wg.campaign([plan("tcp://127.0.0.1:1"), plan(boards[0])], store=tmp_path)
    with pytest.raises(wg.LinkError):
        campaign.runs()
    assert campaign.results()[1].ok


def test_a_missed_limit_is_a_run_and_says_so(boards: list[str], tmp_path: Path) -> None:
    plans = [plan(boards[1], require="max<1us"), plan(boards[1], require="max<10s")]
    missed, met = wg.campaign(plans, store=tmp_path).results()
    assert missed.ok
    assert missed.run.state == "complete"
    assert [missed.met, met.met] == [False, True]


def test_two_plans_with_one_name_are_two_runs(boards: list[str], tmp_path: Path) -> None:
    runs = wg.campaign([plan(boards[0], name="same")] * 2, store=tmp_path).runs()
    assert sorted(run.name for run in runs) == ["same", "same-2"]


def test_the_conditions_tell_which_worker_ran_it(boards: list[str], tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        (result,) = wg.campaign([plan(boards[0])], pool, store=tmp_path).results()
    assert result.worker["pid"] == os.getpid()
    assert result.run.conditions["worker"] == describe(result.worker)


class Broken:
    """An executor whose workers die."""

    def submit(self, fn: Any, /, *arguments: Any) -> Any:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(os._exit, 9)


def test_a_worker_that_dies_is_an_error_of_its_plan(boards: list[str], tmp_path: Path) -> None:
    (result,) = wg.campaign([plan(boards[0])], Broken(), store=tmp_path).results()
    assert not result.ok
    assert "could not be run: BrokenProcessPool" in str(result.error)


def test_plans_that_have_not_begun_can_be_taken_back(boards: list[str], tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        campaign = wg.campaign([plan(boards[1], count=200)] * 3, pool, store=tmp_path)
        campaign.cancel()
        results = campaign.results()
    assert not results[2].ok
    assert str(results[2].error).endswith("could not be run: it was cancelled")


@pytest.fixture
def jealous_boards() -> Iterator[list[str]]:
    """Two devices that turn a second client away, as a serial port does."""
    alone = ("--max-clients", "1")
    with (
        responder("tcp://127.0.0.1:0", *alone) as one,
        responder("tcp://127.0.0.1:0", *alone) as other,
    ):
        yield [one, other]


def test_dask_runs_each_plan_at_the_worker_that_has_its_board(
    jealous_boards: list[str], tmp_path: Path
) -> None:
    boards = jealous_boards
    distributed = pytest.importorskip("distributed")
    # One worker owns the one board, one the other; each has it once.
    workers = {
        f"lab-{n}": {
            "cls": distributed.Nanny,
            # Four at once, were it not for the resource.
            "options": {"nthreads": 4, "resources": {f"board:{n}": 1}},
        }
        for n in range(2)
    }
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": ":0"}}
    plans = [plan(boards[n % 2], name=f"plan-{n}", resources={f"board:{n % 2}": 1}) for n in range(4)]
    with (
        distributed.SpecCluster(workers=workers, scheduler=scheduler, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        seen = list(wg.campaign(plans, client, store=tmp_path))
        # The same plan again is measured again, not answered from memory.
        again = wg.campaign(plans[:1], client, store=tmp_path).runs()
    assert sorted(result.index for result in seen) == list(range(4))
    for result in seen:
        assert result.run.state == "complete"
        assert f"lab-{result.index % 2}" in result.worker["dask"]
        assert result.worker["dask"] in result.run.conditions["worker"]
    assert again[0].name == "plan-0-2"


@pytest.mark.parametrize("name", [None, "named"])
def test_the_run_of_a_worker_that_was_killed_keeps_its_samples(
    boards: list[str], tmp_path: Path, name: str | None
) -> None:
    endless = plan(boards[0], count=None, duration="1h", name=name)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        campaign = wg.campaign([endless], pool, store=tmp_path)
        until("it measures", lambda: list(tmp_path.glob(".campaign-*/**/samples/*.rows")))
        (worker,) = multiprocessing.active_children()
        worker.kill()
        (result,) = campaign.results()
    assert not result.ok and not result.met
    assert "was not measured to its end: BrokenProcessPool" in str(result.error)
    run = result.run
    assert run.state == "interrupted"
    assert (run.samples["status"] == wg.Status.OK).any()
    assert isinstance(result.error, wg.Error) and result.error.run == run
    assert run.path.parent == tmp_path and (name is None or run.name == name)
    assert [path.name for path in tmp_path.iterdir()] == [run.name]


def test_a_plan_that_failed_met_no_limit(boards: list[str], tmp_path: Path) -> None:
    plans = [plan("tcp://127.0.0.1:1", require="max<10s"), plan("tcp://127.0.0.1:1")]
    assert [result.met for result in wg.campaign(plans, store=tmp_path).results()] == [False, False]


def test_what_was_measured_before_a_failure_comes_with_the_error(tmp_path: Path) -> None:
    with responder("tcp://127.0.0.1:0", "--disconnect-after", "50", "--max-clients", "1") as address:
        (result,) = wg.campaign([plan(address, count=1000, timeout=0.2)], store=tmp_path).results()
    assert isinstance(result.error, wg.LinkError) and not result.met
    assert result.error.run == result.run and result.run.state == "failed"


@pytest.mark.parametrize(
    ("plans", "says"),
    [
        ([1, 2], r"plans\[0\] must be a Plan or a mapping, not int"),
        (5, "plans must be several plans, not int"),
        (wg.Plan("exchange", "null://"), "plans must be several plans, not Plan"),
        ("exchange", "plans must be several plans, not str"),
        ([{"address": "null://", "kind": 5}], "the kind of a plan must be one of"),
        ([{"kind": "exchange"}], "a plan needs an address"),
        ([{"kind": "exchange", "addresses": []}], "a plan needs an address"),
        ([{"address": "null://", "resources": 3}], "resources must be a mapping, not int"),
    ],
)
def test_what_is_no_plan_is_refused_by_its_place(plans: Any, says: str) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        wg.campaign(plans)


def test_what_is_no_executor_is_refused() -> None:
    with pytest.raises(TypeError, match=r"executor must have `submit`, as in concurrent.futures, not int"):
        wg.campaign([], 5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (130, "it was interrupted"),
        (0xC000013A, "it was interrupted"),
        (0xC0000005, "its process crashed: access violation (exit code 0xC0000005)"),
        (0xC0000006, "its process crashed: NTSTATUS error of Windows (exit code 0xC0000006)"),
        (-9, "its process was killed by SIGKILL"),
        (101, "exit code 101: it panicked"),
    ],
)
def test_an_exit_code_is_reported_in_words(code: int, said: str) -> None:
    assert str(of_exit(code, "it panicked")) == said


@pytest.mark.parametrize(
    ("begins", "stage"),
    [
        ("", "ended before it began a run"),
        ("import os; os.mkdir(os.environ['WIREGAUGE_RUNS']); ", "stored no run"),
    ],
)
@pytest.mark.parametrize("code", [0, 1])
def test_a_process_that_stores_no_run_is_an_error(
    code: int, begins: str, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As a process that was killed on Windows ends.
    program = [sys.executable, "-c", f"{begins}raise SystemExit({code})"]
    monkeypatch.setattr(sys.modules["wiregauge._worker"], "PROGRAM", program)
    (result,) = wg.campaign([plan("tcp://127.0.0.1:1")]).results()
    assert not result.ok
    with pytest.raises(wg.Error, match=rf"{stage} \(exit code {code} after .* s\): it printed nothing"):
        _ = result.run


STORES_AND_IS_KILLED = """
import os, pathlib, shutil, sys
shutil.copytree(sys.argv[1], pathlib.Path(os.environ["WIREGAUGE_RUNS"]) / "one")
raise SystemExit(1)
"""


def test_a_process_that_is_killed_with_a_run_begun_is_an_error_that_has_the_run(
    boards: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = wg.exchange(boards[0], count=5, no_calibration=True, store=tmp_path / "begun")
    file = run.path / "run.json"
    file.write_text(file.read_text().replace('"state": "complete"', '"state": "running"'))
    # Windows gives a process that was killed the exit code of a missed limit.
    program = [sys.executable, "-c", STORES_AND_IS_KILLED, str(run.path)]
    monkeypatch.setattr(sys.modules["wiregauge._worker"], "PROGRAM", program)
    (result,) = wg.campaign([plan(boards[0])], store=tmp_path / "runs").results()
    assert not result.ok and not result.met
    assert "was killed while it measured (exit code 1 after" in str(result.error)
    assert isinstance(result.error, wg.Error) and result.error.run == result.run
    assert result.run.state == "running"


def test_a_run_is_not_moved_while_its_process_may_still_write_it() -> None:
    source = (REPOSITORY / "crates/cli/src/parent.rs").read_text()
    forced = re.search(r"GRACE: Duration = Duration::from_secs\((\d+)\)", source)
    assert forced is not None and 2 * int(forced[1]) <= GRACE < _PATIENCE


WORKER = """
import sys
from wiregauge._worker import work
print("begins", flush=True)
work(sys.argv[1:], None, "there is no such file")
"""


def test_a_worker_that_is_killed_leaves_no_run_behind_that_still_measures(
    boards: list[str], tmp_path: Path
) -> None:
    endless = wg.Plan("exchange", boards[0], duration="1h", no_calibration=True)
    # The work of a worker is in a temporary directory of its own.
    command = [sys.executable, "-c", WORKER, *endless.words()]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as worker:
        assert worker.stdout is not None and worker.stdout.readline() == "begins\n"
        begun: list[Path] = []
        until(
            "it measures", lambda: begun.extend(tmp_path.glob("wiregauge-*/runs/*/samples/*.rows")) or begun
        )
        worker.kill()
    directory = begun[0].parents[1]
    until("its run has ended", lambda: wg.load(directory).state != "running")
    assert wg.load(directory).state == "interrupted"


SCRIPT = """
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
import wiregauge as wg

def go(executor, address, store):
    endless = {"address": address, "duration": "1h", "no_calibration": True}
    plans = [{**endless, "name": f"plan-{n}"} for n in range(4)]
    campaign = wg.campaign(plans, executor, store=store)
    try:
        for result in campaign:
            print("not interrupted:", result.error)
    except wg.Interrupted as error:
        print(error)
        print(*[result._run and result._run.state for result in campaign])
        print(error.run.name)

if __name__ == "__main__":
    how, address, store = sys.argv[1:]
    if how == "none":
        go(None, address, store)
    elif how == "threads":
        with ThreadPoolExecutor(2) as pool:
            go(pool, address, store)
    else:
        # What a process knows of its campaigns is not true of the workers that it forks.
        short = {"address": address, "count": 10, "no_calibration": True}
        wg.campaign([short], store=store + "-before").results()
        with ProcessPoolExecutor(2, mp_context=get_context(how)) as pool:
            go(pool, address, store)
"""


@contextlib.contextmanager
def script(how: str, address: str, place: Path, at_once: int) -> Iterator[subprocess.Popen[str]]:
    """A script with a campaign of endless plans, in a process group of its own, once it measures."""
    file = place / "script.py"
    file.write_text(SCRIPT)
    command = [sys.executable, str(file), how, address, str(place / "store")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            until(
                "it measures", lambda: len(list(place.glob("store/.campaign-*/**/samples/*.rows"))) == at_once
            )
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize(("how", "at_once"), [("none", 1), ("threads", 2), ("spawn", 2), ("fork", 2)])
@pytest.mark.parametrize("who", ["the terminal", "the script"])
def test_ctrl_c_ends_a_campaign_and_stores_what_was_measured(
    boards: list[str], tmp_path: Path, how: str, at_once: int, who: str
) -> None:
    with script(how, boards[0], tmp_path, at_once) as process:
        # A terminal interrupts the whole group, Jupyter and `kill` the script alone.
        (os.killpg if who == "the terminal" else os.kill)(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    message, states, last = out.splitlines()
    runs = "1 run" if at_once == 1 else "2 runs"
    assert message == f"interrupted; {runs} of 4 plans stored in {tmp_path / 'store'}"
    assert sorted(states.split()) == ["None"] * (4 - at_once) + ["interrupted"] * at_once
    stored = sorted(path.name for path in (tmp_path / "store").iterdir())
    assert stored == [f"plan-{n}" for n in range(at_once)] and last in stored
    assert all(
        (wg.load(tmp_path / "store" / name).samples["status"] == wg.Status.OK).any() for name in stored
    )


@pytest.mark.parametrize("how", ["spawn", "fork"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_workers_of_a_script_that_is_killed_end_with_it(
    boards: list[str], tmp_path: Path, how: str, number: int
) -> None:
    with script(how, boards[0], tmp_path, 2) as process:
        (campaign,) = tmp_path.glob("store/.campaign-*")
        process.send_signal(number)
        process.wait(30)
        until("its group has ended", lambda: not group_exists(process.pid))
    begun = [wg.load(file.parent) for file in campaign.glob("**/run.json")]
    # None of the plans that waited has begun.
    assert [run.state for run in begun] == ["interrupted"] * 2


def group_exists(group: int) -> bool:
    """Tell whether any process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


BODY = """
import sys, time
import wiregauge as wg
short = wg.Plan("exchange", sys.argv[1], count=5, no_calibration=True, name="short")
endless = wg.Plan("exchange", sys.argv[1], duration="1h", no_calibration=True, name="endless")
for result in wg.campaign([short, endless, endless], store=sys.argv[2]):
    print(result.run.name, flush=True)
    time.sleep(60)
"""


def test_ctrl_c_between_two_results_stores_what_the_running_plan_has(
    boards: list[str], tmp_path: Path
) -> None:
    command = [sys.executable, "-c", BODY, boards[0], str(tmp_path / "store")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "short\n"
        until(
            "the second measures",
            lambda: list(tmp_path.glob("store/.campaign-*/plan-1/**/samples/*.rows")),
        )
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode not in (0, None)
    assert sorted(path.name for path in (tmp_path / "store").iterdir()) == ["endless", "short"]
    assert wg.load(tmp_path / "store" / "endless").state == "interrupted"


def test_errors_of_a_campaign_have_no_colours_where_a_notebook_asks_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    refused = [{"address": "tcp://127.0.0.1:1"}, {"address": "null://", "depth": 0}]
    connect, depth = (str(result.error) for result in wg.campaign(refused))
    assert connect.startswith("cannot connect to tcp://127.0.0.1:1: ")
    assert depth == "depth must be at least 1, not 0"


def test_a_plan_whose_worker_was_killed_is_not_measured_again_by_another(
    boards: list[str], tmp_path: Path
) -> None:
    distributed = pytest.importorskip("distributed")
    worker = {"cls": distributed.Nanny, "options": {"nthreads": 1}}
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": ":0"}}
    endless = plan(boards[0], count=None, duration="1h", name="endless")
    with (
        distributed.SpecCluster(
            workers={"one": worker, "two": worker}, scheduler=scheduler, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        campaign = wg.campaign([endless], client, store=tmp_path)
        until("it measures", lambda: list(tmp_path.glob(".campaign-*/**/samples/*.rows")))
        (busy,) = (address for address, tasks in client.processing().items() if tasks)
        os.kill(client.run(os.getpid, workers=[busy])[busy], signal.SIGKILL)
        (result,) = campaign.results()
    assert str(result.error).endswith("was not measured to its end: its worker was killed")
    assert result.run.state == "interrupted" and result.run.name == "endless"


def until(what: str, is_so: Callable[[], object]) -> None:
    """Wait for something that happens in another process."""
    for _ in range(3000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError(f"{what}: not within 30 s")
