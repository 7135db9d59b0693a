#!/usr/bin/env python3
"""Opens reports of real runs in a headless Chromium and looks at what is there.

    WIREGAUGE=target/release/wiregauge python3 crates/report/tests/browser/test_page.py [-k PATTERN]

With KEEP=DIR the reports and pictures of them are left there, to be looked at.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from chromium import Browser, Page

WIREGAUGE = os.environ.get("WIREGAUGE", "target/release/wiregauge")
# Generous: what is held is that nothing takes minutes, not how fast this machine is.
SLOW_S = 10.0
HOSTILE = "<img src=x onerror=alert(1)> ]]> \"quoted\" 'single' <!-- µs &amp; {{x}}"

# The figures that zoom, with what a test wants of them.
CHARTS = """
[...document.querySelectorAll('figure[data-live]')].map((holder) => {
  const canvas = holder.querySelector('.live canvas');
  const pixels = canvas ? canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data : [];
  const colours = new Set();
  for (let i = 0; i < pixels.length; i += 4) {
    colours.add((pixels[i] << 24) | (pixels[i + 1] << 16) | (pixels[i + 2] << 8) | pixels[i + 3]);
  }
  return { id: holder.id, form: holder.dataset.live, width: canvas ? canvas.width : 0, colours: colours.size };
})
"""
# More links than fit.
MORE_SECTIONS = """
(() => {
  const links = document.querySelector('.bar .links');
  for (let i = 0; i < 5; i += 1) links.append(links.firstElementChild.cloneNode(true));
})()
"""
# Of each table of results its title, the width that it needs, that it has, and where it begins and ends.
TABLES = """
[...document.querySelectorAll('#tables .wide')].map((e) => {
  const box = e.getBoundingClientRect();
  return [e.getAttribute('aria-label'), e.scrollWidth, e.clientWidth, box.left, box.right];
})
"""
# Fulfilled when the figures that zoom are there, which they are some moments after the page.
SETTLED = """
new Promise((resolve) => {
  const look = () => (typeof uPlot === 'undefined' || document.documentElement.dataset.live === 'done'
    ? resolve(true) : setTimeout(look, 20));
  look();
})
"""
# What is cut off or lies over something else, in words; empty if nothing does.
BOXES = r"""
(() => {
  const wrong = [];
  const wide = document.documentElement.clientWidth;
  const name = (e) => e.tagName.toLowerCase() + " '" + e.textContent.trim().slice(0, 50) + "'";
  const seen = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getBoundingClientRect().width > 0;
  // What may be wider than the page scrolls by itself.
  const scrolls = (e) => e.closest('.scroll, .drawn, pre, .bar');
  for (const e of document.querySelectorAll('h1, h2, h3, p, li, dt, dd, figcaption, label, select, button, summary, canvas, .card, .notice')) {
    if (!seen(e) || scrolls(e)) continue;
    const box = e.getBoundingClientRect();
    if (box.left < -1 || box.right > wide + 1) wrong.push(name(e) + ' is cut off at ' + Math.round(box.right) + ' of ' + wide);
    if (e.scrollWidth > e.clientWidth + 2 && getComputedStyle(e).display !== 'inline' && !['SELECT', 'BUTTON', 'CANVAS'].includes(e.tagName)) {
      wrong.push(name(e) + ' holds ' + e.scrollWidth + ' in ' + e.clientWidth);
    }
  }
  const apart = (list, what) => {
    const boxes = list.map((e) => [e, e.getBoundingClientRect()]);
    boxes.forEach(([a, one], i) => {
      for (const [b, other] of boxes.slice(i + 1)) {
        const x = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const y = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        if (x > 1.5 && y > 3) wrong.push(what + ': ' + name(a) + ' lies over ' + name(b) + ' by ' + x.toFixed(1) + ' x ' + y.toFixed(1));
      }
    });
  };
  for (const svg of document.querySelectorAll('.drawn svg')) {
    if (!seen(svg)) continue;
    const sheet = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].filter(seen);
    for (const text of texts) {
      const box = text.getBoundingClientRect();
      if (box.left < sheet.left - 1 || box.right > sheet.right + 1 || box.top < sheet.top - 1 || box.bottom > sheet.bottom + 1) {
        wrong.push(svg.getAttribute('aria-label') + ': ' + name(text) + ' leaves the sheet');
      }
    }
    apart(texts, svg.getAttribute('aria-label'));
  }
  for (const holder of document.querySelectorAll('main, section, figure, .tools, .cards, .live, .u-legend tbody, .contents')) {
    apart([...holder.children].filter((e) => seen(e) && getComputedStyle(e).position === 'static'), holder.tagName.toLowerCase());
  }
  for (const cell of document.querySelectorAll('.pairs tbody td:nth-child(2)')) {
    if (cell.getBoundingClientRect().right > wide) wrong.push('a verdict is not in view: ' + name(cell));
  }
  return wrong;
})()
"""
# Drawn figures that take room on the page.
DRAWN = """
[...document.querySelectorAll('figure .drawn svg')].filter((svg) => svg.getBoundingClientRect().height > 100).length
"""


def wiregauge(*words: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Runs the real program; it must go well."""
    done = subprocess.run(
        [WIREGAUGE, *words], capture_output=True, text=True, timeout=timeout, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"wiregauge {' '.join(words)}: {done.returncode}: {done.stderr}")
    return done


@contextlib.contextmanager
def served(*words: str) -> Iterator[str]:
    """A responder; gives the address at which it answers."""
    with subprocess.Popen(
        [WIREGAUGE, "serve", *words, "--quiet"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.match(r"serving (\S+)", line)
            if not found:
                raise AssertionError(f"serve said: {line!r}")
            yield found[1]
        finally:
            process.terminate()


class Reports:
    """Runs and their reports, each made when a test first wants it."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def run(self, name: str, command: str, *words: str) -> Path:
        """A run of that name."""
        where = self.place / name
        if not where.exists():
            with served("tcp://127.0.0.1:0") as address:
                wiregauge(command, address, *words, "--store", str(where), "--quiet")
        return where

    def small(self) -> Path:
        """Twelve points, two limits, three depths."""
        return self.run(
            "small", "exchange", "--in", "48,1000,8000,32000", "--depth", "1,2,4",
            "--count", "2000", "--below", "100us,1ms",
        )  # fmt: skip

    def other(self) -> Path:
        """The same again."""
        return self.run(
            "other", "exchange", "--in", "48,1000,8000,32000", "--depth", "1,2,4",
            "--count", "2000",
        )  # fmt: skip

    def large(self) -> Path:
        """A hundred points of ten thousand exchanges."""
        return self.run(
            "large", "exchange", "--in", "48,100,200,500,1000,2000,4000,8000,16000,32000",
            "--depth", "1,2,3,4,5,6,7,8,12,16", "--count", "10000",
        )  # fmt: skip

    def few(self) -> Path:
        """Few samples, with a schedule: each is one dot, and cycles can miss their deadline."""
        return self.run(
            "few", "exchange", "--in", "48", "--depth", "1,2", "--interval", "5ms", "--count", "244",
        )  # fmt: skip

    def loop(self) -> Path:
        """A closed loop over two block sizes."""
        where = self.place / "loop"
        if not where.exists():
            wiregauge("loop", "virtual", "--rate", "1M", "--notify", "4k,16k", "--duration", "1s",
                      "--no-calibration", "--store", str(where), "--quiet")  # fmt: skip
        return where

    def stream(self) -> Path:
        """Both ways alone and together."""
        return self.run(
            "stream", "stream", "--direction", "in,out,both", "--transfer", "64,4k,64k",
            "--duration", "300ms", "--rate", "100kB/s,1MB/s",
        )  # fmt: skip

    def interrupted(self) -> Path:
        """Stopped by the user in its second point."""
        where = self.place / "interrupted"
        if not where.exists():
            with served("tcp://127.0.0.1:0") as address:
                process = subprocess.Popen(
                    [WIREGAUGE, "exchange", address, "--depth", "1,2", "--rate", "1000",
                     "--duration", "3s", "--store", str(where), "--quiet"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
                time.sleep(4.5)
                process.send_signal(signal.SIGINT)
                assert process.wait(30) == 130
        return where

    def control(self) -> Path:
        """A page with a control loop, over three depths."""
        run = self.run(
            "control", "exchange", "--in", "48", "--depth", "1,2,3", "--interval", "2ms", "--count", "500",
        )  # fmt: skip
        return self.report("control", run, flags=["--plant", "1000/(s^2+s)", "--pid", "0.96,0,0.049"])

    def frames(self) -> Path:
        """The page of a capture of a modelled bus."""
        page, capture = self.place / "frames.html", self.place / "frames.pcapng"
        if not page.exists():
            with served("pty:", "--bus", "full-speed", "--service-time", "3ms", "--trace", str(capture)) as address:
                wiregauge("exchange", address, "--in", "1000", "--count", "30", "--no-calibration", "--quiet",
                          "--store", str(self.place / "frames"))  # fmt: skip
            wiregauge("explain", str(capture), "--figure", str(page))
        return page

    def report(self, name: str, *runs: Path, flags: Sequence[str] = ()) -> Path:
        """The page of these runs."""
        page = self.place / f"{name}.html"
        if not page.exists():
            wiregauge("report", *map(str, runs), *flags, "-o", str(page), "--quiet")
        return page


class PageTest(unittest.TestCase):
    """What a reader finds."""

    browser: Browser
    reports: Reports

    @classmethod
    def setUpClass(cls) -> None:
        place = os.environ.get("KEEP")
        cls.scratch = None if place else tempfile.TemporaryDirectory(prefix="wiregauge-page-")
        cls.reports = Reports(Path(cls.scratch.name if cls.scratch else place or ""))
        cls.reports.place.mkdir(parents=True, exist_ok=True)
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.browser.close()
        if cls.scratch:
            cls.scratch.cleanup()

    @contextlib.contextmanager
    def open(self, path: Path, **how: Any) -> Iterator[Page]:
        """A page in which everything has been drawn."""
        with self.browser.open(path, **how) as page:
            if how.get("scripts", True):
                page.value(SETTLED)
            yield page

    def quiet(self, page: Page, path: Path) -> None:
        """Nothing was complained of, nothing was fetched, no dialog came."""
        self.assertEqual(page.complaints(), [])
        self.assertEqual(page.requests(), [path.resolve().as_uri()])
        self.assertEqual(page.events("Page.javascriptDialogOpening"), [])

    def zooms(self, page: Page) -> None:
        """Skips what needs uPlot where this build has none."""
        if not page.value("typeof uPlot !== 'undefined'"):
            self.assertIn("has no uPlot", page.value("document.body.innerText"))
            self.skipTest("this build has no uPlot: figures do not zoom")

    def picture(self, page: Page, name: str) -> None:
        if os.environ.get("KEEP"):
            page.screenshot(self.reports.place / f"{name}.png")

    def kinds(self) -> dict[str, Path]:
        """A page of each kind."""
        reports = self.reports
        return {
            "small": reports.report("small", reports.small()),
            "few": reports.report("few", reports.few()),
            "two": reports.report("two", reports.small(), reports.other()),
            "stream": reports.report("stream", reports.stream()),
            "loop": reports.report("loop", reports.loop()),
            "control": reports.control(),
        }

    def test_nothing_overlaps_or_is_cut_off_on_any_screen(self) -> None:
        for name, path in self.kinds().items():
            for width in (1280, 390):
                for dark in (False, True):
                    how = f"{name}-{width}-{'dark' if dark else 'light'}"
                    with self.subTest(how), self.open(path, width=width, height=844, dark=dark) as page:
                        self.picture(page, how)
                        self.assertLessEqual(page.value("document.scrollingElement.scrollWidth"), width)
                        self.assertEqual(page.value(BOXES), [])

    def test_what_overlaps_or_is_cut_off_would_be_found(self) -> None:
        path = self.reports.report("few", self.reports.few())
        for moved in (2, 5000):
            with self.open(path) as page:
                page.value(
                    "(() => {"
                    "const svg = [...document.querySelectorAll('.drawn svg')].find((e) => e.checkVisibility());"
                    "const copy = svg.querySelector('text').cloneNode(true);"
                    f"copy.setAttribute('x', Number(copy.getAttribute('x')) + {moved});"
                    "svg.append(copy); })()"
                )
                self.assertNotEqual(page.value(BOXES), [], moved)
        with self.open(path, width=390) as page:
            page.value("document.querySelector('.answer').style.width = '500px'")
            self.assertNotEqual(page.value(BOXES), [])

    def test_the_answer_and_the_contents_come_first_and_lead_somewhere(self) -> None:
        for name, path in self.kinds().items():
            with self.subTest(name), self.open(path) as page:
                first = page.value("document.querySelector('h1').nextElementSibling.className")
                self.assertEqual(first, "answer")
                self.assertRegex(page.value("document.querySelector('.answer').innerText"), r"\d.*\.$")
                dead = page.value(
                    "[...document.querySelectorAll('.contents a')]"
                    ".filter((a) => !document.getElementById(a.hash.slice(1))).map((a) => a.hash)"
                )
                self.assertEqual(dead, [])
                self.assertGreater(page.value("document.querySelectorAll('.contents a').length"), 3)

    def test_points_are_hidden_in_all_figures_at_once(self) -> None:
        path = self.reports.report("small", self.reports.small())
        notes = "[...document.querySelectorAll('.live .help')].map((e) => e.innerText)"
        panels = (
            "[...document.querySelectorAll('.drawn [data-point]')]"
            ".filter((e) => getComputedStyle(e).visibility === 'hidden').length"
        )
        box = "document.querySelector('#points li[data-key=\"16-48-1-0-alone\"] input')"
        with self.open(path) as page:
            self.zooms(page)
            self.assertEqual(page.value(panels), 0)
            before = page.value(notes)
            page.value(f"{box}.click()")
            self.assertGreater(page.value(panels), 3)
            after = page.value(notes)
            self.assertEqual([n for n in before if "3 of 12 points" in n][:1], before[1:2])
            self.assertTrue(all("2 of 12 points" in n for n in after if "legend" in n), after)
            page.value("document.querySelectorAll('#points button')[1].click()")
            self.assertTrue(all("hidden" in n for n in page.value(notes)))
            page.value("document.querySelectorAll('#points button')[0].click()")
            self.assertEqual(page.value(notes)[1:], before[1:])
            self.quiet(page, path)

    def test_a_part_of_the_curves_is_never_drawn_without_saying_so(self) -> None:
        for name, path in self.kinds().items():
            with self.subTest(name), self.open(path) as page:
                self.zooms(page)
                wrong = page.value(
                    "[...document.querySelectorAll('figure[data-live]')].filter((f) => f.chart).map((f) => {"
                    "  const all = JSON.parse(document.getElementById('data').textContent).runs"
                    "    .filter((r) => r.kind === f.dataset.kind).flatMap((r) => r.points).length;"
                    "  const drawn = f.dataset.live === 'series' ? 1 : f.chart().series.length - 1;"
                    "  const said = f.querySelector('.help').innerText.match(/Shown: (\\d+) of (\\d+)/);"
                    "  return [f.id, all, drawn, said && [Number(said[1]), Number(said[2])]];"
                    "}).filter(([id, all, drawn, said]) => drawn === all ? said !== null"
                    "  : !said || said[0] !== drawn || said[1] !== all)"
                )
                self.assertEqual(wrong, [])

    def test_an_empty_bin_is_a_gap_and_every_other_holds_whole_samples(self) -> None:
        path = self.reports.report("few", self.reports.few())
        with self.open(path) as page:
            self.zooms(page)
            columns = page.value(
                "document.querySelector('figure[data-live=histogram]').chart().data.slice(1)"
                ".map((c) => Array.from(c))"
            )
            for column in columns:
                held = [value * 244 / 100 for value in column if value is not None]
                self.assertGreater(len(held), 5)
                self.assertIn(None, column)
                for count in held:
                    self.assertAlmostEqual(count, round(count), places=6)
                    self.assertGreaterEqual(count, 0.99)

    def test_few_samples_are_dots_one_each(self) -> None:
        path = self.reports.report("few", self.reports.few())
        with self.open(path) as page:
            self.zooms(page)
            chart = "document.querySelector('figure[data-live=series]').chart()"
            self.assertEqual(page.value(f"{chart}.series.map((s) => s.label)")[1:], ["one exchange"])
            self.assertEqual(page.value(f"{chart}.data[1].filter((v) => v !== null && v !== undefined).length"), 244)
            drawn = "[...document.querySelectorAll('#figures .drawn svg')][0].querySelectorAll('.samples').length"
            self.assertEqual(page.value(drawn), 2)

    def test_every_kind_of_report_opens_without_complaint_or_request(self) -> None:
        reports = self.reports
        kinds = {
            "small": [reports.small()],
            "stream": [reports.stream()],
            "two": [reports.small(), reports.other()],
            "mixed": [reports.small(), reports.stream()],
            "interrupted": [reports.interrupted()],
        }
        for name, runs in kinds.items():
            path = reports.report(name, *runs)
            with self.subTest(name), self.open(path) as page:
                self.quiet(page, path)
                said = page.value("document.getElementById('summary').innerText")
                self.assertGreater(len(said), 200, said)
                self.assertGreater(page.value("document.querySelectorAll('table').length"), 0)
                figures = page.value("document.querySelectorAll('figure svg').length")
                self.assertGreater(figures, 0)
                self.picture(page, name)

    def test_an_interrupted_run_says_so_first(self) -> None:
        path = self.reports.report("interrupted", self.reports.interrupted())
        with self.open(path) as page:
            first = page.value("document.querySelector('#summary .notice').innerText")
            self.assertIn("interrupted", first)

    def test_figures_that_zoom_are_drawn(self) -> None:
        path = self.reports.report("small", self.reports.small())
        with self.open(path) as page:
            self.zooms(page)
            charts = page.value(CHARTS)
            self.assertEqual({c["form"] for c in charts}, {"series", "curve", "histogram"})
            for chart in charts:
                self.assertGreater(chart["width"], 400, chart)
                # Axes and text in shades of their edges, and the data.
                self.assertGreater(chart["colours"], 20, chart)

    def test_a_stream_has_a_figure_that_zooms_too(self) -> None:
        path = self.reports.report("stream", self.reports.stream())
        with self.open(path) as page:
            self.zooms(page)
            self.assertIn("curve", {c["form"] for c in page.value(CHARTS) if c["colours"] > 20})

    def test_pointing_at_a_figure_tells_values(self) -> None:
        path = self.reports.report("small", self.reports.small())
        for form in ("series", "curve", "histogram"):
            with self.subTest(form), self.open(path) as page:
                self.zooms(page)
                area = self.area(page, form)
                legend = f"document.querySelector('figure[data-live={form}] .u-legend').innerText"
                before = page.value(legend)
                page.mouse("mouseMoved", area["x"] + area["width"] * 0.4, area["y"] + 50)
                after = page.value(legend)
                self.assertNotEqual(before, after)
                self.assertRegex(after, r"\d")

    def area(self, page: Page, form: str) -> dict[str, float]:
        """Where the plotting area of a figure is, after it was scrolled into view."""
        return page.value(
            f"(() => {{ const over = document.querySelector('figure[data-live={form}] .u-over');"
            "over.scrollIntoView({ block: 'center' }); const r = over.getBoundingClientRect();"
            "return { x: r.x, y: r.y, width: r.width, height: r.height }; })()"
        )

    def width(self, page: Page, form: str) -> float:
        """How much of its first axis a figure shows."""
        return page.value(
            f"(() => {{ const chart = document.querySelector('figure[data-live={form}]').chart();"
            "return chart.scales.x.max - chart.scales.x.min; })()"
        )

    def test_dragging_zooms_and_a_button_shows_all_again(self) -> None:
        path = self.reports.report("small", self.reports.small())
        with self.open(path) as page:
            self.zooms(page)
            area = self.area(page, "series")
            whole = self.width(page, "series")
            y = area["y"] + area["height"] / 2
            page.mouse("mouseMoved", area["x"] + area["width"] * 0.3, y)
            page.mouse("mousePressed", area["x"] + area["width"] * 0.3, y, 1)
            for step in (0.35, 0.4, 0.5):
                page.mouse("mouseMoved", area["x"] + area["width"] * step, y, 1)
            page.mouse("mouseReleased", area["x"] + area["width"] * 0.5, y)
            self.assertLess(self.width(page, "series"), whole * 0.4)
            page.value("document.querySelector('figure[data-live=series] .tools button').click()")
            self.assertAlmostEqual(self.width(page, "series"), whole, delta=whole * 0.01)

    def test_keys_do_what_the_mouse_does(self) -> None:
        path = self.reports.report("small", self.reports.small())
        with self.open(path) as page:
            self.zooms(page)
            page.value("document.querySelector('figure[data-live=curve] .plot').focus()")
            whole = self.width(page, "curve")
            page.key("ArrowRight")
            legend = page.value("document.querySelector('figure[data-live=curve] .u-legend').innerText")
            self.assertRegex(legend, r"\d")
            page.key("+")
            self.assertLess(self.width(page, "curve"), whole * 0.6)
            page.key("0")
            self.assertAlmostEqual(self.width(page, "curve"), whole, delta=whole * 0.01)

    def test_every_choice_of_points_can_be_drawn(self) -> None:
        for name, runs in {
            "small": [self.reports.small()],
            "two": [self.reports.small(), self.reports.other()],
            "stream": [self.reports.stream()],
        }.items():
            path = self.reports.report(name, *runs)
            with self.subTest(name), self.open(path) as page:
                self.zooms(page)
                tried = page.value(
                    "(() => { let tried = 0;"
                    "for (const select of document.querySelectorAll('.live select'))"
                    "  for (const option of select.options) {"
                    "    select.value = option.value; select.dispatchEvent(new Event('change')); tried += 1; }"
                    "for (const log of document.querySelectorAll('.live input')) { log.click(); log.click(); }"
                    "return tried; })()"
                )
                self.assertGreater(tried, 8)
                self.quiet(page, path)

    def test_a_control_loop_has_its_verdicts_side_by_side_and_figures_in_view(self) -> None:
        path = self.reports.control()
        with self.open(path, width=1280) as page:
            self.quiet(page, path)
            tops = page.value(
                "[...document.querySelector('#control .cards').querySelectorAll('.verdict')]"
                ".map((card) => card.getBoundingClientRect().top)"
            )
            self.assertEqual((len(tops), len(set(tops))), (3, 1), tops)
            titles = page.value(
                "[...document.querySelectorAll('#control .verdict dt')].slice(0, 3).map((e) => e.innerText)"
            )
            self.assertEqual(titles, ["On this trace", "In the long run", "In any order"])
            # Those of the lowest cost are in view, the others are folded.
            figures = (
                "[...document.querySelectorAll('#control figure svg')].filter((e) => e.checkVisibility()).length"
            )
            self.assertEqual(page.value(figures), 3)
            page.value("document.querySelectorAll('#control details').forEach((e) => { e.open = true; })")
            self.assertEqual(page.value(figures), 9)
            self.picture(page, "control")

    def test_frames_of_a_captured_bus_are_drawn_and_zoom(self) -> None:
        path = self.reports.frames()
        colours = """(() => {
          const canvas = document.querySelector('#frames canvas');
          const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
          return new Set(pixels).size;
        })()"""
        span = "Number(document.querySelector('#frames canvas').dataset.span)"
        with self.open(path) as page:
            self.quiet(page, path)
            self.assertIn("limited by the", page.value("document.body.innerText"))
            self.assertGreater(page.value(colours), 5)
            self.assertEqual(page.value(span), 1_000_000)
            page.value("document.getElementById('in').click()")
            self.assertEqual(page.value(span), 500_000)
            page.value("document.querySelector('#frames canvas').focus()")
            page.key("0")
            self.assertEqual(page.value(span), 1_000_000)
            self.picture(page, "frames")
        with self.open(path, width=390) as page:
            self.assertLessEqual(page.value("document.documentElement.scrollWidth"), 390)
            self.picture(page, "frames-phone")
        with self.open(path, scripts=False) as page:
            self.assertGreater(page.value(DRAWN), 0)

    def test_titles_of_a_control_loop_fit_on_a_phone(self) -> None:
        path = self.reports.control()
        for dark in (False, True):
            with self.open(path, width=390, height=844, dark=dark) as page:
                self.assertLessEqual(page.value("document.scrollingElement.scrollWidth"), 390)
                wide = page.value(
                    "[...document.querySelectorAll('#control caption, #control .card')]"
                    ".filter((e) => e.getBoundingClientRect().right > 390"
                    " || e.scrollWidth > e.clientWidth + 1)"
                    ".map((e) => e.innerText)"
                )
                self.assertEqual(wide, [])
                self.picture(page, "control-phone-dark" if dark else "control-phone")

    def test_without_scripts_everything_is_there(self) -> None:
        path = self.reports.report("small", self.reports.small())
        with self.open(path, scripts=False) as page:
            self.quiet(page, path)
            figures = page.value("document.querySelectorAll('figure').length")
            self.assertGreater(figures, 4)
            self.assertEqual(page.value(DRAWN), figures)
            self.assertEqual(page.value("document.querySelectorAll('.live').length"), 0)
            rows = page.value("document.querySelectorAll('#tables tbody tr').length")
            self.assertGreaterEqual(rows, 12)
            # A button that does nothing is not shown.
            shown = page.value("[...document.querySelectorAll('button')].filter((b) => !b.hidden).length")
            self.assertEqual(shown, 0)
            self.picture(page, "without-scripts")

    def test_dark_is_dark_and_the_switch_turns_it(self) -> None:
        path = self.reports.report("small", self.reports.small())
        colours = (
            "(() => { const of = (e, p) => getComputedStyle(e)[p].match(/\\d+/g).slice(0, 3)"
            ".map(Number).reduce((a, b) => a + b, 0);"
            "const svg = document.querySelector('.drawn svg');"
            "return [of(document.body, 'backgroundColor'), of(document.body, 'color'),"
            "of(svg.querySelector('rect'), 'fill'), of(svg.querySelector('text'), 'fill')]; })()"
        )
        seen = {}
        for dark in (False, True):
            with self.open(path, dark=dark) as page:
                seen[dark] = page.value(colours)
                page.value("document.getElementById('theme').click()")
                turned = page.value(colours)
                self.picture(page, "light-by-switch" if dark else "dark-by-switch")
            self.assertEqual(turned[0] < turned[1], not dark, "the switch turns the page")
            self.assertEqual(turned[2] < turned[3], not dark, "the switch turns the figures")
        self.assertGreater(seen[False][0], seen[False][1] + 300)
        self.assertLess(seen[True][0] + 300, seen[True][1])
        self.assertGreater(seen[False][2], seen[False][3] + 200)
        self.assertLess(seen[True][2] + 200, seen[True][3])

    def test_on_a_phone_nothing_is_wider_than_the_screen(self) -> None:
        for name, runs in {
            "small": [self.reports.small()],
            "two": [self.reports.small(), self.reports.other()],
            "stream": [self.reports.stream()],
        }.items():
            path = self.reports.report(name, *runs)
            with self.subTest(name), self.open(path, width=360, height=740) as page:
                self.assertLessEqual(page.value("document.scrollingElement.scrollWidth"), 360)
                self.assertGreaterEqual(page.value("window.innerWidth"), 360)
                # However many sections there are: their links scroll, the button does not.
                page.value(MORE_SECTIONS)
                right = page.value("document.getElementById('theme').getBoundingClientRect().right")
                self.assertLessEqual(right, 360)
                self.assertLessEqual(page.value("document.scrollingElement.scrollWidth"), 360)
                self.picture(page, f"phone-{name}")

    def test_a_table_uses_the_width_of_the_window(self) -> None:
        path = self.reports.report("small", self.reports.small())
        with self.open(path, width=1280, height=900) as page:
            tables = page.value(TABLES)
            self.assertGreater(len(tables), 1)
            for title, needed, shown, left, right in tables:
                with self.subTest(title):
                    room = left > 20 and right < 1260
                    self.assertFalse(needed > shown and room, "columns are hidden beside room")
                    self.assertGreaterEqual(left, 0)
                    self.assertLessEqual(right, 1280)
            self.assertTrue(any(shown > 1024 for _, _, shown, _, _ in tables), tables)

    def test_on_paper_it_is_light_and_has_drawn_figures_and_no_controls(self) -> None:
        path = self.reports.report("small", self.reports.small())
        with self.open(path, dark=True, medium="print") as page:
            figures = page.value("document.querySelectorAll('figure').length")
            self.assertEqual(page.value(DRAWN), figures)
            controls = page.value(
                "[...document.querySelectorAll('button, select, .bar, .live')]"
                ".filter((e) => e.getBoundingClientRect().height > 0).length"
            )
            self.assertEqual(controls, 0)
            self.assertEqual(
                page.value("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)"
            )

    def test_what_a_run_is_called_cannot_become_markup(self) -> None:
        # The name of a directory is the name of its run; a slash cannot be in it.
        hostile = self.reports.place / HOSTILE
        if not hostile.exists():
            run = json.loads((self.reports.small() / "run.json").read_text())
            subprocess.run(["cp", "-r", self.reports.small(), hostile], check=True)
            run["conditions"]["host"]["name"] = f"</script><script>alert(2)</script>{HOSTILE}"
            run["conditions"]["host"]["cpu"] = "</style></table></svg><svg onload=alert(3)>"
            run["conditions"]["link"]["settings"] = [[HOSTILE, HOSTILE]]
            run["conditions"]["command"] = ["wiregauge", HOSTILE]
            run["plan"]["address"] = "tcp://<b>bold</b>:1"
            run["warnings"] = [HOSTILE]
            (hostile / "run.json").write_text(json.dumps(run))
        path = self.reports.report("hostile", hostile, self.reports.other())
        with self.open(path) as page:
            self.quiet(page, path)
            self.assertEqual(page.value("document.querySelectorAll('img, b, [onload]').length"), 0)
            self.assertIn("<img src=x onerror=alert(1)>", page.value("document.body.innerText"))
            with_charts = page.value("typeof uPlot !== 'undefined'")
            if with_charts:
                self.assertGreater(len([c for c in page.value(CHARTS) if c["colours"] > 20]), 1)

    def test_the_page_lets_no_script_run_but_its_own_and_fetches_nothing(self) -> None:
        path = self.reports.report("small", self.reports.small())
        with self.open(path) as page:
            page.value(
                "(() => { const script = document.createElement('script');"
                "script.textContent = 'window.intruder = true'; document.body.append(script);"
                "const image = document.createElement('img'); image.src = 'http://127.0.0.1:9/x';"
                "document.body.append(image); })()"
            )
            self.assertIsNone(page.value("window.intruder || null"))
            self.assertTrue(any("Content Security Policy" in c for c in page.complaints()))

    def test_a_hundred_points_stay_below_a_megabyte_and_open_soon(self) -> None:
        path = self.reports.report("large", self.reports.large())
        self.assertLess(path.stat().st_size, 1_000_000)
        begun = time.monotonic()
        with self.open(path) as page:
            took = time.monotonic() - begun
            inside = page.value("performance.getEntriesByType('navigation')[0].loadEventEnd")
            print(f"\n  {path.stat().st_size:,} B, loaded in {inside:.0f} ms", file=sys.stderr)
            self.assertLess(took, SLOW_S)
            self.quiet(page, path)
            self.assertIn("longest", page.value("document.querySelector('footer').innerText"))
            self.picture(page, "large")


if __name__ == "__main__":
    unittest.main()
