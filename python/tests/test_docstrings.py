"""Everything public explains itself in the interpreter, in the form of numpy's docstrings."""

import ast
import doctest
import enum
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import wiregauge as wg


def own_members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public members that neither Python's own classes nor its abstract ones brought."""
    for name in dir(cls):
        owner = next((one for one in cls.__mro__ if name in vars(one)), None)
        is_ours = owner is not None and owner.__module__.startswith("wiregauge")
        if is_ours and not name.startswith("_"):
            yield name, inspect.getattr_static(cls, name)


def public() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in wg.__all__:
        thing = getattr(wg, name)
        if inspect.isclass(thing):
            found[name] = thing
            found |= {f"{name}.{member}": value for member, value in own_members(thing)}
        elif callable(thing):
            found[name] = thing
    return found


PUBLIC = public()
CALLABLE = {
    name: getattr(thing, "__func__", thing)
    for name, thing in PUBLIC.items()
    if inspect.isroutine(thing) and callable(getattr(thing, "__func__", thing))
}


def sections(doc: str) -> dict[str, str]:
    parts = re.split(r"^(\w+)\n-{3,}\n", doc, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_methods_of_the_native_half_are_among_them():
    assert {"Device.exchange", "Device.close", "Device.query", "exchange"} <= set(CALLABLE)
    assert {"Device.address", "Device.closed", "Run.samples"} <= set(PUBLIC)


def describes_itself(thing: Any) -> bool:
    """True of what has a docstring of its own: no field, no member of an enumeration."""
    return inspect.isclass(thing) or inspect.isroutine(thing) or hasattr(thing, "__get__")


@pytest.mark.parametrize("name", [one for one, thing in PUBLIC.items() if describes_itself(thing)])
def test_every_public_name_has_a_docstring(name):
    doc = inspect.getdoc(PUBLIC[name])
    assert doc
    assert doc[0].isupper() or doc.startswith(("``", "30-second"))


FIELDS = [
    name for name, thing in PUBLIC.items() if not describes_itself(thing) and not isinstance(thing, enum.Enum)
]


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_is_an_attribute_of_its_class(name):
    owner, member = name.split(".")
    described = [sections(inspect.getdoc(one) or "") for one in getattr(wg, owner).__mro__]
    texts = [parts.get("Attributes", "") + parts.get("Parameters", "") for parts in described]
    assert any(re.search(rf"^[\w, ]*\b{member}\b", text, re.MULTILINE) for text in texts)


@pytest.mark.parametrize("name", CALLABLE)
def test_every_parameter_and_result_is_described(name):
    doc = inspect.getdoc(CALLABLE[name])
    assert doc is not None
    parts = sections(doc)
    signature = inspect.signature(CALLABLE[name])
    for parameter in signature.parameters:
        if parameter != "self" and parameter != "cls":
            assert re.search(rf"^[\w*, ]*\b{parameter}\b", parts["Parameters"], re.MULTILINE), parameter
    returned = signature.return_annotation
    if returned not in (inspect.Signature.empty, None, "None", "NoReturn"):
        assert "Returns" in parts or "Yields" in parts


CANNOT_FAIL = {"Campaign.cancel", "Campaign.results", "Diagnosis.of"}


@pytest.mark.parametrize("name", CALLABLE)
def test_every_function_and_method_has_its_errors_and_an_example(name):
    parts = sections(inspect.getdoc(CALLABLE[name]))
    assert "Raises" in parts or name in CANNOT_FAIL
    examples = doctest.DocTestParser().get_examples(parts["Examples"])
    assert examples
    for example in examples:
        for node in ast.walk(ast.parse(example.source)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "wg":
                assert hasattr(wg, node.attr), node.attr
