#!/usr/bin/env python3
"""Holds the responder that was written from docs/protocol.md alone to v1.json.

    python3 docs/vectors/responder/check.py
"""

import json
import pathlib
import struct

from frames import SINK, next_frame
from serve import Responder
from streams import Sink

PIECES = (1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 64, 251)
MAGIC = {"request": 0xA7, "response": 0x7A}


def vectors(name):
    """The cases of a list."""
    path = pathlib.Path(__file__).parent.parent / "v1.json"
    return json.loads(path.read_text())[name]


def in_pieces(data):
    """The bytes, cut in several ways."""
    for piece in (*PIECES, max(1, len(data))):
        yield [data[at : at + piece] for at in range(0, len(data), piece)]


def same(found, expected, name):
    """Stops at the first difference."""
    assert found == expected, f"{name}: {found} instead of {expected}"


def frames_of(pieces, magic, max_frame):
    """What a receiver finds, and how many bytes it keeps for more."""
    data, frames, skipped = bytearray(), [], 0
    for piece in pieces:
        data += piece
        while data:
            noise, frame = next_frame(data, magic, max_frame, max_frame)
            skipped += noise
            del data[:noise]
            if not frame:
                break
            header, end, intact = frame
            frames.append({"sequence": header.sequence, "intact": intact, "skipped": skipped,
                           "payload": end - header.size})
            skipped = 0
            del data[:end]
    return frames, len(data)


def stream_of(pieces, magic):
    """What a sink counts, and the frames within."""
    sink, frames, place, payload = Sink(magic), [], 0, 0
    for piece in pieces:
        while piece:
            skipped = min(payload, len(piece))
            used, header = sink.take(piece[skipped:])
            payload -= skipped
            place += skipped + used
            piece = piece[skipped + used :]
            if header:
                frames.append({"sequence": header.sequence, "place": place - header.size})
                payload = header.payload
    sink.finish()
    return sink.counts(), frames


def answers_of(pieces, max_frame):
    """What is answered, as the vectors have it."""
    device = Responder(max_frame)
    said, found = b"".join(device.take(piece) for piece in pieces), []
    while said:
        _, kind, _, sequence, in_payload, status, flags = struct.unpack_from("<BBHIIHH", said)
        answer = {"kind": kind & 15, "sequence": sequence, "status": status, "flags": flags,
                  "in_payload": in_payload}
        if kind & 15 == SINK and in_payload:
            answer["counts"] = list(struct.unpack_from("<5Q", said, 32))
        found.append(answer)
        said = said[32 + in_payload :]
    return found


def main():
    ran = 0
    for case in vectors("streams"):
        for pieces in in_pieces(bytes.fromhex(case["bytes"])):
            found = frames_of(pieces, MAGIC[case["of"]], case["max_frame"])
            same(found, (case["frames"], case["left"]), case["name"])
        ran += 1
    for case in vectors("stream_checks"):
        counts = [case[name] for name in ("received", "lost", "duplicated", "corrupted", "stray")]
        for pieces in in_pieces(bytes.fromhex(case["bytes"])):
            same(stream_of(pieces, MAGIC[case["of"]]), (counts, case["frames"]), case["name"])
        ran += 1
    for case in vectors("answers"):
        if case["over"] == "stream":
            for pieces in in_pieces(bytes.fromhex(case["asked"][0])):
                same(answers_of(pieces, case["max_frame"]), case["answers"], case["name"])
            ran += 1
    print(f"{ran} vectors")


if __name__ == "__main__":
    main()
