"""What the receiver of a SINK or SOURCE stream counts: one case for each rule of Telling what
happened. Most are of the direction of answers: what a host hears of a source."""

from packing import (
    END,
    EXCHANGE,
    SINK,
    flipped,
    inserted,
    order,
    request_header,
    response_header,
    without,
    words,
)


def sink_cases():
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
