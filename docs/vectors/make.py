#!/usr/bin/env python3
"""Writes v1.json, the test vectors of docs/protocol.md, with nothing but Python's standard library.

It shares no code with any implementation under test: the frames are packed here from the tables in
the specification, and what a receiver must find in a stream is written down by hand beside the
stream, not computed by a parser.

    python3 docs/vectors/make.py            # writes v1.json beside this file
    python3 docs/vectors/make.py --check    # fails if v1.json is not what would be written
"""

import json
import pathlib
import struct
import sys

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


def check_cases():
    texts = (b"", b"\0", b"123456789", bytes(range(32)))
    return [{"bytes": text.hex(), "crc": crc16(text)} for text in texts]


def pattern_cases():
    wholes = [
        {"sequence": sequence, "index": 0, "bytes": pattern(sequence, length).hex()}
        for sequence, length in ((0, 4), (249, 5), (251, 3), (1, 300), (2**32 - 1, 10))
    ]
    # Single bytes far into long payloads.
    singles = [
        {"sequence": sequence, "index": index, "bytes": f"{(sequence + index) % 251:02x}"}
        for sequence, index in (
            (0, 8_031),
            (7, 8_032),
            (250, 8_283),
            (3, 65_535),
            (2**32 - 1, 1_000_000),
            (2**32 - 1, MAX_FRAME - 17),
        )
    ]
    return wholes + singles


def request_cases():
    cases = []
    for name, kind, sequence, out_payload, in_bytes in (
        ("smallest exchange: --out 16 --in 32", EXCHANGE, 0, 0, 32),
        ("--out 16 --in 48", EXCHANGE, 1, 0, 48),
        ("every byte of every field differs", EXCHANGE, 0x04030201, 0x00070605, 0x00E0A908),
        ("highest sequence number", EXCHANGE, 2**32 - 1, 84, 100),
        ("largest frames", EXCHANGE, 5, MAX_FRAME - 16, MAX_FRAME),
        ("a wish for too much is a true header", EXCHANGE, 6, 0, 2**32 - 1),
        ("hello", HELLO, 9, 88, 104),
        ("sink: an order", SINK, 10, 16, 32),
        ("source: the order that ends it", SOURCE, 11, 16, 104),
        ("message: ten bytes that ask for four", MESSAGE, 12, 12, 38),
    ):
        cases.append(
            {
                "name": name,
                "kind": kind,
                "sequence": sequence,
                "out_payload": out_payload,
                "in_bytes": in_bytes,
                "header": request_header(kind, sequence, out_payload, in_bytes).hex(),
            }
        )
    return cases


def response_cases():
    cases = []
    # Ticks above 2^53 are chosen so that readers that keep numbers as doubles get them exactly.
    for name, kind, sequence, in_payload, status, flags, rx, tx in (
        ("smallest response", EXCHANGE, 0, 0, OK, 0, 0, 0),
        ("--in 48", EXCHANGE, 1, 16, OK, 0, 1_000, 1_250),
        ("every byte differs", EXCHANGE, 0x04030201, 0x00070605, OK, 0xBBAA,
         0x0017161514131211, 0x001F262524232221),
        ("highest bits of the ticks", EXCHANGE, 3, 8, OK, 0, 1 << 63, 0xFF << 56),
        ("request arrived corrupted", EXCHANGE, 4, 68, OK, OUT_CORRUPTED, 77, 99),
        ("largest frame", EXCHANGE, 5, MAX_FRAME - 32, OK, 0, 0, 0),
        ("hello", HELLO, 9, 72, OK, 0, 5, 6),
        ("version not spoken", HELLO, 12, 0, VERSION, 0, 0, 0),
        ("too large", EXCHANGE, 13, 0, TOO_LARGE, 0, 1, 2),
        ("sink not supported", SINK, 14, 0, UNSUPPORTED, 0, 1, 2),
        ("source not supported", SOURCE, 15, 0, UNSUPPORTED, 0, 1, 2),
        ("address not proven", EXCHANGE, 16, 0, UNPROVEN, 0, 1, 2),
        ("message: four bytes", MESSAGE, 17, 6, OK, 0, 1, 2),
        ("message: the request arrived damaged", MESSAGE, 18, 0, OK, OUT_CORRUPTED, 1, 2),
        ("message not supported", MESSAGE, 19, 0, UNSUPPORTED, 0, 1, 2),
    ):
        header = response_header(kind, sequence, in_payload, status, flags, rx, tx)
        cases.append(
            {
                "name": name,
                "kind": kind,
                "sequence": sequence,
                "in_payload": in_payload,
                "status": status,
                "flags": flags,
                "rx_ticks": rx,
                "tx_ticks": tx,
                "header": header.hex(),
            }
        )
    return cases


def hello_request_cases():
    return [
        {
            "name": name,
            "sequence": sequence,
            "token": token.hex(),
            "frame": hello_request(sequence, token).hex(),
        }
        for name, sequence, token in (
            ("first contact", 0, bytes(8)),
            ("the token sent back", 1, bytes.fromhex("0123456789abcdef")),
        )
    ]


def hello_reply_cases():
    replies = (
        (
            "a responder on a computer",
            dict(min_version=1, max_version=1, tick_bits=64, bus=0, abilities=0b111111,
                 max_out=MAX_FRAME, max_in=MAX_FRAME, max_outstanding=0, tick_hz=1_000_000_000,
                 name="wiregauge serve", token="fedcba9876543210"),
        ),
        (
            "a full-speed board with a clock of 32 bits",
            dict(min_version=1, max_version=1, tick_bits=32, bus=2, abilities=0b11001,
                 max_out=2048, max_in=8192, max_outstanding=4, tick_hz=168_000_000,
                 name="board, full speed", token="0000000000000000"),
        ),
        (
            "the least a board can say",
            dict(min_version=1, max_version=1, tick_bits=0, bus=0, abilities=1, max_out=104,
                 max_in=104, max_outstanding=1, tick_hz=0, name="", token="0000000000000000"),
        ),
        (
            "a name that fills its field, every byte differs",
            dict(min_version=1, max_version=2, tick_bits=48, bus=4, abilities=0x14131211,
                 max_out=0x18171615, max_in=0x1C1B1A19, max_outstanding=0x201F1E1D,
                 tick_hz=0x0008272625242322, name="Meßgerät mit Name von 32 Bytes",
                 token="3132333435363738"),
        ),
    )
    cases = []
    for number, (name, reply) in enumerate(replies):
        payload = hello_payload(reply)
        frame = response_header(HELLO, number, len(payload)) + payload
        cases.append({"case": name, "sequence": number, **reply, "frame": frame.hex()})
    return cases


def invalid_cases():
    good_request = request_header(EXCHANGE, 7, 4, 48)
    good_response = response_header(EXCHANGE, 7, 16)
    cases = [
        ("nothing", "request", b"", "short", None),
        ("one byte short", "request", good_request[:15], "short", None),
        ("a response's magic", "request", request_header(EXCHANGE, 7, 4, 48, magic=0x7A), "magic",
         None),
        ("magic is looked at before the check", "request", flipped(good_request, 0), "magic", None),
        ("a bit of the sequence flipped", "request", flipped(good_request, 4), "check", None),
        ("a bit of the check flipped", "request", flipped(good_request, 2), "check", None),
        ("a bit of the kind flipped", "request", flipped(good_request, 1), "check", None),
        ("check in big-endian", "request",
         good_request[:2] + good_request[3:1:-1] + good_request[4:], "check", None),
        ("check over a check field of ones", "request",
         good_request[:2]
         + struct.pack("<H", crc16(good_request[:2] + b"\xff\xff" + good_request[4:]))
         + good_request[4:], "check", None),
        ("version 0", "request", request_header(EXCHANGE, 7, 4, 48, version=0), "version", 0),
        ("version 2", "request", request_header(EXCHANGE, 7, 4, 48, version=2), "version", 2),
        ("version is looked at before the kind", "request",
         request_header(15, 7, 4, 48, version=15), "version", 15),
        ("kind 5", "request", request_header(5, 7, 4, 48), "kind", 5),
        ("kind 15", "request", request_header(15, 7, 4, 48), "kind", 15),
        ("one byte over the largest frame", "request",
         request_header(EXCHANGE, 7, MAX_FRAME - 15, 48), "length", MAX_FRAME - 15),
        ("longest length", "request", request_header(EXCHANGE, 7, 2**32 - 1, 48), "length",
         2**32 - 1),
        ("one byte short", "response", good_response[:31], "short", None),
        ("a request's magic", "response", response_header(EXCHANGE, 7, 16, magic=0xA7), "magic",
         None),
        ("a bit of the last tick flipped", "response", flipped(good_response, 31, 0x80), "check",
         None),
        ("version 2", "response", response_header(EXCHANGE, 7, 16, version=2), "version", 2),
        ("kind 5", "response", response_header(5, 7, 16), "kind", 5),
        ("status 5", "response", response_header(EXCHANGE, 7, 0, status=5), "status", 5),
        ("status is looked at before the length", "response",
         response_header(EXCHANGE, 7, 2**32 - 1, status=0xFFFF), "status", 0xFFFF),
        ("one byte over the largest frame", "response",
         response_header(EXCHANGE, 7, MAX_FRAME - 31), "length", MAX_FRAME - 31),
        ("a refusal with a payload", "response",
         response_header(EXCHANGE, 7, 1, status=TOO_LARGE), "length", 1),
    ]
    return [
        {"name": name, "of": of, "header": header.hex(), "error": error, "number": number}
        for name, of, header, error, number in cases
    ]


def stream_cases():
    """(name, direction, max_frame, bytes, frames, left).

    A frame is (sequence, intact, skipped, payload): bytes skipped since the frame before, and bytes
    of payload that the frame was found with. `left` is what stays in the buffer at the end, because
    more bytes may make a frame of it.
    """
    a, b, c = request(10, 48), request(11, 16), request(12, 300)
    r, s, t = response(20, 100), response(21, 32), response(22, 333)
    whole = [(10, True, 0, 32), (11, True, 0, 0), (12, True, 0, 284)]
    wholes = [(20, True, 0, 68), (21, True, 0, 0), (22, True, 0, 301)]
    limit = 4096
    # A lost byte puts the next frame's first byte, 0xA7, where the pattern expects 0xA7 as well.
    same = request(167 - 3, 16 + 4)
    m, n = message(30, b"set the valve to 17"), message(31, b"")
    # A program may send frames in frames.
    relay = message(32, a + m + b)
    told, less, refusal = reply(30, b"17.25 mbar"), reply(31, b""), response_header(MESSAGE, 32, 0)
    ends_as_header = message(33, b"the last byte is \xa7")
    assert ends_as_header[-3] == 0xA7
    torn = flipped(ends_as_header[:-2], 20)
    return [
        ("three requests", "request", limit, a + b + c, whole, 0),
        ("three responses", "response", limit, r + s + t, wholes, 0),
        ("hello, then exchanges", "request", limit, hello_request(9) + a,
         [(9, True, 0, 88), (10, True, 0, 32)], 0),
        ("noise before a frame", "request", limit, b"\0\xff\xa7\x11\xa7noise" + a,
         [(10, True, 10, 32)], 0),
        ("noise between frames", "response", limit, r + b"\x7a\x11" + bytes(40) + s,
         [(20, True, 0, 68), (21, True, 42, 0)], 0),
        ("only noise", "request", limit, bytes(range(200)), [], 0),
        ("noise whose last byte may begin a header", "request", limit, b"noise\xa7", [], 1),
        ("noise whose last bytes may begin a header", "request", limit, b"noise\xa7\x11", [], 2),
        ("half a header", "request", limit, a[:9], [], 9),
        ("a payload that has not all arrived", "request", limit, a[:-1], [], 47),
        ("the first byte of the second frame lost", "request", limit, a + without(b, 0) + c,
         [(10, True, 0, 32), (12, True, 15, 284)], 0),
        ("a byte of a header lost", "request", limit, without(a, 7) + b + c,
         [(11, True, 47, 0), (12, True, 0, 284)], 0),
        ("a byte of a payload lost", "request", limit, without(a, 30) + b + c,
         [(10, False, 0, 31), *whole[1:]], 0),
        ("the last byte of a payload lost", "request", limit, without(a, 47) + b + c,
         [(10, False, 0, 31), *whole[1:]], 0),
        ("the first byte of a payload lost", "response", limit, without(r, 32) + s + t,
         [(20, False, 0, 67), *wholes[1:]], 0),
        ("a packet of 64 bytes lost within a payload", "response", limit,
         without(t, 64, 64) + r, [(22, False, 0, 301 - 64), (20, True, 0, 68)], 0),
        # 4 bytes of a's payload, then what is left of c's: nothing tells where a ends.
        ("a packet of 64 bytes lost across two frames", "request", limit,
         without(a + c, 20, 64) + b, [(10, False, 0, 32), (11, True, 236, 0)], 0),
        ("the whole payload lost", "request", limit, c[:16] + a, [(12, False, 0, 0),
         (10, True, 0, 32)], 0),
        ("several small frames within the hole of a large one", "request", limit,
         c[:20] + a + b + a, [(12, False, 0, 4), (10, True, 0, 32), (11, True, 0, 0),
         (10, True, 0, 32)], 0),
        ("a large frame broken off, then the next request", "request", limit, c[:100] + a,
         [(12, False, 0, 84), (10, True, 0, 32)], 0),
        ("a byte inserted in a header", "request", limit, inserted(a, 5, b"\x55") + b,
         [(11, True, 49, 0)], 0),
        ("a byte inserted in a payload", "request", limit, inserted(a, 20, b"\x55") + b,
         [(10, False, 0, 32), (11, True, 1, 0)], 0),
        ("a magic byte inserted before a frame", "request", limit, b"\xa7" + a + b,
         [(10, True, 1, 32), (11, True, 0, 0)], 0),
        ("a bit of a payload flipped", "response", limit, flipped(r, 50) + s,
         [(20, False, 0, 68), (21, True, 0, 0)], 0),
        ("a bit of a header flipped", "response", limit, flipped(r, 9) + s,
         [(21, True, 100, 0)], 0),
        ("the last byte of a payload replaced by the magic byte", "request", limit,
         a[:-1] + b"\xa7" + b, [(10, False, 0, 32), (11, True, 0, 0)], 0),
        ("the same with nothing behind it: it may be the next header", "request", limit,
         a[:-1] + b"\xa7", [], 48),
        ("the next magic byte stands in for the one lost", "request", limit,
         same[:-1] + b + a, [(164, True, 0, 4), (10, True, 15, 32)], 0),
        ("a damaged payload keeps a last byte that is right, a header or not", "request", limit,
         flipped(same, 16)[:-1] + b + a, [(164, False, 0, 4), (10, True, 15, 32)], 0),
        ("a header within a hello", "request", limit, hello_request(9)[:40] + a + b,
         [(9, False, 0, 24), (10, True, 0, 32), (11, True, 0, 0)], 0),
        ("a hello that lost a byte takes the next frame's first", "request", limit,
         without(hello_request(9), 30) + a + c, [(9, True, 0, 88), (12, True, 47, 284)], 0),
        ("a frame over the receiver's limit is noise", "request", 299, c + a,
         [(10, True, 300, 32)], 0),
        ("a frame at the receiver's limit", "request", 300, c + a, [(12, True, 0, 284),
         (10, True, 0, 32)], 0),
        ("a header of another version is noise", "request", limit,
         request_header(EXCHANGE, 1, 0, 48, version=2) + a, [(10, True, 16, 32)], 0),
        ("a request among responses is noise", "response", limit, a + s, [(21, True, 48, 0)], 0),
        ("sequence numbers wrap", "request", limit, request(2**32 - 1, 116) + request(0, 116),
         [(2**32 - 1, True, 0, 100), (0, True, 0, 100)], 0),
        ("messages", "request", limit, m + n + a, [(30, True, 0, 21), (31, True, 0, 2),
         (10, True, 0, 32)], 0),
        ("their replies, and one without a payload", "response", limit,
         told + less + refusal + s, [(30, True, 0, 12), (31, True, 0, 2), (32, True, 0, 0),
         (21, True, 0, 0)], 0),
        ("frames within a message are the program's", "request", limit, relay + b,
         [(32, True, 0, len(relay) - 16), (11, True, 0, 0)], 0),
        ("a message is waited for, whatever it holds", "request", limit, relay[:-1], [],
         len(relay) - 1),
        ("a bit of a message flipped", "request", limit, flipped(m, 20) + n,
         [(30, False, 0, 21), (31, True, 0, 2)], 0),
        ("a bit of its check flipped", "response", limit, flipped(told, len(told) - 1) + s,
         [(30, False, 0, 12), (21, True, 0, 0)], 0),
        ("a byte of a message lost", "request", limit, without(m, 20) + n + a,
         [(30, False, 0, 20), (31, True, 0, 2), (10, True, 0, 32)], 0),
        ("two bytes of a reply lost, and nothing comes behind it", "response", limit,
         without(told, 40, 2), [], len(told) - 2),
        ("a message that lost a packet swallows what follows until it is whole", "request", limit,
         without(message(34, bytes(300)), 100, 64) + n + a + b,
         [(34, False, 0, 302 - 64), (31, True, 0, 2), (10, True, 0, 32), (11, True, 0, 0)], 0),
        ("a damaged message that ends like a header has begun", "request", limit,
         torn + b"\x00\xa7", [], len(torn) + 2),
        ("the same, and it was none", "request", limit, torn + b"\x00\xa7" + b,
         [(33, False, 0, 20), (11, True, 0, 0)], 0),
        ("a message without room for a check", "request", limit,
         request_header(MESSAGE, 35, 1, 48) + b"x" + a, [(35, False, 0, 1), (10, True, 0, 32)], 0),
        ("a refusal has no payload", "response", limit,
         response_header(EXCHANGE, 30, 0, status=TOO_LARGE) + s,
         [(30, True, 0, 0), (21, True, 0, 0)], 0),
    ]


def streams():
    return [
        {
            "name": name,
            "of": of,
            "max_frame": max_frame,
            "bytes": data.hex(),
            "frames": [
                {"sequence": sequence, "intact": intact, "skipped": skipped, "payload": payload}
                for sequence, intact, skipped, payload in frames
            ],
            "left": left,
        }
        for name, of, max_frame, data, frames, left in stream_cases()
    ]


def words(position, length):
    """Bytes of a SINK or SOURCE stream."""
    return bytes(
        (index // 4 * STEP % 2**32) >> 8 * (index % 4) & 0xFF
        for index in range(position, position + length)
    )


def stream_pattern_cases():
    places = ((0, 16), (1, 11), (6, 7), (1000, 64), (4095, 3), (2**32 - 2, 8), (2**34 - 5, 12),
              (2**34 + 4, 4), (2**40 + 3, 6))
    return [
        {"position": position, "bytes": words(position, length).hex()}
        for position, length in places
    ]


def order(verb, transfer_bytes, stop_after):
    return struct.pack("<BBBBIQ", verb, 0, 0, 0, transfer_bytes, stop_after)


def stream_order_cases():
    return [
        {
            "name": name,
            "verb": verb,
            "transfer_bytes": transfer_bytes,
            "stop_after": stop_after,
            "payload": order(verb, transfer_bytes, stop_after).hex(),
        }
        for name, verb, transfer_bytes, stop_after in (
            ("start, until told to end", START, 65_536, 0),
            ("start, for so many bytes", START, 512, 1_000_000),
            ("end", END, 0, 0),
            ("every byte of every field differs", START, 0x04030201, 0x000C0B0A09080706),
        )
    ]


def stream_report_cases():
    fields = ("bytes", "lost", "duplicated", "corrupted", "stray", "transfers", "overruns",
              "first_ticks", "last_ticks")
    return [
        {
            "name": name,
            **dict(zip(fields, values)),
            "payload": struct.pack("<9Q", *values).hex(),
        }
        for name, values in (
            ("nothing was streamed", (0,) * 9),
            ("a source", (1_000_000, 0, 0, 0, 0, 1954, 0, 5_000, 905_000)),
            ("a sink that saw all that can happen",
             (999_000, 1_500, 512, 3, 8, 1950, 2, 1 << 40, (1 << 40) + 77)),
        )
    ]


def stream_check_cases():
    """(name, direction, bytes, counts, frames).

    The counts are received, lost, duplicated, corrupted and stray; a frame is (sequence, place): the
    bytes before it. All is written down by hand.
    """
    s = words(0, 2000)
    ask = request_header(SINK, 70, 16, 104) + order(END, 0, 0)
    told = response_header(SINK, 71, 0)
    # 72 bytes of payload, which the receiver of frames takes, not the check.
    report = response_header(SINK, 72, 72) + bytes(72)
    foreign = bytes([0x55] * 40)
    magic = s.index(0x7A, 100)
    return [
        ("nothing", "response", b"", (0, 0, 0, 0, 0), []),
        ("all is right", "response", s, (2000, 0, 0, 0, 0), []),
        ("a part of a word at the end", "response", s[:1001], (1001, 0, 0, 0, 0), []),
        ("the first bytes lost", "response", s[10:], (1990, 10, 0, 0, 0), []),
        ("one byte lost", "response", without(s, 501), (1999, 1, 0, 0, 0), []),
        ("a packet of 64 bytes lost", "response", without(s, 512, 64), (1936, 64, 0, 0, 0), []),
        ("1001 bytes lost", "response", without(s, 99, 1001), (999, 1001, 0, 0, 0), []),
        ("two losses, eight bytes apart", "response", s[:100] + s[200:208] + s[300:],
         (1808, 192, 0, 0, 0), []),
        ("two losses, seven bytes apart: these cannot be placed", "response",
         s[:100] + s[201:208] + s[300:], (1807, 200, 0, 0, 7), []),
        ("a packet twice", "response", s[:576] + s[512:], (2064, 0, 64, 0, 0), []),
        ("three bytes twice", "response", s[:603] + s[600:], (2003, 0, 3, 0, 0), []),
        ("a packet late", "response", s[:512] + s[576:640] + s[512:576] + s[640:],
         (2000, 64, 64, 0, 0), []),
        ("a bit flipped", "response", flipped(s, 700), (2000, 0, 0, 1, 0), []),
        ("two bits of neighbouring words flipped", "response", flipped(flipped(s, 700), 706, 0x80),
         (2000, 0, 0, 2, 0), []),
        ("a stretch overwritten, longer than a header", "response",
         s[:800] + bytes(byte ^ 0xFF for byte in s[800:900]) + s[900:], (2000, 0, 0, 100, 0), []),
        ("bytes inserted", "response", inserted(s, 300, foreign), (2040, 0, 0, 0, 40), []),
        ("a bit flipped in a byte that came again", "response",
         s[:576] + flipped(s[512:576], 9) + s[576:], (2064, 0, 64, 0, 0), []),
        ("eight right bytes behind a loss place it", "response", s[:100] + s[150:158],
         (108, 50, 0, 0, 0), []),
        ("seven do not", "response", s[:100] + s[150:157], (107, 0, 0, 0, 7), []),
        ("far away, twelve are needed", "response",
         s[:100] + words(2**30, 12), (112, 2**30 - 100, 0, 0, 0), []),
        ("eleven are not enough there", "response", s[:100] + words(2**30, 11),
         (111, 0, 0, 0, 11), []),
        ("before the first byte is nothing", "response", words(2**34 - 8, 8), (8, 0, 0, 0, 8), []),
        ("only foreign bytes", "response", foreign, (40, 0, 0, 0, 40), []),
        ("the order that ends it", "request", s[:640] + ask[:16], (640, 0, 0, 0, 0), [(70, 640)]),
        ("an answer between two transfers", "response", s[:512] + told + s[512:],
         (2000, 0, 0, 0, 0), [(71, 512)]),
        ("an answer with a payload", "response", s[:512] + report + s[512:], (2000, 0, 0, 0, 0),
         [(72, 512)]),
        ("an answer within a word", "response", s[:513] + told + s[513:], (2000, 0, 0, 0, 0),
         [(71, 513)]),
        ("two answers in a row", "response", s[:512] + told + report + s[512:],
         (2000, 0, 0, 0, 0), [(71, 512), (72, 544)]),
        ("an answer whose first byte the stream has there, too", "response",
         s[:magic] + told + s[magic:], (2000, 0, 0, 0, 0), [(71, magic)]),
        ("an answer first", "response", told + s, (2000, 0, 0, 0, 0), [(71, 0)]),
        ("an answer in place of lost bytes", "response", s[:512] + told + s[576:],
         (1936, 64, 0, 0, 0), [(71, 512)]),
        ("a changed byte, an answer, and the stream in its place", "response",
         flipped(s[:512], 511) + told + s[512:], (2000, 0, 0, 1, 0), [(71, 512)]),
        ("foreign bytes, an answer, and the stream in its place", "response",
         s[:512] + foreign + told + s[512:], (2040, 0, 0, 0, 40), [(71, 552)]),
        ("a damaged answer is foreign", "response", s[:512] + flipped(told, 20) + s[512:],
         (2032, 0, 0, 0, 32), []),
        ("a request is none of the answers", "response", s[:512] + ask[:16] + s[512:],
         (2016, 0, 0, 0, 16), []),
        ("a header of a frame over 512 bytes is foreign", "response",
         s[:512] + response_header(EXCHANGE, 3, 481) + s[512:], (2032, 0, 0, 0, 32), []),
    ]


def stream_checks():
    counts = ("received", "lost", "duplicated", "corrupted", "stray")
    return [
        {
            "name": name,
            "of": of,
            "bytes": data.hex(),
            **dict(zip(counts, values)),
            "frames": [{"sequence": sequence, "place": place} for sequence, place in frames],
        }
        for name, of, data, values, frames in stream_check_cases()
    ]


def main():
    vectors = {
        "protocol": "wiregauge",
        "version": 1,
        "check": check_cases(),
        "pattern": pattern_cases(),
        "requests": request_cases(),
        "responses": response_cases(),
        "hello_requests": hello_request_cases(),
        "hello_replies": hello_reply_cases(),
        "invalid": invalid_cases(),
        "streams": streams(),
        "stream_pattern": stream_pattern_cases(),
        "stream_orders": stream_order_cases(),
        "stream_reports": stream_report_cases(),
        "stream_checks": stream_checks(),
    }
    text = json.dumps(vectors, indent=1, ensure_ascii=True) + "\n"
    path = pathlib.Path(__file__).with_name("v1.json")
    if "--check" in sys.argv[1:]:
        sys.exit(0 if path.read_text() == text else f"{path} is not what make.py writes")
    path.write_text(text)


if __name__ == "__main__":
    main()
