"""Points are shown and hidden in all figures at once."""

from __future__ import annotations

import page_case
import points
from box_tests import BOXES


class PointTests(page_case.PageCase):
    """What is left of a hidden point."""

    def test_a_hidden_point_is_in_no_figure(self) -> None:
        for name, path in self.pages_of_points().items():
            with self.subTest(name), self.open(path) as page:
                page.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                keys = page.value(points.KEYS)
                self.assertGreater(len(keys), 1)
                before = page.value(points.SHAPES)
                # What no point has taken away: all of it must be gone in the end.
                left = {figure: list(shapes) for figure, shapes in before.items()}
                for key in keys:
                    page.value(points.click(key))
                    after = page.value(points.SHAPES)
                    for figure, shapes in after.items():
                        # Nothing has moved.
                        self.assertEqual([s for s in shapes if s not in before[figure]], [], (figure, key))
                        left[figure] = [s for s in left[figure] if s in shapes]
                    # The first, one in between, the last: also in every selection of the interactive figures.
                    if key in (keys[0], keys[len(keys) // 2], keys[-1]):
                        self.assertEqual(page.value(points.seen(key)), [], key)
                        other = next(one for one in keys if one != key)
                        self.assertEqual(page.value(points.seen(other)), page.value(points.drawn(other)), (key, other))
                    page.value(points.click(key))
                    self.assertEqual(page.value(points.SHAPES), before, key)
                self.assertEqual({figure: shapes for figure, shapes in left.items() if shapes}, {})
                self.quiet(page, path)

    def test_without_points_no_figure_shows_anything(self) -> None:
        for name, path in self.pages_of_points().items():
            with self.subTest(name), self.open(path) as page:
                page.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                before = page.value(points.SHAPES)
                self.assertTrue(all(before.values()), before)
                page.value("document.querySelectorAll('#points button')[1].click()")
                self.assertEqual({f: s for f, s in page.value(points.SHAPES).items() if s}, {})
                self.assertEqual(page.value(points.NOT_EMPTY), [])
                self.assertEqual(page.value(BOXES), [])
                self.picture(page, f"{name}-none")
                page.value("document.querySelectorAll('#points button')[0].click()")
                self.assertEqual(page.value(points.SHAPES), before)

    def test_hiding_a_point_takes_away_its_marks_and_joins_its_neighbours(self) -> None:
        # Of each figure the number of markers or bars of the point: five statistics of one run, two of each of two.
        of_point = {
            "small": ("16-1000-2", {"rtt-size-in": 5, "trt-size-in": 5, "throughput-size-in": 1, "rtt-trt-depth": 2}),
            "two": ("16-1000-2", {"rtt-size-in": 4, "trt-size-in": 4, "throughput-size-in": 2, "rtt-trt-depth": 4}),
            "stream": ("in-4096-1", {"rate-transfer-queue": 1}),
            "reconnecting": ("16-1000-1", {"connect-access-transfer": 3}),
        }
        for name, (key, counts) in of_point.items():
            path = self.reports.report(*{
                "small": ("small", self.reports.small()),
                "two": ("two", self.reports.small(), self.reports.other()),
                "stream": ("stream", self.reports.stream()),
                "reconnecting": ("reconnecting", self.reports.reconnecting()),
            }[name])
            with self.subTest(name), self.open(path) as page:
                before, lines = page.value(points.SHAPES), page.value(points.LINES)
                page.value(points.click(key))
                after, rest = page.value(points.SHAPES), page.value(points.LINES)
                self.picture(page, f"{name}-one-hidden")
                for figure, count in counts.items():
                    [at] = [f for f in before if f.endswith(f"-{figure}")]
                    gone = [s for s in before[at] if s not in after[at] and s["closed"]]
                    # A hollow marker is two shapes, and markers of different curves may lie on each other.
                    places = {(s["x"], s["y"]) for s in gone}
                    self.assertTrue(1 <= len(places) <= count, (figure, gone))
                    self.assertTrue(count <= len(gone) <= 2 * count, (figure, gone))
                    if figure != "connect-access-transfer":
                        self.assertEqual(len({x for x, _ in places}), 1, (figure, gone))
                    # A line keeps its other vertices and goes from neighbour to neighbour.
                    for whole, line in zip(lines[at], rest[at], strict=True):
                        dropped = [v for v in whole if v not in line]
                        self.assertLessEqual(len(dropped), 1, figure)
                        self.assertEqual(line, [v for v in whole if v not in dropped], figure)
                    shorter = sum(a != b for a, b in zip(lines[at], rest[at], strict=True))
                    self.assertEqual(shorter > 0, bool(lines[at]), figure)

    def test_points_are_hidden_in_all_figures_at_once(self) -> None:
        path = self.reports.report("small", self.reports.small())
        notes = "[...document.querySelectorAll('.live .help')].map((e) => e.innerText)"
        panels = (
            "[...document.querySelectorAll('.drawn [data-point]')]"
            ".filter((e) => getComputedStyle(e).visibility === 'hidden').length"
        )
        box = "document.querySelector('#points li[data-key=\"16-48-1\"] input')"
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

    def test_a_figure_without_the_chosen_points_says_that_it_never_had_them(self) -> None:
        path = self.reports.report("large", self.reports.large())
        with self.open(path) as page:
            self.zooms(page)
            figure = "document.querySelector('figure[id$=-rtt-size-in]')"
            keys = f"[...{figure}.querySelectorAll('svg [data-point]')].flatMap((e) => e.dataset.point.split(' '))"
            has = page.value(f"[...new Set({keys})]")
            self.assertTrue(1 < len(has) < 100, has)
            for key in has:
                page.value(points.click(key))
            text = page.value(f"{figure}.innerText")
            self.assertIn(f"does not have the points that are shown: it has {len(has)} of 100 points", text)
            self.assertNotIn("points are shown:", text)
            page.value("document.querySelectorAll('#points button')[1].click()")
            self.assertIn("All points of this figure are hidden.", page.value(f"{figure}.innerText"))
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
