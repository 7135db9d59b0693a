"""Every example in docs/python-devices.md runs, in the order in which it stands there."""

import ast
import re

from conftest import REPOSITORY

import wiregauge as wg

PAGE = (REPOSITORY / "docs/python-devices.md").read_text()


def test_every_example_runs(capsys):
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(examples) == 9
    names: dict[str, object] = {}
    for number, example in enumerate(examples):
        tree = ast.increment_lineno(ast.parse(example), PAGE[: PAGE.index(example)].count("\n"))
        exec(compile(tree, f"docs/python-devices.md, example {number + 1}", "exec"), names)
    assert {"depth-1", "depth-4"} == set(capsys.readouterr().out.split())


def test_every_name_that_the_page_tells_of_is_there():
    for name in re.findall(r"\bwg\.(\w+)", PAGE):
        assert hasattr(wg, name), name
    for name in re.findall(r"\bdevice\.(\w+)", PAGE):
        assert name in dir(wg.Device) or name in wg.Device.__annotations__, name
