"""The program `wiregauge`, as installed by this package: the same code as the binary."""

from __future__ import annotations

import signal
import sys

from . import _native
from ._call import PROGRAM


def main() -> int:
    """Run the command line of this process; return its exit code."""
    # Ctrl-C is the program's own business, as it is the binary's: Python would only raise after it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    return _native.main(["wiregauge", *sys.argv[1:]], PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
