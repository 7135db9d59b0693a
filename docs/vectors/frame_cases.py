"""What a receiver of frames finds in a byte stream: one case for each rule of Resynchronisation."""

from packing import (
    EXCHANGE,
    MESSAGE,
    TOO_LARGE,
    flipped,
    hello_request,
    inserted,
    message,
    reply,
    request,
    request_header,
    response,
    response_header,
    without,
)


def frame_cases():
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
