"""No statement contradicts its data: generated runs of all shapes, and what each command says."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

import numpy as np

import deadline_figures
import generate
import printed
import say_compare
import say_deadline
import say_explain
import say_figures
import say_page
from common import Checks, Failed, scratch, wiregauge
from exchange_figures import check_run

#: Deviations that the checks still measure, by the name of the check.
KNOWN: dict[str, str] = {}


def deadlines(checks: Checks, run: dict, path: Path, seed: int, where: str) -> None:
    """`deadline` with a period, a deadline and a limit of jitter that suit the run."""
    rng = np.random.default_rng(seed + 1_000_000_007)
    medians = [p["rtt"]["p50"]["value"] for p in run["points"] if p["rtt"]]
    longest = [p["rtt"]["max"] for p in run["points"] if p["rtt"]]
    if not medians:
        medians, longest = [1e6], [1e6]
    typical = float(np.median(medians))
    # From half of the median to beyond the longest, so that many, few and none are missed.
    span = np.log(max(longest) * 1.5 / (0.5 * typical))
    deadline = max(1, int(0.5 * typical * np.exp(rng.uniform(0, max(span, 0.1)))))
    every = run["plan"]["schedule"]
    own = isinstance(every, dict) and rng.random() < 0.7
    if own:
        period = every["every-ns"]
    else:
        period = max(1000, int(deadline * rng.choice([1.0, 1.0, 3.0])), int(typical * 0.3))
    deadline = min(deadline, period)
    jitter = int(typical * rng.choice([0.05, 0.5])) or 1 if rng.random() < 0.2 else None
    given = None if deadline == period else deadline
    found = deadline_figures.check(checks, run, path, period, given, jitter)
    flags = ["--period", f"{period}ns"]
    flags += ["--deadline", f"{given}ns"] if given else []
    flags += ["--jitter", f"{jitter}ns"] if jitter else []
    text = wiregauge("deadline", path, *flags)
    here = f"{where}, {' '.join(flags)}"
    say_figures.intervals(checks, found, here)
    say_figures.percentages(checks, text, here)
    say_deadline.check(checks, run, found, text, path, here)


def report(checks: Checks, run: dict, path: Path, where: str) -> None:
    """The page of a run can be made, says what the samples say, and has no figure that is no number."""
    page = path / "report.html"
    wiregauge("report", path, "-o", page, "--quiet")
    text = page.read_text()
    say_page.check(checks, run, text, path, where)
    # Scripts and styles have words of their own.
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", text, flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", " ", text)
    bad = re.search(r"\b(NaN|-?inf|Infinity)\b", text)
    detail = f"{where}: {text[max(0, bad.start() - 80) : bad.end() + 20]}" if bad else ""
    checks.that(bad is None, "a page has no figure that is no number", detail)


def one(checks: Checks, seed: int, home: Path, before) -> tuple[dict, Path] | None:
    """Check what every command says of the run of one seed; gives the run for a comparison."""
    path, where = generate.run(seed, home)
    run = json.loads((path / "run.json").read_text())
    check_run(checks, run, path)
    brief = wiregauge("show", path)
    full = wiregauge("show", path, "--full")
    printed.check_exchange(checks, run, full, where)
    say_figures.check(checks, run, brief, full, path, where)
    deadlines(checks, run, path, seed, where)
    explained = wiregauge("explain", path, json=True)
    text = wiregauge("explain", path)
    say_explain.check(checks, run, explained, text, path, where)
    incomplete = run["state"] != "complete"
    scheduled = run["plan"]["schedule"] != "as-fast-as-possible"
    if seed % 10 == 0 or incomplete or scheduled:
        report(checks, run, path, where)
    if seed % 5 == 0:
        itself = wiregauge("compare", path, path, json=True)
        say_compare.check_same(checks, itself, where)
    if before is not None:
        comparison(checks, before, (run, path), where)
    return run, path


def comparison(checks: Checks, before: tuple, after: tuple, where: str) -> None:
    """Compare with the run before, where both have a point in common."""

    def cells(run):
        keys = ("out_bytes", "in_bytes", "depth")
        points = [p for p in run["points"] if p["counts"]["exchanges"]]
        return [tuple(p["point"][key] for key in keys) for p in points]

    mine, other = cells(after[0]), cells(before[0])
    if not set(mine) & set(other):
        return
    if len(set(mine)) < len(mine) or len(set(other)) < len(other):
        return
    found = wiregauge("compare", before[1], after[1], json=True)
    here = f"{where}, against {before[1].name}"
    say_compare.check(checks, found, before, after, here)
    text = wiregauge("compare", before[1], after[1])
    say_compare.check_text(checks, found, text, here)


def run(quick: bool, keep: str | None = None, seeds: range | None = None) -> bool:
    """Generate and check; True if no statement contradicts its data."""
    checks = Checks(KNOWN)
    seeds = seeds or range(100 if quick else 1000)
    begun = time.monotonic()
    before = None
    failed = 0
    with scratch(keep) as home:
        for seed in seeds:
            try:
                before = one(checks, seed, home, before)
            except (Failed, KeyError, IndexError, ValueError) as error:
                # A command that fails on valid samples is a failure of its own.
                failed += 1
                checks.that(False, "commands read every run", f"seed {seed}: {error!r}")
    took = time.monotonic() - begun
    total = sum(checks.counts.values())
    print(f"Statements about {len(seeds):,} generated runs: {total:,} checks, {took:.0f} s")
    return checks.report()


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:] if text.isdigit()]
    chosen = range(numbers[0], numbers[-1] + 1) if numbers else None
    sys.exit(0 if run("--quick" in sys.argv, seeds=chosen) else 1)
