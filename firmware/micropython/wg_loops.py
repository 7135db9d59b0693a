# The loops over bytes: machine code where this port of MicroPython can compile it, else plain Python. Whoever
# wants the plain ones in any case puts wg_plain in the place of this module, as main.py does.

try:
    from wg_native import (
        agreeing,
        crc16,
        fill,
        find_magic,
        header_check,
        move,
        stream_agreeing,
        stream_fill,
    )
except (ImportError, SyntaxError):
    from wg_plain import (
        agreeing,
        crc16,
        fill,
        find_magic,
        header_check,
        move,
        stream_agreeing,
        stream_fill,
    )

__all__ = (
    "agreeing",
    "crc16",
    "fill",
    "find_magic",
    "header_check",
    "move",
    "stream_agreeing",
    "stream_fill",
)
