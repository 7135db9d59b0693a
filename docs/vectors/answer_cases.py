"""What a responder answers, that has all abilities and accepts frames of `max_frame` bytes in either
direction, and transfers of as many: (name, over, max_frame, asked, answers).

`over` is "stream" (what is asked comes in any pieces), "datagrams" or "unproven datagrams". An answer
is ((kind, sequence, status, flags, in_payload),), and for the END of a SINK also the first five
numbers of its report.
"""

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
    flipped,
    hello_request,
    inserted,
    message,
    order,
    request,
    request_header,
    words,
)

LIMIT = 600
NOISE = bytes([0x55] * 20)
A, B = request(10, 48), request(11, 16)
IS_A, IS_B = ((EXCHANGE, 10, OK, 0, 16),), ((EXCHANGE, 11, OK, 0, 16),)


def exchange(sequence, status=OK, flags=0, in_payload=16):
    """The answer to an EXCHANGE."""
    return ((EXCHANGE, sequence, status, flags, 0 if status != OK else in_payload),)


def refused(kind, sequence, status):
    """An answer that is a header alone."""
    return ((kind, sequence, status, 0, 0),)


def started(sequence, kind=SINK):
    return ((kind, sequence, OK, 0, 0),)


def ended(sequence, *counts):
    return ((SINK, sequence, OK, 0, 72), list(counts))


def hello_answered(sequence):
    return ((HELLO, sequence, OK, 0, 72),)


def start(sequence, transfer=64, kind=SINK):
    return request_header(kind, sequence, 16, 32) + order(START, transfer, 0)


def end(sequence, kind=SINK):
    return request_header(kind, sequence, 16, 104) + order(END, 0, 0)


def answer_cases():
    cases = [
        (name, "stream", LIMIT, [asked], answers)
        for name, asked, answers in too_large() + cut() + sinks()
    ]
    cases += [
        ("a frame over the limit within a sink is refused, and its payload is no stream", "stream",
         200, [start(1) + words(0, 64) + request(3, 300) + words(64, 64) + end(4)],
         [started(1), exchange(3, TOO_LARGE), ended(4, 128, 0, 0, 0, 0)]),
    ]
    cases += [(name, "datagrams", LIMIT, asked, answers) for name, asked, answers in datagrams()]
    return cases + [
        (name, "unproven datagrams", LIMIT, asked, answers) for name, asked, answers in unproven()
    ]


def too_large():
    """Between the limit of a device and that of the protocol."""
    over = request(1, LIMIT + 1)
    refusal = exchange(1, TOO_LARGE)
    damaged = flipped(request(5, 100, LIMIT + 1), 50)
    return [
        ("a request at the limit", request(1, LIMIT) + B, [exchange(1), IS_B]),
        ("a request over the limit, then one that is not", over + A, [refusal, IS_A]),
        ("its header alone, then a request", over[:16] + A, [refusal, IS_A]),
        ("its header cut, then a request", over[:15] + A, [IS_A]),
        ("noise, a request over the limit, a request", NOISE + over + A, [refusal, IS_A]),
        ("a request over the limit, noise, a request", over + NOISE + A, [refusal, IS_A]),
        ("noise around a header over the limit", NOISE + over[:16] + NOISE + A, [refusal, IS_A]),
        ("a request, a header over the limit, a request", A + over[:16] + B,
         [IS_A, refusal, IS_B]),
        ("two headers over the limit", over[:16] + request(2, LIMIT + 2)[:16] + A,
         [refusal, exchange(2, TOO_LARGE), IS_A]),
        ("the largest header of all", request_header(EXCHANGE, 3, MAX_FRAME - 16, 48) + A,
         [exchange(3, TOO_LARGE), IS_A]),
        ("one more is noise", request_header(EXCHANGE, 3, MAX_FRAME - 15, 48) + A, [IS_A]),
        ("a header over the limit within a pattern is payload",
         request(7, 200)[:66] + over + A, [exchange(7, flags=OUT_CORRUPTED), IS_A]),
        ("a frame in the payload of a message over the limit is answered",
         message(4, bytes(LIMIT) + A) + B, [refused(MESSAGE, 4, TOO_LARGE), IS_A, IS_B]),
        ("an answer at the limit", request(5, 100, LIMIT) + B,
         [exchange(5, in_payload=LIMIT - 32), IS_B]),
        ("an answer over the limit", request(5, 100, LIMIT + 1) + B,
         [exchange(5, TOO_LARGE), IS_B]),
        ("an answer over the limit to a damaged request", damaged + B,
         [exchange(5, TOO_LARGE), IS_B]),
        ("an answer over the limit to a request cut by the next", damaged[:60] + B,
         [exchange(5, TOO_LARGE), IS_B]),
        ("an answer over the limit to a message: its payload is consumed",
         message(6, A, LIMIT + 1) + B, [refused(MESSAGE, 6, TOO_LARGE), IS_B]),
        ("the same, damaged", flipped(message(6, bytes(40), LIMIT + 1), 20) + B,
         [refused(MESSAGE, 6, TOO_LARGE), IS_B]),
        ("hello and orders take no heed of in_bytes",
         with_in_bytes(hello_request(8), LIMIT + 1) + with_in_bytes(start(1), LIMIT + 1)
         + with_in_bytes(end(2), 0), [hello_answered(8), started(1), ended(2, 0, 0, 0, 0, 0)]),
        ("a hello over the limit", request_header(HELLO, 8, LIMIT, 104) + A,
         [refused(HELLO, 8, TOO_LARGE), IS_A]),
        ("a transfer at the limit, and one over it",
         start(1, LIMIT) + end(2) + start(3, LIMIT + 1),
         [started(1), ended(2, 0, 0, 0, 0, 0), refused(SINK, 3, TOO_LARGE)]),
    ]


def with_in_bytes(frame, in_bytes):
    """The frame, with another wish."""
    kind, sequence = frame[1] & 15, int.from_bytes(frame[4:8], "little")
    return request_header(kind, sequence, len(frame) - 16, in_bytes) + frame[16:]


def cut():
    """Payloads that are damaged, too short, or cut by the next header."""
    hello = hello_request(9)
    short = request_header(HELLO, 9, 87, 104) + bytes(87)
    long = request_header(HELLO, 9, 100, 104) + bytes(100)
    m = message(6, bytes(40))
    return [
        ("a damaged hello is answered", flipped(hello, 50) + A, [hello_answered(9), IS_A]),
        ("a hello cut by the next header is not", hello[:60] + A, [IS_A]),
        ("a hello of 87 bytes of payload is not", short + A, [IS_A]),
        ("a hello of 100 bytes of payload is", long + A, [hello_answered(9), IS_A]),
        ("an order cut by the next header", end(7)[:16] + A,
         [refused(SINK, 7, UNSUPPORTED), IS_A]),
        ("a start that is cut starts nothing", start(7)[:16] + A + end(8),
         [refused(SINK, 7, UNSUPPORTED), IS_A, ended(8, 0, 0, 0, 0, 0)]),
        ("an order of 15 bytes", request_header(SOURCE, 7, 15, 104) + order(END, 0, 0)[:15] + A,
         [refused(SOURCE, 7, UNSUPPORTED), IS_A]),
        ("a verb that is none", request_header(SINK, 7, 16, 32) + order(3, 64, 0) + A,
         [refused(SINK, 7, UNSUPPORTED), IS_A]),
        ("transfers of no bytes", start(7, 0) + A, [refused(SINK, 7, UNSUPPORTED), IS_A]),
        ("a damaged request", flipped(A, 20) + B, [exchange(10, flags=OUT_CORRUPTED), IS_B]),
        ("a request cut by the next", A[:30] + B, [exchange(10, flags=OUT_CORRUPTED), IS_B]),
        ("a damaged message", flipped(m, 20) + B, [((MESSAGE, 6, OK, OUT_CORRUPTED, 0),), IS_B]),
        ("a message cut by the next header", m[:30] + message(7, bytes(50)) + B,
         [((MESSAGE, 6, OK, OUT_CORRUPTED, 0),), ((MESSAGE, 7, OK, 0, 16),), IS_B]),
        ("another version is noise", request_header(EXCHANGE, 7, 0, 48, version=2) + A, [IS_A]),
        ("an unknown kind is noise", request_header(5, 7, 0, 48) + A, [IS_A]),
    ]


def sinks():
    """A sink from its start to its end."""
    s = words(0, 400)
    short = request_header(HELLO, 9, 87, 104) + bytes(87)
    return [
        ("a sink", start(1) + s + end(2), [started(1), ended(2, 400, 0, 0, 0, 0)]),
        ("its end, said twice", start(1) + s[:99] + end(2) + end(3),
         [started(1), ended(2, 99, 0, 0, 0, 0), ended(3, 99, 0, 0, 0, 0)]),
        ("its start, said twice", start(1) + s[:64] + start(1) + s[64:128] + end(2),
         [started(1), started(1), ended(2, 128, 0, 0, 0, 0)]),
        ("a new start within it", start(1) + s[:64] + start(2) + s[:32] + end(3),
         [started(1), started(2), ended(3, 32, 0, 0, 0, 0)]),
        ("an end without a start", end(2), [ended(2, 0, 0, 0, 0, 0)]),
        ("an exchange within it", start(1) + s[:64] + A + s[64:128] + end(2),
         [started(1), IS_A, ended(2, 128, 0, 0, 0, 0)]),
        ("a damaged exchange within it", start(1) + s[:64] + flipped(A, 20) + s[64:128] + end(2),
         [started(1), exchange(10, flags=OUT_CORRUPTED), ended(2, 128, 0, 0, 0, 0)]),
        ("its payload is not searched",
         start(1) + s[:64] + A[:20] + end(3)[:16] + A[36:] + s[64:128] + end(2),
         [started(1), exchange(10, flags=OUT_CORRUPTED), ended(2, 128, 0, 0, 0, 0)]),
        ("an answer over the limit within it",
         start(1) + s[:64] + request(5, 100, LIMIT + 1) + s[64:128] + end(2),
         [started(1), exchange(5, TOO_LARGE), ended(2, 128, 0, 0, 0, 0)]),
        ("an order within it that is none: its payload is stream",
         start(1) + s[:64] + end(3)[:16] + s[64:128] + end(2),
         [started(1), ended(2, 128, 0, 0, 0, 0)]),
        ("a hello ends it; its report stays", start(1) + s[:64] + hello_request(9) + A + end(2),
         [started(1), hello_answered(9), IS_A, ended(2, 64, 0, 0, 0, 0)]),
        ("a hello forgets its number",
         start(1) + s[:64] + hello_request(9) + start(1) + s[:32] + end(2),
         [started(1), hello_answered(9), started(1), ended(2, 32, 0, 0, 0, 0)]),
        ("a hello that is too short does not", start(1) + s[:64] + short + s[64:128] + end(2),
         [started(1), ended(2, 128, 0, 0, 0, 0)]),
        ("data that is lost, changed and foreign",
         start(1) + flipped(inserted(s[:100] + s[150:], 200, NOISE), 50) + end(2),
         [started(1), ended(2, 370, 50, 0, 1, 20)]),
        ("its end within a word, behind seven bytes that tell nothing",
         start(1) + s[:100] + s[150:157] + end(2), [started(1), ended(2, 107, 0, 0, 0, 7)]),
    ]


def datagrams():
    """From an address that was proven."""
    over = request(1, LIMIT + 1)
    long = request_header(HELLO, 9, 100, 104) + bytes(100)
    strange = request_header(EXCHANGE, 7, 0, 48, version=2)
    s = words(0, 128)
    return [
        ("a datagram at the limit", [request(1, LIMIT)], [exchange(1)]),
        ("a datagram over the limit", [over, A], [exchange(1, TOO_LARGE), IS_A]),
        ("a header without its payload", [over[:16], A[:16], A], [IS_A]),
        ("a byte too few, a byte too many", [A[:-1], A + b"\0", B], [IS_B]),
        ("noise in front of a frame", [NOISE + A, B], [IS_B]),
        ("two frames in a datagram", [A + B], []),
        ("a damaged payload is not searched", [A[:20] + B + A[36:], B],
         [exchange(10, flags=OUT_CORRUPTED), IS_B]),
        ("a hello of 100 bytes of payload", [long], [hello_answered(9)]),
        ("a short hello", [request_header(HELLO, 9, 87, 104) + bytes(87)], []),
        ("a hello over the limit by datagram", [request_header(HELLO, 9, LIMIT, 104) + bytes(LIMIT)],
         [refused(HELLO, 9, TOO_LARGE)]),
        ("an answer over the limit by datagram", [request(5, 100, LIMIT + 1)],
         [exchange(5, TOO_LARGE)]),
        ("another version, and an unknown kind", [strange, request_header(5, 8, 0, 48)],
         [refused(HELLO, 7, VERSION), refused(HELLO, 8, UNSUPPORTED)]),
        ("a sink by datagrams",
         [start(1), s[:64], request(3, LIMIT), over, s[64:], strange, end(2)],
         [started(1), exchange(3), exchange(1, TOO_LARGE), ended(2, 144, 0, 0, 0, 16)]),
    ]


def unproven():
    """From a stranger's address: never more bytes than came."""
    return [
        ("an answer no larger than the request", [request(1, 48, 48)], [exchange(1)]),
        ("an answer larger than the request", [request(1, 47, 48)], [exchange(1, UNPROVEN)]),
        ("a refusal larger than the request", [request(1, 31, 48)], []),
        ("a frame over the limit of a stranger", [request(1, LIMIT + 1)],
         [exchange(1, TOO_LARGE)]),
        ("an answer over the limit for a stranger", [request(5, 100, LIMIT + 1)],
         [exchange(5, TOO_LARGE)]),
        ("orders of a stranger", [start(1), end(2)],
         [refused(SINK, 1, UNPROVEN), refused(SINK, 2, UNPROVEN)]),
        ("an order over the limit", [request_header(SINK, 1, LIMIT, 32) + bytes(LIMIT)],
         [refused(SINK, 1, TOO_LARGE)]),
        ("a message over the limit that asks for more than it has",
         [message(4, bytes(LIMIT), LIMIT)], [refused(MESSAGE, 4, TOO_LARGE)]),
        ("a header of another version alone", [request_header(EXCHANGE, 7, 0, 48, version=2)], []),
        ("another version, long enough",
         [request_header(EXCHANGE, 7, 16, 48, version=2) + bytes(16)],
         [refused(HELLO, 7, VERSION)]),
    ]
