"""The tables of the literature from the lab's runs, in its own rows: as text, and as the page docs/lab.md."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from results import (
    USBTEST_ROUNDS,
    Missing,
    mean,
    point,
    points,
    rate,
    shortest,
    usbtest_rates,
)

PUBLISHED = Path(__file__).resolve().parent / "published"
VIRTUAL_TIME = "Times are the guest's virtual time (1 ns an instruction); only ratios and orderings carry over."
REAL_TIME = "Times are those of a busy emulator and of sockets; only the ordering carries over."
KINDS_OF_QUEUE = {"sync": "waits for each", "queued": "queues 16"}


def published(name: str) -> list[dict[str, str]]:
    """The rows of a table of published figures."""
    with (PUBLISHED / name).open(newline="") as file:
        return list(csv.DictReader(file))


def number(value: float | None) -> str:
    """Three significant digits, or a dash."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


@dataclass(frozen=True)
class Table:
    """A table, with what to know about its figures below it."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str

    def text(self) -> str:
        """For a terminal."""
        lines = [self.head, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.head))]
        cells = ["  " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
        return "\n".join([self.title, *cells, f"  {self.note}"])

    def markdown(self) -> str:
        """For a page."""
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        cells = [f"| {' | '.join(line)} |" for line in lines]
        heading, _, what = self.title.partition(": ")
        text = [f"{what[:1].upper()}{what[1:]}.", ""] if what else []
        return "\n".join([f"## {heading}", "", *text, *cells, "", self.note])


def ladder() -> Iterator[Table]:
    """Ott: from small synchronous transfers to large queued ones."""
    steps = [
        ("64 B, nothing queued", "sync", 64, 1, ("sync", "1", "64")),
        ("64 B, host queues 32", "sync", 64, 32, None),
        ("64 B, both queue", "queued", 64, 32, ("async", "32", "64")),
        ("512 B, nothing queued", "sync", 512, 1, None),
        ("512 B, both queue", "queued", 512, 32, ("async", "32", "512")),
        ("64 KiB, nothing queued", "sync", 65536, 1, ("sync", "1", "65536")),
        ("64 KiB, both queue", "queued", 65536, 32, ("async", "32", "65536")),
    ]
    for way in ("in", "out"):
        figures = {
            (row["api"], row["queue"], row["transfer_bytes"]): float(row["mbit_s"])
            for row in published("ott.csv")
            if row["direction"] == way
        }
        base = rate("stream/sync", way, direction=way, transfer_bytes=64, queue=1)
        published_base = figures.get(("sync", "1", "64"))
        rows = []
        for name, device, size, queue, key in steps:
            bytes_s = rate(f"stream/{device}", way, direction=way, transfer_bytes=size, queue=queue)
            figure = figures.get(key) if key else None
            ratio = figure / published_base if figure and published_base else None
            rows.append([name, f"{bytes_s * 8e-6:.2f}", f"{bytes_s / base:.1f}", number(figure), number(ratio)])
        yield Table(
            f"Ott's ladder, {way.upper()}: high-speed bulk through FunctionFS (lab: dummy_hcd; published: BeagleBone Black)",
            ["transfer", "Mbit/s", "x first row", "published Mbit/s", "x first row"],
            rows,
            VIRTUAL_TIME + " dummy_hcd is not held to the bus's 426 Mbit/s.",
        )


def queue_matrix() -> Iterator[Table]:
    """Size x queue x how the device queues."""
    for way in ("in", "out"):
        rows = [
            [str(size), str(queue)]
            + [
                f"{rate(f'stream/{device}', way, direction=way, transfer_bytes=size, queue=queue) * 1e-6:.2f}"
                for device in KINDS_OF_QUEUE
            ]
            for size in (64, 512, 4096, 65536)
            for queue in (1, 4, 32)
        ]
        yield Table(
            f"Size x queue, {way.upper()}: MB/s through FunctionFS on dummy_hcd at high speed",
            ["transfer B", "host's queue", *(f"device {words}" for words in KINDS_OF_QUEUE.values())],
            rows,
            VIRTUAL_TIME,
        )


def depth_against_size(run: str, title: str) -> Iterator[Table]:
    """Augustyn & Tutaj, table 3: RTT, TRT and throughput."""
    figures = {(row["r"], row["in_bytes"]): row for row in published("augustyn-tutaj.csv") if row["controller"] == "EHCI"}
    rows = []
    for depth in (1, 2, 4):
        for size in (48, 100, 1000, 2000, 4000, 8000):
            found = point(run, in_bytes=size, depth=depth)
            figure = figures.get((str(depth - 1), str(size)))
            trt = float(figure["trt_ms"]) if figure else None
            rows.append(
                [
                    str(depth - 1),
                    str(size),
                    f"{mean(found['rtt']) * 1e-6:.3f}",
                    f"{mean(found['trt']) * 1e-6:.3f}",
                    f"{found['throughput']['in_bytes_s'] * 1e-3:.0f}",
                    figure["rtt_ms"] if figure else "-",
                    figure["trt_ms"] if figure else "-",
                    # Throughput from the published TRT: two of the printed ones do not follow from it.
                    number(size / trt) if trt else "-",
                ]
            )
    yield Table(
        title,
        ["R", "IN B", "RTT ms", "TRT ms", "kB/s", "published RTT ms", "TRT ms", "kB/s"],
        rows,
        VIRTUAL_TIME + " The published ones are ruled by their host (Windows and MATLAB: about 8 ms).",
    )


def controllers() -> Iterator[Table]:
    """Augustyn & Tutaj, table 2: the same device behind two controllers."""
    figures = {(row["controller"], row["in_bytes"]): row["rtt_ms"] for row in published("augustyn-tutaj.csv") if row["r"] == "0"}
    rows = []
    for size in (48, 100, 1000, 3500, 8000):
        uhci, ehci, xhci = (shortest(name, size) for name in ("uhci", "ehci", "xhci"))
        slower = min(uhci) > max(ehci)
        theirs = [figures.get((name, str(size))) for name in ("UHCI", "EHCI")]
        ratio = float(theirs[0]) / float(theirs[1]) if all(theirs) else None
        rows.append(
            [
                str(size),
                *(f"{min(times):.2f}..{max(times):.2f}" for times in (uhci, ehci, xhci)),
                f"{median(uhci) / median(ehci):.2f}" if slower else "not shown",
                *(t or "-" for t in theirs),
                number(ratio),
            ]
        )
    yield Table(
        "UHCI against EHCI and xHCI: RTT of one exchange in ms (lab: the shortest of 50 in each of four boots, a CDC device on sockets behind QEMU's controllers)",
        ["IN B", "UHCI", "EHCI", "xHCI", "UHCI/EHCI", "published UHCI", "EHCI", "UHCI/EHCI"],
        rows,
        REAL_TIME + " UHCI is full speed, the others are high speed. Not shown: the boots' ranges overlap.",
    )


def write_sizes() -> Iterator[Table]:
    """Stoffregen: what one byte a write costs."""
    rows = []
    for size in (1, 2, 3, 4, 8, 16, 64, 512, 4096):
        row = [str(size)]
        for run in ("acm/writes", "virtual/writes"):
            found, one = (rate(run, "out", direction="out", transfer_bytes=bytes_) for bytes_ in (size, 1))
            row += [f"{found * 1e-3:.1f}", f"{found / one:.1f}"]
        rows.append(row)
    said = "; ".join(f"{row['host']}: {row['kB_s']} kB/s" for row in published("stoffregen.csv"))
    yield Table(
        "Stoffregen's write sizes: OUT through the kernel's cdc-acm, as counted by the device",
        ["write B", "ACM gadget, kB/s", "x first row", "modelled full-speed bus, kB/s", "x first row"],
        rows,
        f"{VIRTUAL_TIME} Published for 1 B: {said}.",
    )


def kernels() -> Iterator[Table]:
    """The same exchanges on the stock and on the PREEMPT_RT kernel."""
    rows = []
    for depth in (1, 4):
        for size in (100, 1000, 8000):
            cells = [point(f"{run}/exchange", in_bytes=size, depth=depth)["rtt"] for run in ("acm", "acm-rt")]
            cost = mean(cells[1]) / mean(cells[0])
            rows.append(
                [str(depth), str(size)]
                + [f"{figure * 1e-3:.1f}" for cell in cells for figure in (mean(cell), cell["max"])]
                + [f"{cost:.2f}"]
            )
    yield Table(
        "Stock kernel against PREEMPT_RT: RTT in us over the ACM gadget",
        ["depth", "IN B", "stock mean", "max", "RT mean", "max", "RT/stock"],
        rows,
        VIRTUAL_TIME + " RT pays for its threaded interrupts; what it bounds, an idle guest does not show.",
    )


def shared_bus() -> Iterator[Table]:
    """Several devices on one bus: each alone, then all at once."""
    rows = []
    for devices in (2, 4):
        found = points(f"shared-bus/{devices}")
        alone, together = (
            [one["flows"][0]["rate"]["value"] * 1e-3 for one in found if one["point"]["together"] is both]
            for both in (False, True)
        )
        rows.append(
            [str(devices), f"{sum(alone) / devices:.0f}", f"{min(together):.0f}..{max(together):.0f}", f"{sum(together):.0f}"]
        )
    yield Table(
        "Virtual full-speed devices on one modelled bus, IN, 4 KiB, 8 queued: kB/s of the bus's 1216",
        ["devices", "one alone", "one of them together", "sum together"],
        rows,
        VIRTUAL_TIME,
    )


def usbtest() -> Iterator[Table]:
    """wiregauge beside the kernel's own benchmark."""
    rows = []
    for way in ("in", "out"):
        for size in (512, 4096, 65536):
            for queue in (1, 32):
                ours = median(
                    rate(f"usbtest/stream-{round_}", way, direction=way, transfer_bytes=size, queue=queue)
                    for round_ in USBTEST_ROUNDS
                )
                theirs = median(usbtest_rates(way, size, queue))
                rows.append(
                    [way, str(size), str(queue), f"{ours * 1e-6:.2f}", f"{theirs * 1e-6:.2f}", f"{ours / theirs:.2f}"]
                )
    yield Table(
        "Gadget Zero: `stream --protocol raw` beside the kernel's usbtest (dummy_hcd at high speed; the mean of two rounds)",
        ["way", "transfer B", "queue", "wiregauge, MB/s", "usbtest, MB/s", "ratio"],
        rows,
        VIRTUAL_TIME + " usbtest submits in the kernel, without system calls; with queue 1 it also fills or compares the data meanwhile.",
    )


def usbmon() -> Iterator[Table]:
    """Where the time of a transfer goes."""
    rows = []
    for found in points("usbmon/stream"):
        flow = found["flows"][0]
        cells = [mean(flow[name]) * 1e-3 for name in ("host_gap", "stack_time", "urb_time")]
        where = found["point"]
        rows.append(
            [where["direction"], str(where["transfer_bytes"]), str(where["queue"])]
            + [f"{cell:.1f}" for cell in cells]
            + [f"{100 * cells[2] / sum(cells):.0f} %"]
        )
    yield Table(
        "Where the time of a transfer goes: mean us, by `stream --usbmon`; `wiregauge explain` says it in words",
        ["way", "transfer B", "queue", "application", "USB stack", "device and bus", "of it"],
        rows,
        VIRTUAL_TIME,
    )


def split() -> Iterator[Table]:
    """Where the RTT goes."""
    rows = []
    runs = {
        "modelled bus, full speed, cdc-acm": "modelled-full",
        "modelled bus, high speed, cdc-acm": "modelled-high",
        "ACM gadget on dummy_hcd": "gadget",
        "TCP over loopback": "sockets",
    }
    for name, run in runs.items():
        for found in points(f"split/{run}"):
            stages, where = found["stages"], found["point"]
            parts = [stages[part] for part in ("rtt", "sending", "request", "response", "receiving")]
            cells = [f"{mean(part) * 1e-3:.1f}" if part else "-" for part in parts]
            rows.append([name, str(where["in_bytes"]), str(where["depth"]), *cells])
    yield Table(
        "Where the RTT goes: mean us, by `exchange --usbmon` and `--timestamps kernel`",
        ["link", "IN B", "depth", "RTT", "host, sending", "bus, OUT", "device and bus, IN", "host, receiving"],
        rows,
        VIRTUAL_TIME + " The modelled device takes 1 ms. On the modelled bus a full-speed request waits for the next frame, and its "
        "controller reports at the end of one, so that a part of the device's time lies in *bus, OUT*. Requests there start every 5 ms, "
        "always at the same phase of a frame; with other starts *bus, OUT* is 1 to 2 ms. A system call costs next to nothing where "
        "an instruction is a nanosecond.",
    )


TABLES: list[Callable[[], Iterator[Table]]] = [
    ladder,
    queue_matrix,
    lambda: depth_against_size(
        "acm/exchange", "Augustyn & Tutaj, table 3: 16 B requests, sizes x queue length (lab: ACM gadget on dummy_hcd, high speed)"
    ),
    lambda: depth_against_size(
        "virtual/exchange", "Augustyn & Tutaj, table 3, modelled bus: the same on wiregauge's virtual ACM device (modelled full-speed bus)"
    ),
    controllers,
    write_sizes,
    shared_bus,
    usbtest,
    usbmon,
    split,
    kernels,
]


PAGE = """# The literature's experiments in the lab

`make lab` writes this page. It boots Linux in a virtual machine ([lab/README.md](../lab/README.md)), measures there with
the kernel's own USB stacks, and sets the figures beside those that were published:

- A. Ott, "USB and the Real World", Embedded Linux Conference Europe 2014
- J. Augustyn and A. Tutaj, "Evaluation and Optimisation of Communication Performance in a Hybrid Measurement and Control
  System"
- P. Stoffregen, "USB Virtual Serial Receive Speed"

No hardware is involved. Times of the lab are not those of any real machine: compare ratios and orderings.
Models of the published devices themselves are in [models.md](models.md).
"""


def show(page: Path | None) -> None:
    """Prints all tables and writes the page, if one is named; a table whose runs are missing says so, and no page is written."""
    found, missing = [], False
    for one in TABLES:
        try:
            found += one()
        except Missing as lack:
            missing = True
            print(f"\nlab: a table is left out: {lack}", file=sys.stderr)
    for one in found:
        print(f"\n{one.text()}")
    if page and not missing:
        page.write_text("\n\n".join([PAGE.rstrip(), *(one.markdown() for one in found)]) + "\n")
        print(f"\nlab: wrote {page}")
