"""Measure what passes between this computer and a device; fio for the wire.

Every command of the program is a function here, of the same name and with the same flags::

    import wiregauge as wg
    run = wg.exchange("serial:///dev/ttyACM0", in_sizes=[48, 1000], depth=[1, 2, 4])
    run.table()

What a function measures is a `Run`. What goes wrong is an `Error`.
"""

from __future__ import annotations

from ._native import __version__
from .errors import Error, Interrupted, LinkError, StorageError, UsageError
from .measure import exchange
from .run import Run, last, load
from .samples import Phase, Status, TransferStatus, Way, Xrun

__all__ = [
    "Error",
    "Interrupted",
    "LinkError",
    "Phase",
    "Run",
    "Status",
    "StorageError",
    "TransferStatus",
    "UsageError",
    "Way",
    "Xrun",
    "__version__",
    "exchange",
    "last",
    "load",
]
