# Holds firmware/micropython to docs/vectors/v1.json; runs on MicroPython and on CPython, so that it uses what
# both have.
#
#   micropython micropython_vectors.py PLACE VECTORS wg_native|wg_plain

import json
import sys

sys.path.insert(0, sys.argv[1])
if sys.argv[3] == "wg_plain":
    import wg_plain

    sys.modules["wg_loops"] = wg_plain
else:
    import wg_native  # noqa: F401 - so that plain ones are not taken in their place

import wg_frames
import wg_loops
import wg_responder
import wg_streams
import wg_udp

with open(sys.argv[2]) as file:
    vectors = json.load(file)
ran = 0


def bytes_of(text):
    """Hexadecimal digits as bytes that can be written to."""
    return bytearray(int(text[i : i + 2], 16) for i in range(0, len(text), 2))


def same(got, expected, where):
    """Stops at the first difference."""
    assert got == expected, "{}: {} instead of {}".format(where, got, expected)


def of_requests(name):
    """The cases of a list that concern a device."""
    global ran
    cases = [case for case in vectors[name] if case.get("of") != "response"]
    ran += len(cases)
    return cases


for case in of_requests("check"):
    text = bytes_of(case["bytes"])
    same(wg_loops.crc16(text, 0, len(text)), case["crc"], "check")

for case in of_requests("pattern"):
    expected = bytes_of(case["bytes"])
    n, phase = len(expected), (case["sequence"] + case["index"]) % 251
    made = bytearray(n + 2)
    wg_loops.fill(made, 1, n, phase)
    same(made[1:-1], expected, "pattern")
    same((made[0], made[-1]), (0, 0), "around the pattern")
    same(wg_loops.agreeing(made, 1, n, phase), n, "pattern compared")
    for wrong in range(n):
        made[1 + wrong] ^= 1
        same(wg_loops.agreeing(made, 1, n, phase), wrong, "wrong byte of the pattern")
        made[1 + wrong] ^= 1

for case in of_requests("requests"):
    header = bytes_of(case["header"])
    assert wg_frames.is_header(header, 0, len(header), wg_frames.LARGEST), case["name"]
    same(header[1] & 0x0F, case["kind"], case["name"])
    same(wg_frames.number_at(header, 4), case["sequence"], case["name"])
    same(wg_frames.number_at(header, 8), case["out_payload"], case["name"])
    same(wg_frames.number_at(header, 12), case["in_bytes"], case["name"])
    same(wg_frames.phase_of(header, 0), case["sequence"] % 251, case["name"])

for case in of_requests("invalid"):
    header = bytes_of(case["header"])
    assert not wg_frames.is_header(header, 0, len(header), wg_frames.LARGEST), case["name"]

for case in of_requests("hello_replies"):
    # A device that is as the case says answers the same bytes, but for the name's own length, the clock and
    # limits.
    device = wg_responder.Device(case["name"], 2048, case["bus"], case["max_outstanding"])
    device.ticks = lambda: 0
    answers = wg_responder.Answers(device, False)
    request = bytearray(16)
    request[1] = 0x10
    for i in range(4):
        request[4 + i] = (case["sequence"] >> (8 * i)) & 0xFF
    frame = bytes_of(case["frame"])
    size = answers.hello(request, 0, 0, bytes(bytes_of(case["token"])))
    made = answers.b[:size]
    same(size, len(frame), case["case"])
    for start, stop in ((0, 32), (35, 36), (48, 56), (64, size)):
        same(made[start:stop], frame[start:stop], case["case"])
    same(made[32:34], bytearray(b"\x01\x01"), "versions")


def receive(data, most, piece):
    """What a receiver finds that gets the bytes in pieces."""
    receiver = wg_frames.Receiver(most)
    frames = []
    came = skipped = 0
    for start in range(0, len(data), piece):
        part = data[start : start + piece]
        while part:
            room = receiver.room()
            n = min(len(part), len(room))
            assert n, "no room, and nothing found"
            room[:n] = part[:n]
            receiver.came(n)
            came += n
            part = part[n:]
            while True:
                found = receiver.next()
                if found == wg_frames.NOTHING:
                    break
                # A header that is too large is noise, and so is what is behind it.
                if found == wg_frames.TOO_LARGE:
                    receiver.drop(wg_frames.HEADER)
                    continue
                at = came - (receiver.end - receiver.start)
                frame = {"sequence": wg_frames.number_at(receiver.b, receiver.start + 4)}
                frame.update({"intact": receiver.intact, "skipped": at - skipped})
                frame["payload"] = receiver.stop - receiver.payload
                frames.append(frame)
                skipped = at + receiver.stop - receiver.start
                receiver.drop(receiver.stop - receiver.start)
    return frames, receiver.end - receiver.start


for case in of_requests("streams"):
    data = bytes_of(case["bytes"])
    pieces = range(1, len(data) + 1)
    if len(data) > 2000:
        pieces = (1, 2, 3, 7, 15, 16, 17, 31, 64, 250, 251, 512, 1000, len(data))
    for piece in pieces:
        frames, left = receive(data, case["max_frame"], piece)
        expected = [
            {key: frame[key] for key in ("sequence", "intact", "skipped", "payload")}
            for frame in case["frames"]
        ]
        same(frames, expected, "{} in pieces of {}".format(case["name"], piece))
        same(left, case["left"], "{} in pieces of {}: left".format(case["name"], piece))

for case in of_requests("stream_pattern"):
    expected = bytes_of(case["bytes"])
    made = bytearray(len(expected))
    wg_streams.fill(made, 0, len(made), case["position"])
    same(made, expected, "stream at {}".format(case["position"]))
    same(wg_streams.agree(made, 0, len(made), case["position"]), len(made), "stream compared")


def judged(data, piece):
    """What a sink makes of the bytes in pieces: its counts, and the frames within."""
    sink = wg_streams.Sink()
    frames = []
    payload = place = 0
    for start in range(0, len(data), piece):
        part = data[start : start + piece]
        at = 0
        while at < len(part):
            skipped = min(payload, len(part) - at)
            payload -= skipped
            at += skipped
            if at == len(part):
                break
            at = sink.take(part, at, len(part))
            if sink.header:
                frames.append(
                    {"sequence": wg_frames.number_at(sink.header, 4), "place": place + at - wg_frames.HEADER}
                )
                payload = wg_frames.number_at(sink.header, 8)
        place += len(part)
    sink.finish()
    counts = {}
    for name in ("received", "lost", "duplicated", "corrupted", "stray"):
        counts[name] = getattr(sink, name)
    return counts, frames


for case in of_requests("stream_checks"):
    data = bytes_of(case["bytes"])
    for piece in list(range(1, 18)) + [31, 32, 33, 64, 79, 511, 512, 513, max(1, len(data))]:
        counts, frames = judged(data, piece)
        where = "{} in pieces of {}".format(case["name"], piece)
        same(counts, {name: case[name] for name in counts}, where)
        same(frames, case["frames"], where)


def device_of(case):
    device = wg_responder.Device("answers", case["max_frame"])
    device.ticks = lambda: 0
    return device


def answered(device, data, piece):
    """What it answers to a byte stream that comes in pieces."""
    responder = wg_responder.Responder(device)
    said = bytearray()
    for start in range(0, len(data), piece):
        part = data[start : start + piece]
        while part:
            room = responder.room()
            n = min(len(part), len(room))
            assert n, "no room, and nothing to answer"
            room[:n] = part[:n]
            responder.came(n, 0)
            part = part[n:]
            while responder.answer():
                said += bytes(responder.to_send)
                responder.sent(len(responder.to_send))
    return said


def answered_by_datagrams(device, asked, proven):
    """What it answers to datagrams, from an address that was proven before or not."""
    datagrams = wg_udp.Datagrams(device, bytes(16))
    if proven:
        hello = bytearray(104)
        hello[0], hello[1], hello[8], hello[12] = 0xA7, 0x10, 88, 104
        for _ in range(2):
            check = wg_loops.header_check(hello, 0, 16)
            hello[2], hello[3] = check & 0xFF, check >> 8
            hello[16:24] = bytes(datagrams.take(hello, b"host", 0, 0))[96:104]
    said = bytearray()
    for datagram in asked:
        said += bytes(datagrams.take(datagram, b"host", 0, 0) or b"")
    return said


def answers_in(said):
    """The answers as the vectors have them."""
    found = []
    while said:
        size = wg_frames.number_at(said, 8)
        answer = {"kind": said[1] & 0x0F, "sequence": wg_frames.number_at(said, 4), "in_payload": size}
        answer["status"], answer["flags"] = said[12] | said[13] << 8, said[14] | said[15] << 8
        if answer["kind"] == wg_frames.SINK and size:
            answer["counts"] = [wg_frames.number_at(said, 32 + 8 * i) for i in range(5)]
        found.append(answer)
        said = said[32 + size :]
    return found


for case in vectors["answers"]:
    # A device takes frames of 512 bytes at least.
    if case["max_frame"] < 512:
        continue
    ran += 1
    asked = [bytes_of(part) for part in case["asked"]]
    if case["over"] == "stream":
        data = asked[0]
        for piece in (1, 2, 3, 7, 15, 16, 17, 64, len(data)):
            said = answered(device_of(case), data, piece)
            same(answers_in(said), case["answers"], "{} in pieces of {}".format(case["name"], piece))
    else:
        said = answered_by_datagrams(device_of(case), asked, case["over"] == "datagrams")
        same(answers_in(said), case["answers"], case["name"])

print(ran, "cases")
