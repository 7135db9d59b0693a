# The loops over bytes in plain Python: for ports of MicroPython without a native emitter, and for CPython.
# Where it can, wg_loops takes the same functions from wg_native.py.

MAGIC = 0xA7
STEP = 0x9E3779B1

# The pattern, long enough that any piece of up to PIECE bytes lies within it.
PIECE = 1024
_pattern = bytes(i % 251 for i in range(251 + PIECE))
_view = memoryview(_pattern)


def crc16(b, at, n):
    """CRC-16/CCITT-FALSE of n bytes of b from `at` on."""
    crc = 0xFFFF
    for i in range(at, at + n):
        x = (crc >> 8) ^ b[i]
        x ^= x >> 4
        crc = ((crc << 8) ^ (x << 12) ^ (x << 5) ^ x) & 0xFFFF
    return crc


def header_check(b, at, size):
    """The check of the header of `size` bytes at `at`: its own field counts as zero."""
    crc = 0xFFFF
    for i in range(size):
        x = crc >> 8
        if i != 2 and i != 3:
            x ^= b[at + i]
        x ^= x >> 4
        crc = ((crc << 8) ^ (x << 12) ^ (x << 5) ^ x) & 0xFFFF
    return crc


def find_magic(b, start, stop, end):
    """Where in [start, stop) a request header may begin; -1: nowhere. The bytes that are there end at
    `end`."""
    for i in range(start, stop):
        if b[i] == MAGIC and (i + 1 == end or 0x10 <= b[i + 1] <= 0x14):
            return i
    return -1


def agreeing(b, at, n, phase):
    """How many of n bytes agree with the pattern that begins with `phase`."""
    if n > 16 and isinstance(b, bytearray):
        # Comparing pieces is C's work, not the interpreter's.
        with_b = memoryview(b)
        done = 0
        while done < n:
            piece = min(n - done, PIECE)
            begin = (phase + done) % 251
            if with_b[at + done : at + done + piece] != _view[begin : begin + piece]:
                break
            done += piece
        at += done
        phase = (phase + done) % 251
        n -= done
    else:
        done = 0
    for i in range(n):
        if b[at + i] != phase:
            return done + i
        phase += 1
        if phase == 251:
            phase = 0
    return done + n


def fill(b, at, n, phase):
    """Write n bytes of the pattern that begins with `phase`."""
    into = memoryview(b)
    done = 0
    while done < n:
        piece = min(n - done, PIECE)
        begin = (phase + done) % 251
        into[at + done : at + done + piece] = _view[begin : begin + piece]
        done += piece


def stream_agreeing(b, at, n, number, skip):
    """How many of n bytes agree with a stream, from byte `skip` of its word `number` on."""
    word = number * STEP & 0xFFFFFFFF
    shift = skip << 3
    for i in range(n):
        if b[at + i] != (word >> shift) & 0xFF:
            return i
        shift += 8
        if shift == 32:
            shift = 0
            word = (word + STEP) & 0xFFFFFFFF
    return n


def stream_fill(b, at, n, number, skip):
    """Write n bytes of a stream, from byte `skip` of its word `number` on."""
    word = number * STEP & 0xFFFFFFFF
    shift = skip << 3
    for i in range(at, at + n):
        b[i] = (word >> shift) & 0xFF
        shift += 8
        if shift == 32:
            shift = 0
            word = (word + STEP) & 0xFFFFFFFF


def move(b, start, n):
    """Move n bytes from `start` to the front."""
    b[:n] = bytes(b[start : start + n])
