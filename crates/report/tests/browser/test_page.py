#!/usr/bin/env python3
"""Opens reports of real runs in a headless Chromium and looks at what is there.

    WIREGAUGE=target/release/wiregauge python3 crates/report/tests/browser/test_page.py [-k PATTERN]

With KEEP=DIR the reports and pictures of them are left there, to be looked at.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import unittest

import box_tests
import canvas_text
from chromium import Page

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
# Drawn figures that take room on the page.
DRAWN = """
[...document.querySelectorAll('figure .drawn svg')].filter((svg) => svg.getBoundingClientRect().height > 100).length
"""


class PageTest(box_tests.BoxTests):
    """What a reader finds."""

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

    def test_percentile_curves_are_those_of_the_drawn_figure(self) -> None:
        path = self.reports.report("few", self.reports.few())
        with self.open(path) as page:
            self.zooms(page)
            figure = "document.querySelector('figure[data-live=curve]')"
            drawn = page.value(f"[...{figure}.querySelectorAll('.drawn .legend text')].map((e) => e.textContent)")
            lines = page.value(f"{figure}.chart().series.slice(1).map((s) => s.label)")
            self.assertEqual(len(drawn), 4, drawn)
            for name, line in zip(drawn, lines, strict=True):
                self.assertTrue(line.endswith(name), (name, line))
            self.assertIn("From the intended start", page.value(f"{figure}.querySelector('.help').innerText"))

    def test_few_samples_are_steps_at_the_percentiles_of_the_tables(self) -> None:
        run = self.reports.eight()
        path = self.reports.report("eight", run)
        with self.open(path) as page:
            self.zooms(page)
            places, *columns = page.value(
                "document.querySelector('figure[data-live=curve]').chart().data.map((c) => Array.from(c))"
            )
            measured = [point["rtt"] for point in json.loads((run / "run.json").read_text())["points"]]
            for rtt, column in zip(measured, columns, strict=True):
                values = [(place, value) for place, value in zip(places, column, strict=True) if value is not None]
                # A step holds up to its own place, here the share of half of the samples.
                median = next(value for place, value in values if place > 0.3)
                expected = rtt["p50"]["value"] / rtt["max"]
                self.assertAlmostEqual(median / values[-1][1], expected, delta=0.005 * expected)

    def test_errors_are_marked_by_kind_as_in_the_drawn_figure(self) -> None:
        path = self.reports.report("faulty", self.reports.faulty())
        with self.open(path) as page:
            self.zooms(page)
            self.quiet(page, path)
            drawn = page.value(
                "[...document.querySelectorAll('figure[data-live=series] .drawn text')].map((e) => e.textContent)"
                ".filter((text) => /^(lost|late|corrupted|duplicated|reordered|unexpected) \\(/.test(text))"
            )
            self.assertGreaterEqual(len(drawn), 2, drawn)
            chart = "document.querySelector('figure[data-live=series]').chart()"
            marked = page.value(f"{chart}.series.filter((s) => s.mark).map((s) => [s.label, s.mark])")
            self.assertEqual([label for label, _ in marked], drawn)
            looks = {json.dumps([mark[key] for key in ("colour", "corners", "hollow")]) for _, mark in marked}
            self.assertEqual(len(looks), len(marked), marked)
            # Each kind has a row of its own, above all that was answered.
            rows = page.value(
                f"{chart}.data.slice(1).map((c) => [...new Set([...c].filter((v) => v !== null && v !== undefined))])"
            )
            errors = rows[len(rows) - len(marked) :]
            self.assertEqual({len(row) for row in errors}, {1}, errors)
            heights = [row[0] for row in errors]
            self.assertEqual(heights, sorted(set(heights), reverse=True))
            self.assertGreater(heights[-1], max(map(max, rows[: -len(marked)])))
            legend = "document.querySelectorAll('figure[data-live=series] .u-legend polygon').length"
            self.assertEqual(page.value(legend), sum(len(mark["corners"]) > 0 for _, mark in marked))
            self.picture(page, "faulty")

    def test_the_tail_of_few_samples_is_thin(self) -> None:
        path = self.reports.report("small", self.reports.small())
        record = (
            "(() => { const prototype = CanvasRenderingContext2D.prototype; const stroke = prototype.stroke;"
            "window.strokes = []; prototype.stroke = function (...path) {"
            "  if (path.length > 0) window.strokes.push(this.lineWidth / devicePixelRatio);"
            "  return stroke.apply(this, path); }; })()"
        )
        with self.open(path, before=record) as page:
            self.zooms(page)
            widths = page.value(
                "(async () => { const chart = document.querySelector('figure[data-live=curve]').chart();"
                "window.strokes = []; chart.redraw(); await new Promise((resolve) => setTimeout(resolve));"
                "return [chart.series.length - 1, window.strokes]; })()"
            )
            curves, strokes = widths
            for width in (0.8, 1.8):
                lines = [stroke for stroke in strokes if abs(stroke - width) < 0.05]
                self.assertEqual(len(lines), curves, strokes)
            note = page.value("document.querySelector('figure[data-live=curve] .help').innerText")
            self.assertIn("The thin part of the line: fewer than 10 samples", note)

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
            self.assertIn("Ended by SIGINT after", first)

    def test_figures_that_zoom_are_drawn(self) -> None:
        for name, run, forms in (
            ("small", self.reports.small(), {"series", "curve", "histogram"}),
            ("stream", self.reports.stream(), {"curve"}),
        ):
            path = self.reports.report(name, run)
            with self.subTest(name), self.open(path) as page:
                self.zooms(page)
                charts = page.value(CHARTS)
                self.assertEqual({c["form"] for c in charts}, forms)
                for chart in charts:
                    self.assertGreater(chart["width"], 400, chart)
                    # Axes and text in shades of their edges, and the data.
                    self.assertGreater(chart["colours"], 20, chart)

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
            with self.subTest(name), self.open(path, before=canvas_text.RECORD) as page:
                self.zooms(page)
                tried, wrong = page.value(
                    f"(async () => {{ let tried = 0; const wrong = []; const look = () => {canvas_text.WRONG};"
                    "for (const select of document.querySelectorAll('.live select'))"
                    "  for (const option of select.options) {"
                    "    select.value = option.value; select.dispatchEvent(new Event('change')); tried += 1;"
                    # uPlot draws a moment later.
                    "    await new Promise((resolve) => setTimeout(resolve)); wrong.push(...look()); }"
                    "for (const log of document.querySelectorAll('.live input')) { log.click(); log.click(); }"
                    "return [tried, wrong]; })()"
                )
                self.assertGreater(tried, 8)
                self.assertEqual(wrong, [])
                self.quiet(page, path)

    def test_a_part_of_the_curves_is_never_drawn_without_saying_so(self) -> None:
        for name, path in self.kinds().items():
            with self.subTest(name), self.open(path) as page:
                self.zooms(page)
                wrong = page.value(
                    "[...document.querySelectorAll('figure[data-live]')].filter((f) => f.chart).map((f) => {"
                    "  const all = JSON.parse(document.getElementById('data').textContent).runs"
                    "    .filter((r) => r.kind === f.dataset.kind).flatMap((r) => r.points).length;"
                    # With a schedule, the same points a second time.
                    "  const lines = f.chart().series.slice(1).filter((s) => !s.label.endsWith('from the intended start'));"
                    "  const drawn = f.dataset.live === 'series' ? 1 : lines.length;"
                    "  const said = f.querySelector('.help').innerText.match(/Shown: (\\d+) of (\\d+)/);"
                    "  return [f.id, all, drawn, said && [Number(said[1]), Number(said[2])]];"
                    "}).filter(([id, all, drawn, said]) => drawn === all ? said !== null"
                    "  : !said || said[0] !== drawn || said[1] !== all)"
                )
                self.assertEqual(wrong, [])

    def test_a_control_loop_has_its_verdicts_side_by_side_and_figures_in_view(self) -> None:
        path = self.reports.control()
        with self.open(path, width=1280) as page:
            self.quiet(page, path)
            heads = page.value(
                "[...document.querySelector('#control table').querySelectorAll('th')]"
                ".filter((e) => e.getBoundingClientRect().right <= 1280).map((e) => e.textContent)"
            )
            for verdict in ("on trace", "long run", "any order"):
                self.assertIn(verdict, heads)
            # Those of the lowest cost are in view, the others are folded.
            figures = (
                "[...document.querySelectorAll('#control figure svg')].filter((e) => e.checkVisibility()).length"
            )
            self.assertEqual(page.value(figures), 2)
            page.value("document.querySelectorAll('#control details').forEach((e) => { e.open = true; })")
            self.assertEqual(page.value(figures), 6)
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
                    "[...document.querySelectorAll('#control caption')]"
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
