# The loops over bytes, compiled to machine code by MicroPython's Viper emitter. wg_plain.py has the same in
# plain Python, with what each is for, and is taken where a port has no emitter: there this file is a
# SyntaxError. Bytes by bytes, because a Cortex-M0+ faults on a word that is not aligned.

import micropython


@micropython.viper
def crc16(b: ptr8, at: int, n: int) -> int:
    crc = 0xFFFF
    for i in range(at, at + n):
        x = (crc >> 8) ^ b[i]
        x ^= x >> 4
        crc = ((crc << 8) ^ (x << 12) ^ (x << 5) ^ x) & 0xFFFF
    return crc


@micropython.viper
def header_check(b: ptr8, at: int, size: int) -> int:
    crc = 0xFFFF
    for i in range(size):
        x = crc >> 8
        if i != 2 and i != 3:
            x ^= b[at + i]
        x ^= x >> 4
        crc = ((crc << 8) ^ (x << 12) ^ (x << 5) ^ x) & 0xFFFF
    return crc


@micropython.viper
def find_magic(b: ptr8, start: int, stop: int, end: int) -> int:
    for i in range(start, stop):
        if b[i] == 0xA7 and (i + 1 == end or (b[i + 1] >= 0x10 and b[i + 1] <= 0x14)):
            return i
    return -1


@micropython.viper
def agreeing(b: ptr8, at: int, n: int, phase: int) -> int:
    for i in range(n):
        if b[at + i] != phase:
            return i
        phase += 1
        if phase == 251:
            phase = 0
    return n


@micropython.viper
def fill(b: ptr8, at: int, n: int, phase: int):
    for i in range(at, at + n):
        b[i] = phase
        phase += 1
        if phase == 251:
            phase = 0


@micropython.viper
def stream_agreeing(b: ptr8, at: int, n: int, number: int, skip: int) -> int:
    # A constant over 30 bits would be an object on a 32-bit board, so it is put together; what is above 32
    # bits on a 64-bit one never gets into a byte.
    high = 0x9E37
    step = (high << 16) | 0x79B1
    word = number * step
    shift = skip << 3
    for i in range(n):
        if b[at + i] != (word >> shift) & 0xFF:
            return i
        shift += 8
        if shift == 32:
            shift = 0
            word += step
    return n


@micropython.viper
def stream_fill(b: ptr8, at: int, n: int, number: int, skip: int):
    high = 0x9E37
    step = (high << 16) | 0x79B1
    word = number * step
    shift = skip << 3
    for i in range(at, at + n):
        b[i] = (word >> shift) & 0xFF
        shift += 8
        if shift == 32:
            shift = 0
            word += step


@micropython.viper
def move(b: ptr8, start: int, n: int):
    for i in range(n):
        b[i] = b[start + i]
