"""Headers, and the frames of a byte stream (docs/protocol.md, Resynchronisation)."""

import binascii
import struct

HELLO, EXCHANGE, SINK, SOURCE, MESSAGE = range(5)
OK = 0
LARGEST = 1 << 24
PATTERN = bytes(range(251)) * 9000


def pattern(sequence, length):
    """The payload of an EXCHANGE."""
    begin = sequence % 251
    whole = PATTERN if begin + length <= len(PATTERN) else PATTERN * (length // len(PATTERN) + 2)
    return whole[begin : begin + length]


def crc(data):
    return binascii.crc_hqx(data, 0xFFFF)


def is_message(payload):
    """Whether the payload of a MESSAGE ends with its check."""
    return len(payload) >= 2 and crc(payload[:-2]) == int.from_bytes(payload[-2:], "little")


def sealed(header):
    """The header with its check, whose field is zero before."""
    return header[:2] + struct.pack("<H", crc(header)) + header[4:]


def first_difference(one, other):
    """The first place where they differ; None if the shorter one is the beginning of the longer."""
    length = min(len(one), len(other))
    if one[:length] == other[:length]:
        return None
    return next(at for at in range(length) if one[at] != other[at])


class Header:
    """What a receiver needs to know of a header of either direction."""

    def __init__(self, data):
        self.magic, version_kind, _, self.sequence, self.payload, self.in_bytes = struct.unpack_from(
            "<BBHIII", data)
        self.kind = version_kind & 15
        self.size = {0xA7: 16, 0x7A: 32}[self.magic]
        self.frame = self.size + self.payload
        self.has_check = self.kind == MESSAGE and not (self.magic == 0x7A and self.payload == 0)


def header_at(data, at, magic, most):
    """The plausible header of a frame of at most `most` bytes at that place; None if there is none."""
    size = 16 if magic == 0xA7 else 32
    raw = bytes(data[at : at + size])
    if len(raw) < size or raw[0] != magic or not 0x10 <= raw[1] <= 0x14:
        return None
    if sealed(raw[:2] + b"\0\0" + raw[4:]) != raw:
        return None
    header = Header(raw)
    if magic == 0x7A:
        status = struct.unpack_from("<H", raw, 12)[0]
        if status > 4 or (status != OK and header.payload > 0):
            return None
    return header if header.frame <= min(most, LARGEST) else None


def seek(data, start, stop, magic, most):
    """The first place in [start, stop) where a header begins, and that header; None in its place if
    only its beginning has come. (None, None) if there is neither."""
    size = 16 if magic == 0xA7 else 32
    at = data.find(magic, start, stop)
    while at >= 0:
        header = header_at(data, at, magic, most)
        begun = len(data) - at < size and (len(data) - at < 2 or 0x10 <= data[at + 1] <= 0x14)
        if header or begun:
            return at, header
        at = data.find(magic, at + 1, stop)
    return None, None


def next_frame(data, magic, accepts, refuses):
    """(noise, frame): bytes to skip; then the frame (header, end of its payload, intact), counted
    from behind the noise, or None as long as more must come.

    Headers over `accepts` and up to `refuses` are found between frames: their end is that of the
    header."""
    noise, header = seek(data, 0, len(data), magic, refuses)
    if noise is None:
        return len(data), None
    if header is None:
        return noise, None
    data = data[noise:]
    if header.frame > accepts:
        return noise, (header, header.size, True)
    return noise, frame_in(data, header, magic, accepts)


def frame_in(data, header, magic, accepts):
    """The frame whose header begins the data; None as long as more must come."""
    start, end = header.size, header.frame
    there = min(end, len(data))
    whole = there == end
    if header.has_check:
        if not whole:
            return None
        if is_message(bytes(data[start:end])):
            return header, end, True
        search = start
    elif header.kind == EXCHANGE:
        expected = pattern(header.sequence, header.payload)
        wrong = first_difference(data[start:there], expected)
        if wrong is None:
            return (header, end, True) if whole else None
        search = start + max(0, wrong - 1)
    else:
        # Only headers wholly within count.
        last = min(end, len(data)) - header.size + 1
        at, _ = seek(data[:end], start, max(start, last), magic, accepts)
        if at is not None:
            return header, at, False
        return (header, end, True) if whole else None
    at, following = seek(data, search, there, magic, accepts)
    if at is not None and header.kind == EXCHANGE:
        # The payload's own last byte, which is right.
        at = None if data[at:there] == expected[at - start : there - start] else at
    if at is not None:
        return (header, at, False) if following else None
    return (header, end, False) if whole else None
