"""Optional packages: an error names the missing one and how to install it."""

from __future__ import annotations

import importlib
from typing import Any

EXTRAS = {"pandas": "pandas", "xarray": "xarray", "matplotlib": "plot", "tqdm": "progress"}


def need(package: str, what: str) -> Any:
    """Import a package.

    Parameters
    ----------
    package
        Its name, or that of a module in it.
    what
        What needs it, for the message.

    Raises
    ------
    ImportError
        It is not installed; the message has the command.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        name = package.split(".")[0]
        extra = EXTRAS.get(name, "all")
        raise ImportError(
            f"{what} needs {name}: pip install {name}; in a clone of wiregauge also pip install '.[{extra}]'",
            name=name,
        ) from error
