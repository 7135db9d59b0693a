"""What a receiver of frames finds at the edges: a payload cut at each byte of the header behind it,
sizes one off a limit, a magic byte where a payload ends. As frame_cases.py, whose tuples these are.
"""

from packing import (
    END,
    EXCHANGE,
    MESSAGE,
    SINK,
    flipped,
    hello_request,
    message,
    order,
    reply,
    request,
    request_header,
    response,
)

LIMIT = 4096


def frame_edges():
    return begun() + cut_exchanges() + cut_others() + limits() + magic_at_the_end() + messages()


def begun():
    """So many bytes of a header wait for the rest."""
    a, b = request(10, 48), request(11, 16)
    return [
        (f"{kept} bytes of a header behind a frame", "request", LIMIT, a + b[:kept],
         [(10, True, 0, 32)], kept)
        for kept in range(1, 16)
    ]


def cut_exchanges():
    """The last bytes of a payload lost: the next header stands across its end."""
    a, b = request(40, 48), request(11, 16)
    r, s = response(50, 72), response(21, 32)
    cases = [
        (f"the last {lost} bytes of a request's pattern lost", "request", LIMIT, a[:-lost] + b,
         [(40, False, 0, 32 - lost), (11, True, 0, 0)], 0)
        for lost in range(1, 18)
    ]
    cases += [
        (f"the last {lost} bytes of a response's pattern lost", "response", LIMIT, r[:-lost] + s,
         [(50, False, 0, 40 - lost), (21, True, 0, 0)], 0)
        for lost in (1, 2, 15, 16, 30, 31, 32, 33, 40)
    ]
    # The pattern has 0xA7 at `kept`, so that the next frame's first byte agrees with it.
    cases += [
        (f"the next magic agrees with byte {kept} of the pattern that was lost", "request", LIMIT,
         request(167 - kept, 36)[: 16 + kept] + b, [(167 - kept, False, 0, kept), (11, True, 0, 0)],
         0)
        for kept in (0, 1, 5, 17, 18)
    ]
    return cases


def cut_others():
    """Payloads without pattern that lost their last bytes."""
    a, b = request(10, 48), request(11, 16)
    end = request_header(SINK, 60, 16, 104) + order(END, 0, 0)
    m, n = message(30, b"set the valve to 17"), message(31, b"")
    told, less = reply(30, b"17.25 mbar"), reply(31, b"")
    cases = []
    for lost in (1, 2, 15):
        # The next header is not wholly within, so that it is taken for payload.
        cases.append((f"the last {lost} bytes of a hello lost", "request", LIMIT,
                      hello_request(9)[:-lost] + a + b,
                      [(9, True, 0, 88), (11, True, 48 - lost, 0)], 0))
        cases.append((f"the last {lost} bytes of an order lost", "request", LIMIT,
                      end[:-lost] + a + b, [(60, True, 0, 16), (11, True, 48 - lost, 0)], 0))
    for lost in (16, 17, 88):
        cases.append((f"the last {lost} bytes of a hello lost", "request", LIMIT,
                      hello_request(9)[:-lost] + a + b,
                      [(9, False, 0, 88 - lost), (10, True, 0, 32), (11, True, 0, 0)], 0))
    cases.append(("all of an order's payload lost", "request", LIMIT, end[:16] + a + b,
                  [(60, False, 0, 0), (10, True, 0, 32), (11, True, 0, 0)], 0))
    cases += [
        (f"the last {lost} bytes of a message lost", "request", LIMIT, m[:-lost] + n + b,
         [(30, False, 0, 21 - lost), (31, True, 0, 2), (11, True, 0, 0)], 0)
        for lost in (*range(1, 18), 21)
    ]
    cases += [
        (f"the last {lost} bytes of a message's answer lost", "response", LIMIT,
         told[:-lost] + less, [(30, False, 0, 12 - lost), (31, True, 0, 2)], 0)
        for lost in (1, 2, 11, 12)
    ]
    return cases


def limits():
    """Frames one byte below, at and above what the receiver accepts."""
    a = request(10, 48)
    cases = []
    for size in (299, 300):
        cases += [
            (f"a frame of {size} bytes where 300 are accepted", "request", 300,
             request(71, size) + a, [(71, True, 0, size - 16), (10, True, 0, 32)], 0),
            (f"a frame of {size} bytes within a pattern", "request", 300,
             request(70, 200)[:66] + request(71, size) + a,
             [(70, False, 0, 50), (71, True, 0, size - 16), (10, True, 0, 32)], 0),
            # 48 bytes that are no pattern, then the next frame.
            (f"a header of {size} bytes within a hello", "request", 300,
             with_header_inside(size) + a,
             [(9, False, 0, 24), (74, False, 0, 48), (10, True, 0, 32)], 0),
            # The message ends 134 bytes into that frame's payload, with its check.
            (f"a header of {size} bytes within a damaged message", "request", 300,
             flipped(message(72, bytes(50) + request(73, size)[:150]), 20) + a,
             [(72, False, 0, 50), (73, False, 0, 136), (10, True, 0, 32)], 0),
        ]
    return cases + [
        ("a frame of 301 bytes where 300 are accepted", "request", 300, request(71, 301) + a,
         [(10, True, 301, 32)], 0),
        ("a frame of 301 bytes within a pattern is payload", "request", 300,
         request(70, 200)[:66] + request(71, 301) + a,
         [(70, False, 0, 184), (10, True, 66 + 301 - 200, 32)], 0),
        ("a header of 301 bytes within a hello is payload", "request", 300,
         with_header_inside(301) + a, [(9, True, 0, 88), (10, True, 0, 32)], 0),
        ("a header of 301 bytes within a damaged message is payload", "request", 300,
         flipped(message(72, bytes(50) + request(73, 301)[:150]), 20) + a,
         [(72, False, 0, 202), (10, True, 0, 32)], 0),
        ("a response of 301 bytes where 300 are accepted", "response", 300,
         response(71, 301) + response(72, 300), [(72, True, 301, 268)], 0),
    ]


def with_header_inside(size):
    """A HELLO in whose payload the header of an EXCHANGE of `size` bytes stands."""
    inside = request_header(EXCHANGE, 74, size - 16, 48)
    return hello_request(9)[:40] + inside + bytes(48)


def magic_at_the_end():
    """The last bytes of a payload are, or look like, the first of a header."""
    b = request(11, 16)
    # Patterns whose last byte, and last but one, is 0xA7.
    last, last_but_one = request(167 - 3, 20), request(167 - 2, 20)
    assert last[-1] == 0xA7 and last_but_one[-2:] == b"\xa7\xa8"
    damaged = flipped(request(40, 48), 20)
    return [
        ("a pattern that ends with the magic byte", "request", LIMIT, last + b,
         [(164, True, 0, 4), (11, True, 0, 0)], 0),
        ("a damaged pattern whose right last byte is the magic byte", "request", LIMIT,
         flipped(last, 16) + b, [(164, False, 0, 4), (11, True, 0, 0)], 0),
        ("the same with nothing behind: the byte is the payload's", "request", LIMIT,
         flipped(last, 16), [(164, False, 0, 4)], 0),
        ("a damaged pattern that ends with the magic byte and its successor", "request", LIMIT,
         flipped(last_but_one, 16) + b, [(165, False, 0, 4), (11, True, 0, 0)], 0),
        ("a damaged pattern that lost its last byte", "request", LIMIT, damaged[:-1] + b,
         [(40, False, 0, 31), (11, True, 0, 0)], 0),
        ("a damaged pattern in front of a frame", "request", LIMIT, damaged + b,
         [(40, False, 0, 32), (11, True, 0, 0)], 0),
        ("the first byte of a pattern changed", "request", LIMIT, flipped(request(40, 48), 16) + b,
         [(40, False, 0, 32), (11, True, 0, 0)], 0),
        ("the last byte of a pattern changed", "request", LIMIT, flipped(request(40, 48), 47) + b,
         [(40, False, 0, 32), (11, True, 0, 0)], 0),
        ("a magic byte in place of the last but one", "request", LIMIT,
         request(40, 48)[:-2] + b"\xa7\x11" + b, [(40, False, 0, 32), (11, True, 0, 0)], 0),
        ("a byte behind a pattern", "request", LIMIT, request(40, 48) + b"\x55" + b,
         [(40, True, 0, 32), (11, True, 1, 0)], 0),
    ]


def messages():
    """The ends of messages."""
    a, b = request(10, 48), request(11, 16)
    m = message(30, b"set the valve to 17")
    relay = message(32, a + m + b)
    ends = message(33, b"the last byte is \xa7")
    return [
        ("a message without a payload", "request", LIMIT,
         request_header(MESSAGE, 36, 0, 48) + a, [(36, False, 0, 0), (10, True, 0, 32)], 0),
        ("a message that ends with the magic byte", "request", LIMIT,
         message(34, b"\xa7") + b, [(34, True, 0, 3), (11, True, 0, 0)], 0),
        ("a damaged message: the frames within it that are whole", "request", LIMIT,
         flipped(relay, 18) + request(12, 16),
         [(32, False, 0, 48), (30, True, 0, 21), (11, True, 0, 0), (12, True, 2, 0)], 0),
        ("a message whose first byte changed", "request", LIMIT, flipped(ends, 16) + b,
         [(33, False, 0, 20), (11, True, 0, 0)], 0),
        ("a frame in place of all of a message", "request", LIMIT, m[:16] + a + b,
         [(30, False, 0, 0), (10, True, 0, 32), (11, True, 0, 0)], 0),
    ]
