"""What the receiver of a stream counts at the edges: of the direction of requests, as a device's sink
hears them. As sink_cases.py, whose tuples these are.
"""

from packing import (
    END,
    EXCHANGE,
    SINK,
    SOURCE,
    crc16,
    flipped,
    order,
    request_header,
    response_header,
    sealed,
    without,
    words,
)

NEAR = 2**24
ASK = request_header(SINK, 70, 16, 104) + order(END, 0, 0)
FOREIGN = bytes([0x55] * 240)
# Where the stream itself has 0xA7 0x12, the first two bytes of a SINK request: at the first, third
# and last byte of a word.
LIKE_A_HEADER = (147_292, 352_242, 323_271)


def sink_edges():
    cases = runs() + near_and_far() + inserted_or_repeated() + ends() + passed_twice() + laps()
    cases += agreeing_headers() + chance_runs() + frames_behind_wrong_bytes() + frames_of_any_kind()
    return [(name, "request", data, counts, frames) for name, data, counts, frames in cases]


def jump(before, position, length):
    """`before`, then the stream from `position` on, which differs there in its first byte."""
    after = words(position, length)
    assert after[0] != words(len(before), 1)[0]
    return before + after


def runs():
    """Right bytes in a row that tell their place, or are one too few."""
    s = words(0, 100)
    cases = []
    for place in (148, 149, 150, 151):
        far = 2**30 + place
        cases += [
            (f"eight right bytes at {place}", jump(s, place, 8), (108, place - 100, 0, 0, 0), []),
            (f"seven right bytes at {place}", jump(s, place, 7), (107, 0, 0, 0, 7), []),
            (f"twelve right bytes at 2^30 + {place}", jump(s, far, 12),
             (112, far - 100, 0, 0, 0), []),
            (f"eleven right bytes at 2^30 + {place}", jump(s, far, 11), (111, 0, 0, 0, 11), []),
        ]
    return cases


def near_and_far():
    """Eight bytes are believed up to 16 MiB away, twelve beyond.

    16 MiB away the words agree in their two lowest bytes, so that up to two bytes are right in
    either place: `same` of them are, and are counted in the place expected.
    """
    cases = []
    for came in (100, 101, 102, 103):
        s = words(0, came)
        at = f"from {came} on"
        same = {0: 2, 1: 1}.get(came % 4, 0)
        cases += [
            (f"16 MiB lost {at}: eight bytes tell", s + words(came + NEAR, same + 8),
             (came + same + 8, NEAR, 0, 0, 0), []),
            (f"16 MiB lost {at}: seven do not", s + words(came + NEAR, same + 7),
             (came + same + 7, 0, 0, 0, 7), []),
            (f"16 MiB and a byte lost {at}: eight do not", jump(s, came + NEAR + 1, 8),
             (came + 8, 0, 0, 0, 8), []),
            (f"16 MiB and a byte lost {at}: twelve tell", jump(s, came + NEAR + 1, 12),
             (came + 12, NEAR + 1, 0, 0, 0), []),
            (f"five foreign bytes, then 16 MiB lost {at}",
             s + FOREIGN[:5] + words(came + 5 + NEAR, 8), (came + 13, NEAR + 5, 0, 0, 5), []),
            (f"five foreign bytes, then 16 MiB and a byte lost {at}",
             s + FOREIGN[:5] + words(came + 6 + NEAR, 8), (came + 13, 0, 0, 0, 13), []),
        ]
        begin = 2 * NEAR + 4
        length = came - 88
        end = begin + length
        s = words(begin, length)
        at = f"to {length - 12} bytes behind a word's begin"
        cases += [
            (f"16 MiB back {at}: eight bytes tell", s + words(end - NEAR, same + 8),
             (length + same + 8, begin, 8, 0, 0), []),
            (f"16 MiB and a byte back {at}: eight do not", s + words(end - NEAR - 1, 8),
             (length + 8, begin, 0, 0, 8), []),
            (f"16 MiB and a byte back {at}: twelve tell", s + words(end - NEAR - 1, 12),
             (length + 12, begin, 12, 0, 0), []),
        ]
    return cases


def inserted_or_repeated():
    """Where the stream goes on behind foreign bytes, a byte more or less."""
    s = words(0, 100)
    three = FOREIGN[:3]
    assert not any(one == other for one, other in zip(three, s[64:]))
    return [
        ("three bytes inserted, then seven again", s[:64] + three + s[57:90], (100, 0, 0, 0, 10),
         []),
        ("three bytes inserted, then eight again", s[:64] + three + s[56:90], (101, 0, 8, 0, 3),
         []),
        ("seven bytes again", s[:64] + s[57:90], (97, 0, 7, 0, 0), []),
        ("eight bytes again", s[:64] + s[56:90], (98, 0, 8, 0, 0), []),
        ("a byte inserted", s[:64] + three[:1] + s[64:90], (91, 0, 0, 0, 1), []),
        ("a byte inserted that equals the one before", s[:64] + s[63:90], (91, 0, 1, 0, 0), []),
        ("a byte inserted that equals the one behind", s[:64] + s[64:65] + s[64:90],
         (91, 0, 1, 0, 0), []),
        ("three foreign bytes, one lost", s[:64] + three + s[65:98], (100, 1, 0, 0, 3), []),
        ("three foreign bytes, two lost", s[:64] + three + s[66:98], (99, 2, 0, 0, 3), []),
        ("three foreign bytes, three lost: changed", s[:64] + three + s[67:98], (98, 0, 0, 3, 0),
         []),
        ("three foreign bytes, four lost", s[:64] + three + s[68:98], (97, 4, 0, 0, 3), []),
        ("the first byte changed", flipped(s[:40], 0), (40, 0, 0, 1, 0), []),
        ("a byte in front of the first", b"\x55" + s[:40], (41, 0, 0, 0, 1), []),
        ("the first byte lost", s[1:40], (39, 1, 0, 0, 0), []),
        ("96 bytes inserted", s[:64] + FOREIGN[:96] + s[64:90], (186, 0, 0, 0, 96), []),
        ("97 bytes changed", s[:1] + bytes(byte ^ 0xFF for byte in words(1, 97)) + words(98, 20),
         (118, 0, 0, 97, 0), []),
    ]


def ends():
    """The last bytes of a stream, within a word and behind a fault."""
    s = words(0, 100)
    cases = [
        (f"a loss, and an end {count} bytes behind it", jump(s[:50], 70, count),
         (50 + count, 20, 0, 0, 0), [])
        for count in (8, 9, 10, 11)
    ]
    cases += [
        (f"a stream that ends {count} bytes into a word", s[: 60 + count], (60 + count, 0, 0, 0, 0),
         [])
        for count in (1, 2, 3)
    ]
    cases += [
        (f"a changed byte {count} bytes before the end", flipped(s, 99 - count),
         (100, 0, 0, 0, count + 1), [])
        for count in range(8)
    ]
    return cases + [
        ("a changed byte eight bytes before the end", flipped(s, 91), (100, 0, 0, 1, 0), []),
        ("one foreign byte", b"\x55", (1, 0, 0, 0, 1), []),
        ("one right byte", s[:1], (1, 0, 0, 0, 0), []),
    ]


def passed_twice():
    """Where repeated bytes end and new ones begin."""
    s = words(0, 320)
    again = s[:128] + s[64:160]
    return [
        ("the last repeated byte changed", flipped(again, 191), (224, 0, 64, 0, 0), []),
        ("the first byte behind the repeated ones changed", flipped(again, 192),
         (224, 0, 64, 1, 0), []),
        ("both changed", flipped(flipped(again, 191), 192), (224, 0, 64, 1, 0), []),
        ("a loss behind repeated bytes", s[:128] + s[64:96] + s[160:200], (200, 32, 32, 0, 0), []),
        ("a loss within repeated bytes", s[:128] + s[64:96] + s[112:160], (208, 0, 48, 0, 0), []),
        ("repeated bytes that go on where all had come", s[:128] + s[64:96] + s[128:160],
         (192, 0, 32, 0, 0), []),
        ("repeated bytes that go on a byte before", s[:128] + s[64:96] + s[127:160],
         (193, 0, 33, 0, 0), []),
        ("repeated bytes that go on a byte behind", s[:128] + s[64:96] + s[129:160],
         (191, 1, 32, 0, 0), []),
        ("repeated bytes, repeated", s[:128] + s[64:96] + s[64:160], (256, 0, 96, 0, 0), []),
        ("a late packet with a changed byte",
         s[:128] + s[192:256] + flipped(s[128:192], 20) + s[256:], (320, 64, 64, 0, 0), []),
        ("bytes inserted among repeated ones", s[:128] + s[64:96] + FOREIGN[:20] + s[96:160],
         (244, 0, 64, 0, 20), []),
    ]


def laps():
    """Places beyond 2^34, where the words begin again."""
    half, whole = 2**33 - 8, 2**34 - 16
    lost = half + whole - (half + 12)
    far = words(half, 12) + words(whole, 64)
    return [
        ("over 16 GiB", far, (76, lost, 0, 0, 0), []),
        ("back to before 16 GiB", far + words(whole + 8, 80), (156, lost, 56, 0, 0), []),
        ("a loss behind 16 GiB", far + words(whole + 100, 20), (96, lost + 36, 0, 0, 0), []),
    ]


def agreeing_header(place, agree):
    """A SINK request of which the stream at `place` has the first `agree` bytes by chance, and not the
    one behind. Its payload has 16 bytes, or as many as agree."""
    s = words(place, 16)
    assert s[:2] == b"\xa7\x12" and s[8] != 16
    kind = SOURCE if agree == 1 else SINK
    sequence = bytes(one if at < agree else one ^ 0xFF for at, one in enumerate(s[4:8], 4))
    length = s[8] if agree > 8 else 16
    check = {2: s[2] ^ 0xFF | s[3] << 8, 3: s[2] | (s[3] ^ 0xFF) << 8}.get(agree, s[2] | s[3] << 8)
    head = bytes([s[0], 0x10 | kind, 0, 0]) + sequence + length.to_bytes(4, "little")
    # in_bytes is chosen so that the check is the one wanted: the CRC, run backwards over 32 zero
    # bits, says what the first 16 of these bits must be.
    for _ in range(32):
        check = (check ^ 0x1021) >> 1 | 0x8000 if check & 1 else check >> 1
    head = sealed(head + (check ^ crc16(head)).to_bytes(2, "big") + bytes(2))
    assert [one == other for one, other in zip(head, s)][: agree + 1] == [True] * agree + [False]
    return head, int.from_bytes(sequence, "little"), bytes(length)


def agreeing_headers():
    """Headers that begin in bytes that agree with the stream by chance."""
    cases = []
    for place in LIKE_A_HEADER:
        for agree in range(1, 10):
            head, number, payload = agreeing_header(place, agree)
            cases.append((f"a header whose first {agree} bytes the stream has at {place}",
                          words(place - 32, 32) + head + payload + words(place, 24),
                          (56, place - 32, 0, 0, 0), [(number, 32)]))
    return cases


def chance_runs():
    """Bytes of a header that agree by chance, where they decide something else as well."""
    place = LIKE_A_HEADER[1]
    head, number, payload = agreeing_header(place, 4)
    more, other, longer = agreeing_header(place, 8)
    behind = words(place, 24)
    return [
        ("the first bytes of a header make eight right ones",
         words(place - 4, 4) + head + payload + behind, (28, place - 4, 0, 0, 0), [(number, 4)]),
        ("they make seven", words(place - 3, 3) + head + payload + behind,
         (27, place - 3, 0, 0, 0), [(number, 3)]),
        ("eight bytes of a header that comes first tell a place", more + longer + behind,
         (24, place, 0, 0, 0), [(other, 0)]),
        # The stream had come to two bytes behind the place before it went back.
        ("a header that begins in repeated bytes and new ones",
         words(place - 32, 34) + words(place - 16, 16) + head + payload + behind,
         (74, place - 32, 18, 0, 0), [(number, 50)]),
        ("a header that begins in repeated bytes",
         words(place - 32, 64) + words(place - 16, 16) + head + payload + words(place, 64),
         (144, place - 32, 48, 0, 0), [(number, 80)]),
        ("no header spans a frame: what agrees of it stays in the stream",
         words(place - 32, 32) + head[:4] + ASK + head[4:] + words(place + 4, 24),
         (72, place - 32, 0, 0, 12), [(70, 36)]),
        ("a changed byte, then a header that agrees",
         flipped(words(place - 32, 32), 22) + head + payload + behind,
         (56, place - 32, 0, 1, 0), [(number, 32)]),
        ("a header that agrees and is damaged", words(place - 32, 32) + flipped(head, 15) + behind,
         (72, place - 32, 0, 0, 16), []),
    ]


def frames_behind_wrong_bytes():
    """Frames behind bytes that are not decided upon."""
    s = words(0, 320)
    cases = [
        (f"{count} foreign bytes, then the order", s[:64] + FOREIGN[:count] + ASK + s[64:90],
         (90 + count, 0, 0, 0, count), [(70, 64 + count)])
        for count in (*range(1, 18), 27, 28, 29, 63, 64, 65, 79, 80, 81, 95, 96, 97, 200)
    ]
    cases += [
        (f"{count} changed bytes, then the order",
         s[: 200 - count] + bytes(byte ^ 0xFF for byte in s[200 - count : 200]) + ASK + s[200:230],
         (230, 0, 0, count, 0), [(70, 200)])
        for count in (1, 2, 7, 12, 13, 16, 100)
    ]
    return cases + [
        ("a loss with seven bytes before the order and more behind it",
         jump(s[:64], 100, 7) + ASK + s[107:140], (104, 36, 0, 0, 0), [(70, 71)]),
        ("a loss with seven bytes before the order, and none behind it",
         jump(s[:64], 100, 7) + ASK, (71, 0, 0, 0, 7), [(70, 71)]),
        ("a loss with eight bytes before the order", jump(s[:64], 100, 8) + ASK, (72, 36, 0, 0, 0),
         [(70, 72)]),
        ("no header spans a frame", s[:64] + ASK[:5] + ASK + ASK[5:16] + s[64:90],
         (106, 0, 0, 0, 16), [(70, 69)]),
        ("a changed byte among repeated ones, then the order",
         s[:128] + flipped(s[64:100], 33) + ASK + s[100:160], (224, 0, 64, 0, 0), [(70, 164)]),
        ("a changed byte where new ones begin, then the order",
         s[:128] + flipped(s[64:131], 64) + ASK + s[131:160], (224, 0, 64, 1, 0), [(70, 195)]),
    ]


def frames_of_any_kind():
    """What is a frame within a stream, and what is not."""
    s = words(0, 128)

    def within(frame):
        return s[:64] + frame + s[64:]

    largest = request_header(EXCHANGE, 71, 496, 32) + bytes(496)
    foreign = (
        ("a request of 513 bytes", request_header(EXCHANGE, 71, 497, 32)),
        ("a request of 16 MiB", request_header(EXCHANGE, 71, 2**24 - 16, 32)),
        ("a request of another version", request_header(SINK, 71, 16, 104, version=2)),
        ("a request of an unknown kind", request_header(5, 71, 16, 104)),
        ("a request with a bit flipped", flipped(ASK[:16], 12)),
        ("a response", response_header(SINK, 71, 0)),
        ("a request without its first byte", without(ASK[:16], 0)),
        ("a request without its last byte", ASK[:15]),
    )
    cases = [
        (f"{name} is foreign", within(header), (128 + len(header), 0, 0, 0, len(header)), [])
        for name, header in foreign
    ]
    return cases + [
        ("a request of 512 bytes", within(largest), (128, 0, 0, 0, 0), [(71, 64)]),
        ("a request of 511 bytes", within(request_header(EXCHANGE, 71, 495, 32) + bytes(495)),
         (128, 0, 0, 0, 0), [(71, 64)]),
        ("a request without a payload", within(request_header(EXCHANGE, 71, 0, 32)),
         (128, 0, 0, 0, 0), [(71, 64)]),
        ("the order within a word", s[:65] + ASK + s[65:], (128, 0, 0, 0, 0), [(70, 65)]),
        ("two orders in a row", within(ASK + ASK), (128, 0, 0, 0, 0), [(70, 64), (70, 96)]),
        ("an order in front of all", ASK + s, (128, 0, 0, 0, 0), [(70, 0)]),
        ("an order behind all", s + ASK, (128, 0, 0, 0, 0), [(70, 128)]),
        ("two orders, a byte of stream between them", s[:64] + ASK + s[64:65] + ASK + s[65:],
         (128, 0, 0, 0, 0), [(70, 64), (70, 97)]),
    ]
