"""What the figures of a run say: the ratios to the floor, the goals, and the tables of both."""
from __future__ import annotations

import statistics

from compared import PEERS, Case

STALL_S = 0.4

GOAL_DEPTH = 0.8
FLOORS = ("floor", "floor, one by one")
GOAL_STALL_NS = 50e6

FIGURES = ("p50", "p99", "mean", "rate")


def figures_of(said: dict) -> dict:
    return {key: said[key] for key in FIGURES if key in said}


def middle(said: list[dict]) -> dict:
    return {key: statistics.median(values) for key in FIGURES
            if (values := [one[key] for one in said if key in one])}


def ratios(said: list[dict], key: str) -> list[float]:
    return [one[key] / one["floor"][key] for one in said if "floor" in one and key in one]


def statistic(case: Case, said: dict) -> str:
    """What a tool is compared by: the median, or the mean where it says no median."""
    if case.unit == "/s":
        return "rate"
    return "p50" if "p50" in said else "mean"


# ---- goals -----------------------------------------------------------------------------------


def goals(cases: list[Case], stalls: list[dict]) -> list[dict]:
    found = []

    def goal(text: str, value: float, met: bool) -> None:
        found.append({"goal": text, "value": value, "met": met})

    for case in cases:
        own = case.rows.get("wiregauge")
        if not own or not case.rows.get("floor"):
            found.append({"goal": f"{case.key}: measured", "value": None, "met": False})
            continue
        if case.goal and ratios(own, "p50"):
            value = statistics.median(ratios(own, "p50"))
            goal(f"{case.key}: p50 within {case.goal:.2f} of the floor", value, value <= case.goal)
        peers = {name: said for name, said in case.rows.items() if name in PEERS}
        if case.unit == "/s":
            floors = [case.rows[name] for name in FLOORS if case.rows.get(name)]
            value = middle(own)["rate"] / max(middle(one)["rate"] for one in floors)
            text = f"{case.key}: at least {GOAL_DEPTH:.2f} of the better floor"
            goal(text, value, value >= GOAL_DEPTH)
            best = max(peers, key=lambda name: middle(peers[name])["rate"], default=None)
            if best:
                value = middle(own)["rate"] / middle(peers[best])["rate"]
                goal(f"{case.key}: at least 1.00 of the best peer ({best})", value, value >= 1)
            continue
        for name, said in peers.items():
            # Ratios to the floor next to each, because the host was not the same all the time.
            key = statistic(case, middle(said))
            theirs, mine = ratios(said, key), ratios(own, key)
            if theirs and mine:
                value = statistics.median(mine) / statistics.median(theirs)
                goal(f"{case.key}: {key} below {name}'s", value, value < 1)
    for row in stalls:
        if "intended" in row["tool"]:
            goal("stall: p99 from the intended start over 50 ms", row["p99"] / 1e6,
                 row["p99"] > GOAL_STALL_NS)
        elif "service" in row["tool"]:
            goal("stall: p99 of the service time under 50 ms", row["p99"] / 1e6,
                 row["p99"] < GOAL_STALL_NS)
    return found


# ---- printing --------------------------------------------------------------------------------


def shown(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if unit == "/s" else f"{value / 1e3:,.2f}"


def tables(cases: list[Case], stalls: list[dict]) -> list[tuple[str, list[str], list[list[str]]]]:
    out = []
    for case in cases:
        rows = []
        order = ["floor", "wiregauge", "wiregauge before", "floor, one by one", *PEERS]
        for name in order:
            said = case.rows.get(name)
            if not said:
                if name in case.notes:
                    rows.append([name, case.notes[name].splitlines()[0][:40]])
                continue
            figures = middle(said)
            key = statistic(case, figures)
            compare = ratios(said, key)
            if name == "floor":
                compared = ["1.000", ""]
            elif compare:
                star = "*" if key == "mean" else ""
                compared = [f"{statistics.median(compare):.3f}{star}",
                            f"{min(compare):.3f}..{max(compare):.3f}"]
            else:
                compared = ["-", ""]
            if case.unit == "/s":
                rows.append([name, shown(figures["rate"], "/s"), *compared, str(len(said))])
            else:
                times = [shown(figures.get(key), "ns") for key in ("p50", "p99", "mean")]
                rows.append([name, *times, *compared, str(len(said))])
        if case.unit == "/s":
            head = ["tool", "exchanges/s", "x floor", "min..max", "runs"]
        else:
            head = ["tool", "p50 us", "p99 us", "mean us", "x floor", "min..max", "runs"]
        out.append((case.title, head, rows))
    if stalls:
        out.append((f"tcp, 3 s at 1,000/s, responder stopped for {STALL_S * 1e3:.0f} ms",
                    ["tool", "p99 ms", "max ms"],
                    [[row["tool"], f"{row['p99'] / 1e6:,.3f}", f"{row['max'] / 1e6:,.3f}"]
                     for row in stalls]))
    return out


def aligned(head: list[str], rows: list[list[str]]) -> str:
    full = [row for row in rows if len(row) == len(head)]
    widths = [max(len(row[at]) for row in [head, *full]) for at in range(len(head))]
    widths[0] = max(len(row[0]) for row in [head, *rows])

    def line(row: list[str]) -> str:
        if len(row) == 2 < len(head):
            return f"  {row[0].ljust(widths[0])}  ({row[1]})"
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        return "  " + "  ".join(cells).rstrip()

    return "\n".join(line(row) for row in [head, *rows])


def as_text(parts, found: list[dict]) -> str:
    text = [f"{title}\n{aligned(head, rows)}" for title, head, rows in parts]
    text.append("* compared by the mean: the tool gives no median")
    lines = ["goals"]
    for one in found:
        value = "-" if one["value"] is None else f"{one['value']:.3f}"
        lines.append(f"  {'met   ' if one['met'] else 'MISSED'}  {value:>9}  {one['goal']}")
    return "\n\n".join([*text, "\n".join(lines)])


def as_markdown(parts, found: list[dict], about: dict) -> str:
    lines = ["# wiregauge beside the floor and its peers", ""]
    for key, value in about.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} {what}" for name, what in value.items())
        lines.append(f"- {key}: {value}")
    for title, head, rows in parts:
        lines += ["", f"## {title}", "", "| " + " | ".join(head) + " |",
                  "| --- |" + " ---: |" * (len(head) - 1)]
        lines += ["| " + " | ".join(row + [""] * (len(head) - len(row))) + " |" for row in rows]
    lines += ["", "\\* compared by the mean: the tool gives no median", "", "## Goals", "",
              "| goal | value | |", "| --- | ---: | --- |"]
    for one in found:
        value = "-" if one["value"] is None else f"{one['value']:.3f}"
        lines.append(f"| {one['goal']} | {value} | {'met' if one['met'] else '**missed**'} |")
    return "\n".join(lines) + "\n"
