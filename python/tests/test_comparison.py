"""A comparison is the same in its text and its tables."""

import re

import pandas as pd
import pytest

import wiregauge as wg


@pytest.fixture(scope="module")
def other(address: str, tmp_path_factory: pytest.TempPathFactory) -> wg.Run:
    """A second run like `stored`."""
    place = tmp_path_factory.mktemp("stored") / "other"
    return wg.exchange(address, in_sizes=[48, 1000], depth=[1, 2], count=300, warmup=5, store=place)


@pytest.mark.parametrize("only", [["p50", "p99"], "p50,p99"])
def test_the_text_and_the_markdown_have_the_chosen_figures_only(stored: wg.Run, other: wg.Run, only) -> None:
    for comparison in (wg.compare(stored, other, only=only), stored.compare(other, only=only)):
        assert len(comparison.table()) == 8
        for text in (str(comparison), comparison.markdown()):
            assert re.search(r"\bp50\b", text)
            assert not re.search(r"\b(mean|p90|max3|trt)\b", text, re.IGNORECASE), text


def test_a_table_has_numbers_and_units_and_joins_with_a_summary(stored: wg.Run, other: wg.Run) -> None:
    table = stored.compare(other, only=["p50", "lost", "exchanges"]).table()
    assert table.attrs["units"]["in_bytes"] == "B"
    for column in ("out_bytes", "in_bytes", "depth", "before", "after", "difference", "low", "high"):
        assert pd.api.types.is_numeric_dtype(table[column]), column
    assert set(table["unit"]) == {"ns", "1", "1/s"}
    joined = table.merge(stored.summary(), on=["out_bytes", "in_bytes", "depth"])
    assert len(joined) == len(table) == 12
