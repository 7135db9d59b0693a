"""From results.json to Markdown: the page of a run, and the tables of docs/targets.md.

Every number of that page is written here, from a stored run, so that a new run makes a new page.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable
from typing import Any

from verdict import HOST, ORDER

Results = dict[str, Any]
NETWORK = ("stream", "each", "udp")
# What the classes are compared with.
BASE = "baremetal-lwip"
CLOCKS = {"simulated": "the simulated processor's", "host": "this computer's"}


def us(ns: float | None) -> str:
    """Return a time in microseconds."""
    if ns is None:
        return "-"
    return f"{ns / 1e3:,.1f}" if ns < 1e6 else f"{ns / 1e3:,.0f}"


def ms(ns: float | None) -> str:
    """Return a time in milliseconds."""
    return "-" if ns is None else f"{ns / 1e6:,.2f}"


def percent(share: float) -> str:
    """Return a share, with as many digits as it has."""
    return f"{share:.2%}" if share >= 0.001 or share == 0 else f"{share:.3%}"


def markdown(head: list[str], rows: Iterable[list[str]], words: int = 1) -> str:
    """Return a table; the first so many columns are words."""
    lines = ["| " + " | ".join(head) + " |"]
    lines.append("|" + " --- |" * words + " ---: |" * (len(head) - words))
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def classes_with(results: Results, mode: str) -> list[dict[str, Any]]:
    """Return the classes that were measured in a mode."""
    return [cls for cls in results["classes"] if mode in cls["modes"]]


# ---- the tables, each by its name in docs/targets.md -------------------------------------------


def conditions(results: Results) -> str:
    """What it ran on."""
    return "\n".join(f"- {key}: {value}" for key, value in results["about"].items())


def what_was_measured(results: Results) -> str:
    """The classes, and how many exchanges of each ended how."""
    rows = []
    for cls in results["classes"]:
        counts = [cell["counts"] for cell in cls["modes"].values()]
        total = {
            what: sum(one[what] for one in counts)
            for what in ("exchanges", "answered", "lost", "late", "corrupted")
        }
        rows.append([cls["title"], cls["what"], *(f"{value:,}" for value in total.values())])
    return markdown(
        ["class", "what runs", "exchanges", "answered right", "lost", "late", "corrupted"], rows, 2
    )


def verdicts(results: Results) -> str:
    """The plain words with the reason: of each device by itself, and through this host by its best mode."""
    rows = []
    for cls in results["classes"]:
        found = {mode: cell["loop"]["verdict"] for mode, cell in cls["modes"].items() if "loop" in cell}
        best = min(found.values(), key=rank_of, default=NO_VERDICT)
        # A device that is this computer, or shares its kernel, has no time of its own to judge.
        own = [one["verdict"] for one in cls["device"].values() if "verdict" in one]
        own = own if cls["clock"] == "simulated" else []
        alone = max(own, key=rank_of, default=NO_VERDICT)
        rows.append(
            [
                cls["title"],
                f"**{alone['word']}**",
                alone["why"],
                f"**{best['word']}**",
                best["why"],
                *(found.get(mode, NO_VERDICT)["word"] for mode in results["modes"]),
            ]
        )
    head = ["class", "the device alone, on its own clock", "because", "through this host", "because"]
    head += results["modes"].values()
    return markdown(head, rows, len(head))


NO_VERDICT = {"word": "-", "why": "-"}


def rank_of(verdict: dict[str, Any]) -> int:
    """Return how good a verdict is; 0 is best."""
    return ORDER.index(verdict["word"])


def loops(results: Results) -> str:
    """What the verdicts come from."""
    rows = []
    for mode in results["modes"]:
        for cls in classes_with(results, mode):
            loop = cls["modes"][mode].get("loop")
            if not loop:
                continue
            verdict = loop["verdict"]
            rows.append(
                [
                    results["modes"][mode],
                    cls["title"],
                    verdict["word"],
                    verdict["why"],
                    f"{loop['n']:,}",
                    f"{loop['effective_n']:,.0f}",
                    f"{loop['misses']:,}",
                    f"{loop['longest_run_of_misses']:,}",
                    percent(verdict["share_high"]),
                    ms(loop["median_ns"]),
                    ms(loop["p99_ns"]),
                    ms(loop["p99.9_ns"]),
                    ms(loop["longest_ns"]),
                ]
            )
    head = ["mode", "class", "verdict", "because", "n", "independent", "missed", "in a row", "misses at most"]
    return markdown([*head, "p50 ms", "p99 ms", "p99.9 ms", "max ms"], rows, 4)


def delta_times(results: Results) -> str:
    """Median delta time by size, one table a mode."""
    parts = []
    for mode, title in results["modes"].items():
        measured = classes_with(results, mode)
        if not measured:
            continue
        sizes = list(measured[0]["modes"][mode]["sizes"])
        rows = []
        for cls in measured:
            by_size = cls["modes"][mode]["sizes"]
            row = [cls["title"], *(us(by_size[size]["whole"].get("p50")) for size in sizes)]
            whole = by_size[_middle_size(sizes)]["whole"]
            row.append(f"{us(whole.get('p25'))} to {us(whole.get('p75'))}")
            rows.append([*row, _times_base(results, cls, mode)] if mode in NETWORK else row)
        head = ["p50, us", *(f"{size} B" for size in sizes), f"middle half at {_middle_size(sizes)} B"]
        if mode in NETWORK:
            head.append("x bare metal")
        parts.append(f"**{title}**\n\n{markdown(head, rows)}")
    return "\n\n".join(parts)


def _middle_size(sizes: list[str]) -> str:
    return "100" if "100" in sizes else sizes[len(sizes) // 2]


def _times_base(results: Results, cls: dict[str, Any], mode: str) -> str:
    """Compare with the bare-metal board in the same rounds, over all sizes."""
    base = next((one for one in results["classes"] if one["key"] == BASE), None)
    if base is None or mode not in base["modes"] or mode not in cls["modes"]:
        return "-"
    ratios = []
    for size, figures in cls["modes"][mode]["sizes"].items():
        theirs = base["modes"][mode]["sizes"].get(size, {}).get("p50_of_round", {})
        ratios += [
            own / theirs[turn] for turn, own in figures["p50_of_round"].items() if own and theirs.get(turn)
        ]
    if not ratios:
        return "-"
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def split(results: Results) -> str:
    """Connection, access and transfer."""
    rows = []
    for cls in classes_with(results, "each"):
        cell = cls["modes"]["each"]
        size = _middle_size(list(cell["sizes"]))
        figures = cell["sizes"][size]
        row = [cls["title"], *(us(figures[part].get("p50")) for part in ("connect", "access", "transfer"))]
        for mode in NETWORK:
            row.append(_slope(cls["modes"].get(mode, {})))
        rows.append(row)
    head = ["class", "connection p50, us", "access p50, us", "transfer p50, us"]
    return markdown([*head, *(f"ns a byte, mode {number}" for number in (1, 2, 3))], rows)


def line_split(results: Results) -> str:
    """The same of boards on a serial line, which have no connection."""
    rows = []
    for cls in classes_with(results, "line"):
        fit = cls["modes"]["line"].get("fit")
        if fit:
            rows.append([cls["title"], us(fit["fixed_ns"]["value"]), _slope(cls["modes"]["line"])])
    return markdown(["board", "fixed part, us", "ns a byte"], rows)


def _slope(cell: dict[str, Any]) -> str:
    fit = cell.get("fit")
    if not fit:
        return "-"
    slope = fit["ns_per_byte"]
    return f"{slope['value']:,.0f} ({slope['min']:,.0f} to {slope['max']:,.0f})"


def firsts(results: Results) -> str:
    """The first exchange of a board that was just started, beside the usual one."""
    rows = []
    for mode, title in results["modes"].items():
        for cls in classes_with(results, mode):
            cell = cls["modes"][mode]
            opened = [one["open_ns"] for one in cell["first"] if one["open_ns"] is not None]
            first = [one["rtt_ns"] for one in cell["first"] if one["rtt_ns"] is not None]
            sizes = list(cell["sizes"].values())
            part = "access" if mode == "each" else "whole"
            usual = sizes[0][part].get("p50") if sizes else None
            if first:
                spread = f"{us(statistics.median(first))} ({us(min(first))} to {us(max(first))})"
                ratio = f"{statistics.median(first) / usual:.1f}" if usual else "-"
                rows.append(
                    [
                        title,
                        cls["title"],
                        us(statistics.median(opened)) if opened else "-",
                        spread,
                        us(usual),
                        ratio,
                    ]
                )
    return markdown(
        ["mode", "class", "opening, us", "first RTT, us", "usual RTT p50, us", "x usual"], rows, 2
    )


def device_times(results: Results) -> str:
    """The device's own time by size."""
    sizes: list[str] = []
    for cls in results["classes"]:
        for cell in cls["device"].values():
            sizes = sizes or list(cell["sizes"])
    rows = []
    for cls in results["classes"]:
        for mode, cell in cls["device"].items():
            row = [cls["title"], {"stream": "TCP", "udp": "UDP", "line": "line"}[mode], CLOCKS[cls["clock"]]]
            row += [us(cell["sizes"].get(size, {}).get("p50")) for size in sizes]
            seen, verdict = cell.get("seen"), cell.get("verdict")
            longest = us(seen["longest_ns"]) if seen else "-"
            spread = f"{seen['longest_ns'] / seen['median_ns']:.1f}" if seen and seen["median_ns"] else "-"
            judged = verdict if verdict and cls["clock"] == "simulated" else NO_VERDICT
            at = next(iter(cell["sizes"].values()))
            scatter = cell["sizes"].get("100", at)
            row += [f"{us(scatter['p50_min'])} to {us(scatter['p50_max'])}", longest, spread]
            row += [judged["word"], judged["why"]]
            rows.append(row)
    head = ["class", "", "clock", *(f"{size} B" for size in sizes)]
    return markdown(
        [*head, "p50 of the rounds, 100 B", "longest, 100 B", "longest / p50", "verdict", "because"], rows, 3
    )


def rule_in_numbers(results: Results) -> str:
    """The rule, as it was applied."""
    rule, plan = results["rule"], results["plan"]
    hard, soft = percent(rule["hard_share"]), percent(rule["soft_share"])
    return (
        f"Here: deadline and period {rule['deadline_ns'] / 1e6:g} ms, {plan['loop_size']} B in each direction, "
        f"{plan['loop_count']:,} exchanges a round; headroom {rule['headroom']:g}, "
        f"spread {rule['spread']:g}, "
        f"the host's delay {rule.get('host', 2):g} times, "
        f"{rule['in_a_row']} in a row, shares {hard} (hard) and {soft} (soft), "
        f"each bound with {rule['confidence']:.0%}."
    )


def findings(results: Results) -> str:
    """The relations that matter, in words."""
    by_key = {cls["key"]: cls for cls in results["classes"]}
    found = []
    native = by_key.get(HOST)
    if native:
        loops = [cell["loop"] for cell in native["modes"].values() if "loop" in cell]
        best = min((loop["verdict"]["word"] for loop in loops), key=ORDER.index, default="-")
        if best != "hard":
            delay = max((loop["longest_ns"] - loop["median_ns"] for loop in loops), default=0)
            found.append(
                f"This computer, answering itself, is called {best!r} here, and delays an exchange by up to "
                f"{delay / 1e6:.1f} ms. So hard is not decided for a class measured through it: "
                "use the device's own time."
            )
    for key, title in (("rtos-freertos", "the RTOS"), ("lwip-apps", "lwIP's own echo")):
        ratios = [
            f"{ratio} in mode {number}"
            for number, mode in enumerate(NETWORK, 1)
            if key in by_key and (ratio := _times_base(results, by_key[key], mode)) != "-"
        ]
        if ratios:
            found.append(f"Delta time of {title} over that of bare metal: {', '.join(ratios)}.")
    for mode, link in (("stream", "TCP"), ("udp", "UDP")):
        own = [by_key.get(key, {}).get("device", {}).get(mode) for key in (BASE, "rtos-freertos")]
        if all(own):
            bare, rtos = (one["sizes"]["100"]["p50"] for one in own if one)
            found.append(
                f"On its own clock, the RTOS needs {rtos / bare:.2f} times as long as bare metal for 100 B "
                f"over {link} ({us(rtos)} us against {us(bare)} us)."
            )
    for key in ("native", BASE, "rtos-freertos", "micropython"):
        modes = by_key.get(key, {}).get("modes", {})
        if "stream" in modes and "each" in modes:
            times = [_p50_at_100(modes[mode]) for mode in ("stream", "each")]
            if all(times):
                found.append(
                    f"{by_key[key]['title']}: a TCP stream for each exchange takes "
                    f"{times[1] / times[0]:.1f} times as long as one for all (100 B)."
                )
    return "\n".join(f"- {one[0].upper()}{one[1:]}" for one in found)


def _p50_at_100(cell: dict[str, Any]) -> float:
    return cell["sizes"].get("100", {}).get("whole", {}).get("p50") or 0


def left_out(results: Results) -> str:
    """What could not be measured, and why."""
    found = [
        f"- {cls['title']}, {what}: {why}"
        for cls in results["classes"]
        for what, why in cls["left_out"].items()
    ]
    return "\n".join(found) if found else "Nothing was left out."


TABLES = {
    "conditions": conditions,
    "classes": what_was_measured,
    "verdicts": verdicts,
    "rule": rule_in_numbers,
    "loops": loops,
    "findings": findings,
    "delta": delta_times,
    "split": split,
    "line": line_split,
    "first": firsts,
    "device": device_times,
    "left out": left_out,
}


# ---- whole pages -----------------------------------------------------------------------------


def page_of_run(results: Results) -> str:
    """Return the README.md of a stored run."""
    titles = {
        "classes": "What was measured",
        "verdicts": "Verdicts",
        "findings": "In words",
        "loops": "The loops that they come from",
        "delta": "Delta time against size",
        "split": "Connection, access, transfer",
        "line": "Serial lines",
        "first": "The first exchange",
        "device": "The device's own time",
        "left out": "Left out",
    }
    lines = ["# The classes of targets side by side", "", conditions(results), ""]
    lines += [
        "Simulated boards: docs/targets.md says what their times can tell and what not.",
        "",
        rule_in_numbers(results),
    ]
    for name, title in titles.items():
        lines += ["", f"## {title}", "", TABLES[name](results)]
    return "\n".join(lines) + "\n"


def filled(page: str, results: Results, where: str) -> str:
    """Write each table of the page anew, between `<!-- table NAME -->` and `<!-- end -->`."""

    def write(found: re.Match[str]) -> str:
        name = found["name"]
        if name == "run":
            return f"<!-- table run -->\n[{where}](../{where}/README.md)\n<!-- end -->"
        return f"<!-- table {name} -->\n{TABLES[name](results)}\n<!-- end -->"

    return re.sub(r"<!-- table (?P<name>[\w ]+) -->\n.*?<!-- end -->", write, page, flags=re.DOTALL)
