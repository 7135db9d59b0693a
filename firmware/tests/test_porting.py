"""docs/porting.md shows the very file that is built in firmware/porting, and the file is short."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILE = ROOT / "firmware/porting/main.c"


def test_the_page_shows_the_whole_file_in_its_order() -> None:
    """Its C blocks, joined, are firmware/porting/main.c, empty lines aside."""
    page = (ROOT / "docs/porting.md").read_text()
    blocks = re.findall(r"^```c\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    shown = [line for block in blocks for line in block.splitlines() if line]
    assert shown == [line for line in FILE.read_text().splitlines() if line]


def test_the_board_is_under_100_lines() -> None:
    """The page says so."""
    assert len(FILE.read_text().splitlines()) < 100
