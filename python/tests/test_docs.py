"""Every example in docs/python.md runs, in the order in which it stands there."""

import ast
import re

from conftest import REPOSITORY

PAGE = (REPOSITORY / "docs/python.md").read_text()


def test_every_example_runs(monkeypatch, capsys):
    import matplotlib.pyplot as plt

    examples = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(examples) > 8
    names: dict[str, object] = {}
    for number, example in enumerate(examples):
        # Told apart by line where one fails.
        line = PAGE[: PAGE.index(example)].count("\n")
        tree = ast.increment_lineno(ast.parse(example), line)
        exec(compile(tree, f"docs/python.md, example {number + 1}", "exec"), names)
    plt.close("all")
    said = capsys.readouterr().out
    assert "RTT" in said and "refused" in said


def test_every_name_of_the_package_that_the_page_tells_of_is_there():
    import wiregauge as wg

    for name in re.findall(r"\bwg\.(\w+)", PAGE):
        assert hasattr(wg, name), name
    for name in re.findall(r"\brun\.(\w+)", PAGE):
        assert hasattr(wg.Run, name) or name in ("missed", "json"), name
    for command in ("exchange", "stream", "loop", "serve", "show", "explain", "compare", "report", "export"):
        assert f"`{command}`" in PAGE
