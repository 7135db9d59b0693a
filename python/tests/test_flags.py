"""The functions have every flag that the program declares, and no other."""

import inspect
import json

import pytest

import wiregauge as wg
from wiregauge import _native
from wiregauge._values import converters, flag_of

DECLARED = json.loads(_native.declared())

# What only makes sense at a terminal: completions and manual pages for a shell.
FOR_SHELLS = {"completions", "man"}

# How things are printed, which a function does not do.
FOR_PRINTING = {
    "--json": "the functions give objects",
    "--quiet": "progress=False",
    "--full": "of runs: run.show(full=True); of compare and control: str(comparison), str(control)",
    "--confidence": "of exchange, stream and loop: run.show(confidence=True)",
    "--format": "of compare: str(comparison), comparison.markdown()",
}

# What only an exit code needs, which a function does not have.
FOR_EXIT_CODES = {"--undecided": "the text of an undecided limit begins with `undecided: `"}

# What functions have beyond the flags.
OWN = {"progress"}

COMMANDS = sorted(set(DECLARED) - FOR_SHELLS)


def function_of(command: str) -> str:
    return command.replace("-", "_")


def declared(command: str) -> dict[str, dict]:
    return {flag["name"]: flag for flag in DECLARED[command]["flags"]}


def test_every_command_is_a_function_of_its_name():
    for command in COMMANDS:
        assert callable(getattr(wg, function_of(command)))
        assert function_of(command) in wg.__all__


@pytest.mark.parametrize("command", COMMANDS)
def test_no_flag_is_forgotten_and_none_made_up(command):
    ours = {flag_of(name) for name in converters(command)}
    theirs = {name for name in declared(command) if name.startswith("--")}
    left_out = theirs - ours
    expected = set(FOR_PRINTING) | set(FOR_EXIT_CODES)
    assert left_out <= expected, left_out - expected
    assert ours <= theirs, ours - theirs


@pytest.mark.parametrize("command", COMMANDS)
def test_the_signature_has_every_flag_with_a_name_and_a_type(command):
    parameters = inspect.signature(getattr(wg, function_of(command))).parameters
    keywords = {name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY}
    assert keywords == set(converters(command)) | (OWN & keywords)
    positional = [name for name in parameters if name not in keywords]
    arguments = [name for name in declared(command) if not name.startswith("--")]
    assert positional == arguments
    for parameter in parameters.values():
        assert parameter.annotation is not parameter.empty


@pytest.mark.parametrize("command", COMMANDS)
def test_switches_are_false_and_all_else_has_the_default_of_the_program(command):
    flags = declared(command)
    for name, parameter in inspect.signature(getattr(wg, function_of(command))).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and name not in OWN:
            expected = False if flags[flag_of(name)]["is_switch"] else None
            assert parameter.default is expected, name


@pytest.mark.parametrize("command", COMMANDS)
def test_the_documentation_names_every_argument(command):
    function = getattr(wg, function_of(command))
    words = inspect.getdoc(function)
    for name in inspect.signature(function).parameters:
        lines = [line for line in words.splitlines() if not line.startswith(" ")]
        named = {part.strip(" *`") for line in lines for part in line.split(",")}
        assert name in named, f"{name} is not described"


@pytest.mark.parametrize("command", COMMANDS)
def test_choices_are_those_of_the_program(command):
    function = getattr(wg, function_of(command))
    hints = inspect.get_annotations(function)
    for name, flag in declared(command).items():
        python = {"--in": "in_sizes", "--out": "out_sizes"}.get(name, name.strip("-").replace("-", "_"))
        if "Literal[" in str(hints.get(python, "")):
            for choice in flag["choices"]:
                assert repr(choice).strip("'") in hints[python], (name, choice)
