"""Nothing on a page overlaps or is cut off, on any screen: elements, texts of drawn figures, texts on canvases."""

from __future__ import annotations

import canvas_text
import page_case

# What is cut off or lies over something else, in words; empty if nothing does.
BOXES = r"""
(() => {
  const wrong = [];
  const wide = document.documentElement.clientWidth;
  const name = (e) => e.tagName.toLowerCase() + " '" + e.textContent.trim().slice(0, 50) + "'";
  const seen = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getBoundingClientRect().width > 0;
  // What may be wider than the page scrolls by itself.
  const scrolls = (e) => e.closest('.scroll, .drawn, pre, .bar');
  for (const e of document.querySelectorAll('h1, h2, h3, p, li, dt, dd, figcaption, label, select, button, summary, canvas, .notice')) {
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
  for (const holder of document.querySelectorAll('main, section, figure, .tools, .live, .u-legend tbody, .contents')) {
    apart([...holder.children].filter((e) => seen(e) && getComputedStyle(e).position === 'static'), holder.tagName.toLowerCase());
  }
  for (const cell of document.querySelectorAll('.pairs tbody td:nth-child(2)')) {
    if (cell.getBoundingClientRect().right > wide) wrong.push('a verdict is not in view: ' + name(cell));
  }
  return wrong;
})()
"""


class BoxTests(page_case.PageCase):
    """Boxes of what a reader sees."""

    def test_nothing_overlaps_or_is_cut_off_on_any_screen(self) -> None:
        for name, path in self.kinds().items():
            for width in (1280, 390):
                for dark in (False, True):
                    how = f"{name}-{width}-{'dark' if dark else 'light'}"
                    with self.subTest(how), self.open(path, width=width, height=844, dark=dark) as page:
                        self.picture(page, how)
                        self.assertLessEqual(page.value("document.scrollingElement.scrollWidth"), width)
                        self.assertEqual(page.value(BOXES), [])

    def test_labels_on_canvases_neither_overlap_nor_are_cut_off(self) -> None:
        pages = {**self.kinds(), "frames": self.reports.frames()}
        for name, path in pages.items():
            for width in (1280, 390):
                for dark in (False, True):
                    how = f"{name}-{width}-{'dark' if dark else 'light'}"
                    with self.subTest(how), self.open(
                        path, width=width, height=844, dark=dark, before=canvas_text.RECORD
                    ) as page:
                        if name != "frames":
                            self.zooms(page)
                        self.assertGreater(page.value(canvas_text.COUNT), 0)
                        self.assertEqual(page.value(canvas_text.WRONG), [])

    def test_labels_on_canvases_stay_apart_with_either_axis_and_when_zoomed(self) -> None:
        for name in ("small", "few", "stream", "loop"):
            path = self.kinds()[name]
            for width in (1280, 390):
                with self.subTest(f"{name}-{width}"), self.open(
                    path, width=width, height=844, before=canvas_text.RECORD
                ) as page:
                    self.zooms(page)
                    page.value("document.querySelectorAll('.live .tools input').forEach((log) => log.click())")
                    self.assertEqual(page.value(canvas_text.WRONG), [], "the other kind of axis")
                    page.value("document.querySelectorAll('.live .tools input').forEach((log) => log.click())")
                    for part in (0.4, 0.06, 0.004):
                        page.value(
                            "document.querySelectorAll('figure[data-live]').forEach((f) => {"
                            "  const [x, chart] = ['x', f.chart()]; const { min, max } = chart.scales[x];"
                            f"  chart.setScale(x, {{ min: min + (max - min) * 0.02, max: min + (max - min) * (0.02 + {part}) }}); }})"
                        )
                        self.assertEqual(page.value(canvas_text.WRONG), [], f"zoomed to {part}")

    def test_labels_that_overlap_or_are_cut_off_on_a_canvas_would_be_found(self) -> None:
        path = self.reports.report("few", self.reports.few())
        pen = "document.querySelector('.live canvas').getContext('2d')"
        with self.open(path, before=canvas_text.RECORD) as page:
            self.zooms(page)
            self.assertEqual(page.value(canvas_text.WRONG), [])
            # Also where the pen is turned, as for the name of an axis.
            for text, words in (
                ("pen.fillText('one', 200, 100); pen.fillText('other', 205, 103);", "'one' and 'other' overlap"),
                ("pen.fillText('edge', pen.canvas.width - 3, 100);", "'edge' is cut off"),
                ("pen.translate(4, 90); pen.rotate(-Math.PI / 2); pen.fillText('turned', 0, 0);", "'turned' is cut off"),
            ):
                page.value(
                    f"(() => {{ const pen = {pen}; pen.save(); pen.resetTransform(); pen.font = '20px sans-serif';"
                    f"pen.textAlign = 'left'; pen.textBaseline = 'alphabetic'; {text} pen.restore(); }})()"
                )
                found = page.value(canvas_text.WRONG)
                self.assertTrue(any(words in one for one in found), (words, found))

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
