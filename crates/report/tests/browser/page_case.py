"""What the tests of pages share: a browser, reports, pages that are opened and fully drawn."""

from __future__ import annotations

import contextlib
import os
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chromium import Browser, Page
from reports import Reports

# Fulfilled when the figures that zoom are there, which they are some moments after the page.
SETTLED = """
new Promise((resolve) => {
  const look = () => (typeof uPlot === 'undefined' || document.documentElement.dataset.live === 'done'
    ? resolve(true) : setTimeout(look, 20));
  look();
})
"""


class PageCase(unittest.TestCase):
    """A page in a browser; no tests of its own."""

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
