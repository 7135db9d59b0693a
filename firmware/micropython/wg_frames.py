# Finds the requests in a byte stream, with noise before and between them and bytes lost within them, as
# docs/protocol.md, "Resynchronisation on a byte stream", says. One buffer, made once; no I/O.

from wg_loops import agreeing, crc16, find_magic, header_check, move

HEADER = 16
HELLO, EXCHANGE, SINK, SOURCE, MESSAGE = 0, 1, 2, 3, 4
# No frame is larger (docs/protocol.md, Size limits).
LARGEST = 16 * 1024 * 1024

# What Receiver.next() found.
NOTHING, FRAME, TOO_LARGE = 0, 1, 2

_NOWHERE = -1


def number_at(b, at):
    """The u32 at `at`."""
    return b[at] | b[at + 1] << 8 | b[at + 2] << 16 | b[at + 3] << 24


def phase_of(b, at):
    """Where the pattern of the request at `at` begins: its sequence number mod 251, in small integers
    only."""
    # 2^16 mod 251 = 25.
    return ((b[at + 4] | b[at + 5] << 8) + 25 * (b[at + 6] | b[at + 7] << 8)) % 251


def is_header(b, at, end, most):
    """Whether a true request header of version 1 lies at `at`, of a frame of at most so many bytes."""
    if end - at < HEADER or b[at] != 0xA7 or not 0x10 <= b[at + 1] <= 0x14:
        return False
    if b[at + 2] | b[at + 3] << 8 != header_check(b, at, HEADER):
        return False
    return b[at + 11] == 0 and number_at(b, at + 8) + HEADER <= most


def message_is_whole(b, at, n):
    """Whether the n bytes of payload at `at` end with the check of those before it."""
    return n >= 2 and crc16(b, at, n - 2) == b[at + n - 2] | b[at + n - 1] << 8


class Receiver:
    """The requests that have come and were not answered yet, in `b`, from `start` to `end`."""

    def __init__(self, largest):
        self.largest = largest
        # Twice the largest, so that what is behind a frame is there when it has been answered; and whether a
        # header has begun in its last bytes is known by a header more.
        self.b = bytearray(2 * largest + HEADER)
        self.view = memoryview(self.b)
        self.forget()

    def forget(self):
        """Begin anew."""
        self.start = 0
        self.end = 0
        self._look_again()

    def _look_again(self):
        # Bytes of the front frame's payload that agree with the pattern, and where to look for a header in
        # it.
        self._right = 0
        self._seen = 0

    def room(self):
        """Where received bytes go: a view, empty if nothing more can be held now."""
        if self.start == self.end:
            self.start = self.end = 0
        elif self.start >= self.largest:
            n = self.end - self.start
            move(self.b, self.start, n)
            self.start, self.end = 0, n
        return self.view[self.end :]

    def came(self, n):
        """So many bytes were put there."""
        self.end += n

    def drop(self, n):
        """Leave out n bytes."""
        self.start += n
        self._look_again()

    def next(self):
        """Look for a request at the front. FRAME: it begins at `start`, with the payload from `payload` to
        `stop`, which is `intact` or not; drop() it when it is answered. TOO_LARGE: a header alone. NOTHING:
        not yet."""
        b = self.b
        while self.end > self.start:
            if not is_header(b, self.start, self.end, LARGEST):
                at = self._seek(self.start, self.end, LARGEST)
                begun = at if at >= 0 else -2 - at
                if at == _NOWHERE:
                    self.drop(self.end - self.start)
                elif begun != self.start:
                    self.drop(begun - self.start)
                if at < 0:
                    return NOTHING
                continue
            self.payload = self.start + HEADER
            size = number_at(b, self.start + 8)
            if HEADER + size > self.largest:
                return TOO_LARGE
            kind = b[self.start + 1] & 0x0F
            self.stop = self.payload + size
            if kind == EXCHANGE:
                return self._pattern()
            if kind == MESSAGE:
                return self._message()
            return self._plain()
        return NOTHING

    def _seek(self, start, stop, most):
        """The first header that begins in [start, stop): its place; -2 - place, if it has only begun; or
        _NOWHERE."""
        while True:
            at = find_magic(self.b, start, stop, self.end)
            if at < 0:
                return _NOWHERE
            if self.end - at < HEADER:
                return -2 - at
            if is_header(self.b, at, self.end, most):
                return at
            start = at + 1

    def _found(self, stop, intact):
        self.stop = stop
        self.intact = intact
        return FRAME

    def _pattern(self):
        """EXCHANGE: compared as it comes, and searched for the next header from the first wrong byte on."""
        b, payload, stop = self.b, self.payload, self.stop
        there = min(stop, self.end)
        phase = phase_of(b, self.start)
        at = payload + self._right
        if not self._seen:
            self._right += agreeing(b, at, there - at, (phase + self._right) % 251)
            at = payload + self._right
        if at == there:
            return self._found(stop, True) if there == stop else NOTHING
        # The first two bytes of a header never follow one another in the pattern: one of them is wrong.
        suspect = max(payload, at - 1, self._seen - HEADER + 1)
        found = self._seek(suspect, there, self.largest)
        begins = found if found >= 0 else -2 - found
        if found != _NOWHERE:
            # A magic byte at the end may be the payload's own, even if what follows is a header.
            rest = there - begins
            if agreeing(b, begins, rest, (phase + begins - payload) % 251) == rest:
                found = _NOWHERE
        if found >= 0:
            return self._found(found, False)
        if found == _NOWHERE and there == stop:
            return self._found(stop, False)
        self._seen = there
        return NOTHING

    def _message(self):
        """MESSAGE: may hold anything, so that it is looked into only where its check is wrong."""
        if self.end < self.stop:
            return NOTHING
        if message_is_whole(self.b, self.payload, self.stop - self.payload):
            return self._found(self.stop, True)
        found = self._seek(self.payload, self.stop, self.largest)
        if found >= 0:
            return self._found(found, False)
        return self._found(self.stop, False) if found == _NOWHERE else NOTHING

    def _plain(self):
        """HELLO and orders: without pattern, searched for headers that lie wholly within."""
        suspects = min(self.end, self.stop + 1 - HEADER)
        if suspects > self.payload:
            found = self._seek(self.payload, suspects, self.largest)
            if found >= 0:
                return self._found(found, False)
        return self._found(self.stop, True) if self.end >= self.stop else NOTHING
