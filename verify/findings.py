"""Every code of the closed list of warnings against generated runs whose true configuration is known: said where it
is true, withheld where it is not. A code without a predicate, or one that is hardly ever said or withheld, fails."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import deadline_cases
import exchange_cases
import loop_cases
import stream_cases
from case import Case, is_range, texts_of
from common import Checks, Failed, scratch, wiregauge

#: Each kind of run with its part of all generated ones.
KINDS = ((exchange_cases, 0.45), (stream_cases, 0.25), (loop_cases, 0.2), (deadline_cases, 0.1))
#: Each code, and each of its statements, must have been said, and withheld, in so many runs that could have it.
FEWEST = 20


def listed() -> list[str]:
    """The closed list."""
    return re.findall(r"^(W\d\d) ", wiregauge("help", "warnings"), re.MULTILINE)


def names(kind) -> set[str]:
    """The keys of the predicates, and their codes."""
    return {name for key in kind.PREDICATES for name in (key, key.partition(" ")[0])}


def judge(kind, seed: int, home: Path, keep: bool) -> tuple[list, list]:
    """Generate a run and compare what is said of it with what is true: (check, whether it holds, detail) of each
    statement, and (said or withheld, key) of each code and of each of its statements."""
    try:
        case = kind.new(seed, home)
        said = case.said()
        of_key = {key: texts_of(said, key) for key in kind.PREDICATES}
        found = [one for key, texts in of_key.items() for one in judge_key(case, kind, key, texts)]
    except (Failed, KeyError, IndexError, ValueError) as error:
        return [("commands read every run", False, f"{kind.__name__}, seed {seed}: {error!r}")], []
    known = sorted(sum(of_key.values(), [])) == sorted(sum(said.values(), []))
    found.append(("a text that is said has one predicate", known, f"{case.where}: {said}"))
    tally = [("said" if texts_of(said, name) else "withheld", name) for name in names(kind)]
    if not keep:
        shutil.rmtree(case.path)
    return found, tally


def judge_key(case: Case, kind, key: str, texts: list[str]):
    """What does not hold of a code or one of its statements, said with these texts or withheld."""
    verdicts = kind.PREDICATES[key](case)
    here = f"{key}, {case.where}; {verdicts}; {texts}"
    if not texts:
        yield "what is true is said", True not in verdicts, here
        return
    is_open = any(verdict is not False for verdict in verdicts)
    yield "what is said is not false", is_open, here
    places = [kind.named(case, text) for text in texts]
    if key in kind.QUOTED and None not in places:
        every = kind.QUOTED[key](case)
        for text, at in zip(texts, places, strict=True):
            is_so = all(every[one] in text for one in at)
            yield "what is quoted is of the points named", is_so, f"{here}: {every}"
    if key in kind.NUMBERS and None not in places:
        unit, numbers = kind.NUMBERS[key]
        every = numbers(case)
        for text, at in zip(texts, places, strict=True):
            values = [every[one] for one in at]
            yield "a number is that of the points named", is_range(text, unit, values), f"{here}: {values}"
    if is_open and None not in places and len(verdicts) > 1:
        named = set().union(*places)
        wrong = [at for at in named if verdicts[at] is False]
        missing = [at for at, verdict in enumerate(verdicts) if verdict and at not in named]
        yield "the points named are those", not wrong and not missing, f"{here}: {named}"


def run(quick: bool, keep: str | None = None, seeds: range | None = None) -> bool:
    """Generate and check; True if nothing false is said, and every code is covered."""
    checks = Checks()
    begun = time.monotonic()
    tallies = {"said": Counter(), "withheld": Counter()}
    seeds = seeds or range(1000 if quick else 2000)
    with scratch(keep) as home:
        every = [
            (kind.__name__, seed, Path(home), bool(keep))
            for kind, part in KINDS
            for seed in seeds[: int(len(seeds) * part)]
        ]
        # Not forked: the threads of pyarrow would not be in the child.
        workers = ProcessPoolExecutor(len(os.sched_getaffinity(0)), get_context("spawn"))
        with workers as pool:
            for found, tally in pool.map(judge_one, every, chunksize=10):
                for name, holds, detail in found:
                    checks.that(holds, name, detail)
                for how, name in tally:
                    tallies[how][name] += 1
    took = time.monotonic() - begun
    print(f"Codes of {len(every):,} generated runs: {sum(checks.counts.values()):,} checks, {took:.0f} s")
    coverage(checks, tallies)
    return checks.report()


def judge_one(one: tuple) -> tuple[list, list]:
    name, *rest = one
    return judge(import_module(name), *rest)


def coverage(checks: Checks, tallies: dict) -> None:
    """Each code of the list has a predicate, and each of its statements was said and withheld often enough."""
    codes = listed()
    known = set().union(*(names(kind) for kind, _ in KINDS))
    checks.that(bool(codes), "the list of codes is read")
    for code in codes:
        checks.that(code in known, "every code of the list has a predicate", code)
    for how, counts in tallies.items():
        for name in known:
            few = f"{name}: {counts[name]} of at least {FEWEST}"
            checks.that(counts[name] >= FEWEST, f"every code was {how} often enough", few)
    texts = [f"{code} {tallies['said'][code]}/{tallies['withheld'][code]}" for code in sorted(known)]
    print("  said/withheld: " + ", ".join(texts))


def only(name: str, seed: int) -> bool:
    """Judge one run, such as `exchange 116`, and print what does not hold."""
    with scratch() as home:
        found, _ = judge(import_module(f"{name}_cases"), seed, Path(home), True)
    wrong = [f"{check}: {detail}" for check, holds, detail in found if not holds]
    print("\n".join(wrong) or "all holds")
    return not wrong


if __name__ == "__main__":
    seeds = [int(text) for text in sys.argv[2:] if text.isdigit()]
    sys.exit(0 if (only(sys.argv[1], seeds[0]) if seeds else run("--quick" in sys.argv)) else 1)
