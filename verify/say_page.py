"""What the page of an exchange run says in its first sentence and its summary, against the samples."""

from __future__ import annotations

import html
import re

import say_answer
from common import Checks


def words(page: str) -> str:
    """The text of a page without scripts, styles and figures."""
    page = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def answer_of(page: str) -> str | None:
    """The first sentence; `None` if the page has none."""
    found = re.search(r'<p class="answer">(.*?)</p>', page, re.DOTALL)
    return words(found.group(1)).strip() if found else None


def integer(text: str) -> int:
    return int(text.replace(",", ""))


def check_progress(checks: Checks, run: dict, page: str, answer: str | None, where: str) -> None:
    """Only points that were measured to their end are finished, and a run that is not whole says so."""
    done = sum(point["ending"]["how"] == "complete" for point in run["points"])
    planned = len(run["plan"]["points"])
    whole = run["state"] == "complete"
    said = re.search(r"(\d+) of (\d+) points complete", words(page))
    checks.that(bool(said) != whole, "an incomplete run is said to be one", where)
    if said and not whole:
        counts = (int(said.group(1)), int(said.group(2))) if said.group(1) else (0, planned)
        detail = f"{where}: {said.group(0)}; {done} of {planned}"
        checks.that(counts == (done, planned), "finished points have ended", detail)
    if answer is None or whole:
        return
    said = re.match(r"(\d+) of (\d+) points finished\.", answer)
    true = said and (int(said.group(1)), int(said.group(2))) == (done, planned)
    checks.that(true or done == planned, "the answer names the points finished", f"{where}: {answer}")


def check_cycles(checks: Checks, page: str, where: str) -> None:
    """The misses of a schedule are named."""
    said = re.search(r"([\d,]+) of ([\d,]+) cycles of \S+ \S+ missed their deadline", words(page))
    checks.that(said is not None, "the page names the missed cycles", where)
    if said:
        missed = integer(said.group(1)) <= integer(said.group(2))
        checks.that(missed, "no more cycles are missed than there are", f"{where}: {said.group(0)}")


def check(checks: Checks, run: dict, page: str, path, where: str) -> None:
    """Everything that the first sentence says, and how many points the summary calls finished."""
    where = f"{where}, page"
    answer = answer_of(page)
    check_progress(checks, run, page, answer, where)
    answered = [p for p in run["points"] if p["counts"]["answered"]]
    if answer is None:
        return
    say_answer.check(checks, run, re.sub(r"^(?:\d+ of \d+ points finished|The run did not end properly)\. ", "", answer), path, where)
    if answered and run["plan"]["schedule"] != "as-fast-as-possible":
        check_cycles(checks, page, where)
