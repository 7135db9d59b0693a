#!/usr/bin/env python3
"""Writes v1.json, the test vectors of docs/protocol.md, with nothing but Python's standard library.

It shares no code with any implementation under test: the frames are packed from the tables in the
specification (packing.py), and what a receiver must find in a stream is written down by hand beside
the stream, not computed by a parser (frame_cases.py, frame_edges.py, sink_cases.py, sink_edges.py,
answer_cases.py).

    python3 docs/vectors/make.py            # writes v1.json beside this file
    python3 docs/vectors/make.py --check    # fails if v1.json is not what would be written
"""

import json
import pathlib
import struct
import sys

from answer_cases import answer_cases
from frame_cases import frame_cases
from frame_edges import frame_edges
from packing import (
    END,
    EXCHANGE,
    HELLO,
    MAX_FRAME,
    MESSAGE,
    OK,
    OUT_CORRUPTED,
    SINK,
    SOURCE,
    START,
    TOO_LARGE,
    UNPROVEN,
    UNSUPPORTED,
    VERSION,
    crc16,
    flipped,
    hello_payload,
    hello_request,
    order,
    pattern,
    request_header,
    response_header,
    words,
)
from sink_cases import sink_cases
from sink_edges import sink_edges


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
        for name, of, max_frame, data, frames, left in frame_cases() + frame_edges()
    ]


def stream_pattern_cases():
    places = ((0, 16), (1, 11), (6, 7), (1000, 64), (4095, 3), (2**32 - 2, 8), (2**34 - 5, 12),
              (2**34 + 4, 4), (2**40 + 3, 6))
    return [
        {"position": position, "bytes": words(position, length).hex()}
        for position, length in places
    ]


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


def bus_count_cases():
    fields = ("packets", "naks", "packets_ns", "naks_ns", "others_ns", "not_ready_ns",
              "elapsed_ns")
    return [
        {"name": name, **dict(zip(fields, values)), "payload": struct.pack("<7Q", *values).hex()}
        for name, values in (
            ("no packet was carried", (0,) * 7),
            ("a device that was not ready at first",
             (19_000, 1_404, 974_719_000, 12_636_000, 9_334, 20_800_000, 1_000_000_000)),
            ("every byte of a field differs", (0x0807060504030201, 1, 2, 3, 4, 5, 6)),
        )
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
        for name, of, data, values, frames in sink_cases() + sink_edges()
    ]


def answers():
    fields = ("kind", "sequence", "status", "flags", "in_payload")
    return [
        {
            "name": name,
            "over": over,
            "max_frame": max_frame,
            "asked": [part.hex() for part in asked],
            "answers": [
                {**dict(zip(fields, answer)), **({"counts": counts[0]} if counts else {})}
                for answer, *counts in answered
            ],
        }
        for name, over, max_frame, asked, answered in answer_cases()
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
        "bus_counts": bus_count_cases(),
        "stream_checks": stream_checks(),
        "answers": answers(),
    }
    text = json.dumps(vectors, indent=1, ensure_ascii=True) + "\n"
    path = pathlib.Path(__file__).with_name("v1.json")
    if "--check" in sys.argv[1:]:
        sys.exit(0 if path.read_text() == text else f"{path} is not what make.py writes")
    path.write_text(text)


if __name__ == "__main__":
    main()
