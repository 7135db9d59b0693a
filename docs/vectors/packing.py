"""Frames and streams, packed from the tables of docs/protocol.md with Python's standard library."""

import struct

HELLO, EXCHANGE, SINK, SOURCE, MESSAGE = range(5)
OK, VERSION, TOO_LARGE, UNSUPPORTED, UNPROVEN = range(5)
OUT_CORRUPTED = 1
MAX_FRAME = 16 * 1024 * 1024
START, END = 1, 2
STEP = 0x9E3779B1


def crc16(data):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ (0x1021 if crc & 0x8000 else 0)
            crc &= 0xFFFF
    return crc


def sealed(header):
    """The header with its check, for which the check field counts as zero."""
    assert header[2:4] == b"\0\0"
    return header[:2] + struct.pack("<H", crc16(header)) + header[4:]


def request_header(kind, sequence, out_payload, in_bytes, version=1, magic=0xA7):
    fields = (magic, version << 4 | kind, 0, sequence, out_payload, in_bytes)
    return sealed(struct.pack("<BBHIII", *fields))


def response_header(
    kind, sequence, in_payload, status=OK, flags=0, rx=0, tx=0, version=1, magic=0x7A
):
    fields = (magic, version << 4 | kind, 0, sequence, in_payload, status, flags, rx, tx)
    return sealed(struct.pack("<BBHIIHHQQ", *fields))


def pattern(sequence, length):
    return bytes((sequence + index) % 251 for index in range(length))


def request(sequence, out_bytes, in_bytes=48):
    """A whole EXCHANGE request frame of `out_bytes`."""
    length = out_bytes - 16
    return request_header(EXCHANGE, sequence, length, in_bytes) + pattern(sequence, length)


def response(sequence, in_bytes, **fields):
    """A whole EXCHANGE response frame of `in_bytes`."""
    length = in_bytes - 32
    return response_header(EXCHANGE, sequence, length, **fields) + pattern(sequence, length)


def checked(text):
    """The payload of a MESSAGE: a program's bytes and their check."""
    return text + struct.pack("<H", crc16(text))


def message(sequence, text, in_bytes=48):
    """A whole MESSAGE request frame."""
    payload = checked(text)
    return request_header(MESSAGE, sequence, len(payload), in_bytes) + payload


def reply(sequence, text, **fields):
    """A whole MESSAGE response frame."""
    payload = checked(text)
    return response_header(MESSAGE, sequence, len(payload), **fields) + payload


def hello_request(sequence, token=bytes(8)):
    return request_header(HELLO, sequence, 88, 104) + token + bytes(80)


def hello_payload(reply):
    name = reply["name"].encode()
    assert len(name) <= 32
    return struct.pack(
        "<BBBBIIIIIQ32s8s",
        reply["min_version"],
        reply["max_version"],
        reply["tick_bits"],
        reply["bus"],
        reply["abilities"],
        reply["max_out"],
        reply["max_in"],
        reply["max_outstanding"],
        0,
        reply["tick_hz"],
        name,
        bytes.fromhex(reply["token"]),
    )


def without(data, at, count=1):
    return data[:at] + data[at + count :]


def inserted(data, at, extra):
    return data[:at] + extra + data[at:]


def flipped(data, at, bits=1):
    return data[:at] + bytes([data[at] ^ bits]) + data[at + 1 :]


def words(position, length):
    """Bytes of a SINK or SOURCE stream."""
    return bytes(
        (index // 4 * STEP % 2**32) >> 8 * (index % 4) & 0xFF
        for index in range(position, position + length)
    )


def order(verb, transfer_bytes, stop_after):
    return struct.pack("<BBBBIQ", verb, 0, 0, 0, transfer_bytes, stop_after)
