"""The model of a control loop from Python's objects: arrays, python-control's and SciPy's systems, mappings.

A system is text (``"1000/(s^2+s)"``), ``(num, den)``, ``(A, B, C)``, ``(A, B, C, D)``, or an object with
the attributes of a system of python-control or scipy.signal. What is not text goes to the program in a file.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["ModelFile", "model_file"]

_WANTED = "a transfer function as text, (num, den), (A, B, C[, D]), or a system of control or scipy.signal"


class ModelFile:
    """A model in a file of its own, which is removed with this object."""

    def __init__(self, keys: Mapping[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="wiregauge-")
        self.path: Path = Path(self._folder.name) / "model.json"
        self.path.write_text(json.dumps(keys, default=_plain), encoding="utf-8")


def model_file(values: dict[str, object]) -> ModelFile | None:
    """Put what no flag can carry into a file, and its path into `values` instead.

    Parameters
    ----------
    values
        Arguments by name: `model`, `plant`, `controller` and `period` are read and changed.

    Returns
    -------
    ModelFile or None
        Keep it until the program has read it; None if flags can carry everything.

    Raises
    ------
    TypeError, ValueError
        Something is not a system, or fits no sampled loop.
    """
    model = values["model"]
    systems = {name: values[name] for name in ("plant", "controller")}
    if not isinstance(model, Mapping) and all(
        system is None or isinstance(system, str) for system in systems.values()
    ):
        return None
    if model is not None and not isinstance(model, Mapping):
        raise ValueError("model must be a mapping beside a plant or controller that is not text, not a file")
    keys: dict[str, Any] = dict(model or {})
    for name, system in systems.items():
        if system is not None:
            keys[name] = system
            values[name] = None
    for name, variable in (("plant", "s"), ("controller", "z")):
        if name in keys and not isinstance(keys[name], Mapping):
            keys[name], step = _system(name, keys[name], variable)
            if step is not None:
                _use_period(step, keys, values)
    if isinstance(keys.get("period"), (int, float)):
        keys["period"] = f"{round(keys['period'] * 1e9)}ns"
    file = ModelFile(keys)
    values["model"] = file.path
    return file


def _use_period(step: float, keys: dict[str, Any], values: dict[str, object]) -> None:
    """The period of a discrete controller is that of the loop."""
    period = values["period"]
    if period is None:
        keys.setdefault("period", step)
    elif isinstance(period, (int, float)) and not math.isclose(period, step, rel_tol=1e-6):
        raise ValueError(f"period must be that of the controller ({step} s), not {period} s")


def _system(name: str, system: Any, variable: str) -> tuple[str | dict[str, Any], float | None]:
    """Return the value of the key, and the period of a discrete system that has one."""
    if isinstance(system, str):
        return system, None
    if all(hasattr(system, part) for part in ("zeros", "poles", "gain", "to_ss")):
        system = system.to_ss()
    step = _step(name, system, variable)
    if all(hasattr(system, matrix) for matrix in "ABCD"):
        return _matrices(name, [system.A, system.B, system.C, system.D]), step
    if hasattr(system, "num") and hasattr(system, "den"):
        return _quotient(name, system.num, system.den, variable), step
    if isinstance(system, Sequence) and len(system) == 2:
        return _quotient(name, system[0], system[1], variable), step
    if isinstance(system, Sequence) and len(system) in (3, 4):
        return _matrices(name, list(system)), step
    if name == "controller" and (isinstance(system, (int, float)) or hasattr(system, "__array__")):
        return {"d": _rows("controller", system)}, step
    raise TypeError(f"{name} must be {_WANTED}, not {type(system).__name__}")


def _step(name: str, system: Any, variable: str) -> float | None:
    """The period of a discrete system; None if it has none, or does not say."""
    step = getattr(system, "dt", None)
    # Continuous: dt = 0 in python-control, None in scipy.signal. None and True say nothing in the former.
    is_scipy = type(system).__module__.startswith("scipy.signal")
    is_continuous = step is None if is_scipy else step == 0
    is_discrete = step is not None and not is_continuous
    if variable == "s" and is_discrete:
        raise ValueError(f"{name} must be in continuous time, not discrete (dt = {step})")
    if variable == "z" and is_continuous:
        raise ValueError(
            f"{name} must be in discrete time: sample it with the period of the loop, such as "
            "control.sample_system(C, period, 'tustin')"
        )
    return float(step) if step is not None and is_discrete and step is not True else None


def _matrices(name: str, matrices: list[Any]) -> dict[str, Any]:
    rows = {key: _rows(f"{name}.{key}", matrix) for key, matrix in zip("abcd", matrices, strict=False)}
    if "d" in rows and not rows["a"]:
        return {"d": rows["d"]}
    return rows


def _rows(name: str, matrix: Any) -> list[list[float]]:
    try:
        array = np.atleast_2d(np.asarray(matrix, dtype=float))
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a real matrix, not {type(matrix).__name__}") from None
    if array.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, not {array.ndim}")
    return [] if array.size == 0 else array.tolist()


def _quotient(name: str, numerator: Any, denominator: Any, variable: str) -> str:
    return f"({_polynomial(name, numerator, variable)})/({_polynomial(name, denominator, variable)})"


def _polynomial(name: str, coefficients: Any, variable: str) -> str:
    # python-control has a polynomial for each output and input.
    while (
        isinstance(coefficients, (list, np.ndarray))
        and len(coefficients) == 1
        and np.ndim(coefficients[0]) > 0
    ):
        coefficients = coefficients[0]
    try:
        array = np.asarray(coefficients, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros((0, 0))
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name}: a transfer function of several inputs or outputs must be given as a state space"
        )
    if not all(math.isfinite(value) for value in array):
        raise ValueError(f"{name} must have finite coefficients")
    highest = len(array) - 1
    terms = [f"({value!r})*{variable}^{highest - at}" for at, value in enumerate(array.tolist())]
    return "+".join(terms)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"model must have numbers, text, lists and mappings, not {type(value).__name__}")
