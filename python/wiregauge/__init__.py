"""Measure the link between a computer and a device.

Every command of the program is a function here, of the same name and with the same flags::

    import wiregauge as wg
    run = wg.exchange("serial:///dev/ttyACM0", in_sizes=[48, 1000], depth=[1, 2, 4])
    run.table()

A measurement returns a `Run`. Errors raise an `Error`.
"""

from __future__ import annotations

from ._native import __version__
from .advice import Diagnosis, Limits, doctor, limits
from .campaign import Campaign, Plan, Result, campaign
from .comparison import Comparison
from .cycles import Deadline
from .device import CYCLE, NEVER, TIMING, CycleStatus, Device, Gain, open  # noqa: A004  it is `wg.open`
from .errors import Error, Interrupted, LinkError, ModbusError, StorageError, UsageError
from .explanation import Explanation
from .figure import Figure, Figures
from .framing import Fixed, LengthPrefix, Raw, Terminator
from .listings import Devices, Listing, Runs, devices, runs
from .measure import demo, exchange, loop, loop_control, stream
from .run import Run, last, load
from .samples import ControlStatus, Phase, Status, TransferStatus, Way, Xrun
from .serving import Responder, serve
from .stored import compare, control, deadline, explain, export, report, show
from .tuning import Estimate, Setting, Tuned, Verdict, tune
from .verdicts import Control

__all__ = [
    "CYCLE",
    "NEVER",
    "TIMING",
    "Campaign",
    "Comparison",
    "Control",
    "ControlStatus",
    "CycleStatus",
    "Deadline",
    "Device",
    "Devices",
    "Diagnosis",
    "Error",
    "Estimate",
    "Explanation",
    "Figure",
    "Figures",
    "Fixed",
    "Gain",
    "Interrupted",
    "LengthPrefix",
    "Limits",
    "LinkError",
    "Listing",
    "ModbusError",
    "Phase",
    "Plan",
    "Raw",
    "Responder",
    "Result",
    "Run",
    "Runs",
    "Setting",
    "Status",
    "StorageError",
    "Terminator",
    "TransferStatus",
    "Tuned",
    "UsageError",
    "Verdict",
    "Way",
    "Xrun",
    "__version__",
    "campaign",
    "compare",
    "control",
    "deadline",
    "demo",
    "devices",
    "doctor",
    "exchange",
    "explain",
    "export",
    "last",
    "limits",
    "load",
    "loop",
    "loop_control",
    "open",
    "report",
    "runs",
    "serve",
    "show",
    "stream",
    "tune",
]
