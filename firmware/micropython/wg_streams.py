# The two streams of docs/protocol.md: a sink that tells right, lost, repeated, changed and foreign bytes
# apart and finds the frames among them, and a source. Fast while all is right; from a wrong byte on one byte
# at a time.

from wg_frames import HEADER, is_header, number_at
from wg_loops import stream_agreeing, stream_fill

# The largest frame within a stream.
STREAM_FRAME = 512
# Right bytes in a row that tell where they belong; and if that is further off than _NEAR.
_RUN = 8
_FAR_RUN = 12
_NEAR = 1 << 24
# A word times this gives its number back.
_INVERSE = 0x0E8B2F51
_PERIOD = 1 << 34
# Undecided bytes that are kept, and how many of them when there is no more room.
_KEPT = 96
_KEPT_ON = 64


def agree(b, at, n, position):
    """How many of n bytes are those of a stream from `position` on."""
    return stream_agreeing(b, at, n, (position >> 2) & 0xFFFFFFFF, position & 3)


def fill(b, at, n, position):
    """Write n bytes of a stream from `position` on."""
    stream_fill(b, at, n, (position >> 2) & 0xFFFFFFFF, position & 3)


class Sink:
    """Judges a stream from the host, however it is cut."""

    def __init__(self):
        self._held = bytearray(_KEPT)
        self._header = bytearray(HEADER)
        self._one = bytearray(1)
        self.begin()

    def begin(self):
        """A stream begins."""
        self.received = self.lost = self.duplicated = self.corrupted = self.stray = 0
        # The next byte expected, which is that of the first undecided one; and the end of what was seen.
        self._position = self._reached = 0
        # Right bytes in a row before it, and how many of those were new.
        self._run = self._new = 0
        self._since_frame = 0
        self._forget()

    def _forget(self):
        # Bytes not decided upon, those of them that are wrong if all stand in their place, and those that are
        # kept.
        self._undecided = self._wrong = self._kept = 0

    def finish(self):
        """The stream is over: what is undecided fits nowhere."""
        self.received += self._undecided
        self.stray += self._undecided
        self._forget()

    def take(self, b, start, end):
        """Take bytes of the stream; returns where it stopped. Before `end`: just behind the header of a
        frame, which is in `header` then."""
        at = start
        self.header = None
        while at < end:
            if self._undecided == 0:
                right = agree(b, at, end - at, self._position)
                if right:
                    at += right
                    self._since_frame += right
                    self._advance(right)
                    continue
            self._hold(b[at])
            at += 1
            if self._frame_ends_here():
                self.header = self._header
                return at
            self._place()
        return at

    def _advance(self, right):
        again = min(right, self._reached - self._position)
        self.received += right
        self.duplicated += again
        self._position += right
        self._reached = max(self._reached, self._position)
        self._run += right
        self._new += right - again

    def _is_wrong(self, byte, place):
        self._one[0] = byte
        return place >= self._reached and not agree(self._one, 0, 1, place)

    def _hold(self, byte):
        if self._is_wrong(byte, self._position + self._undecided):
            self._wrong += 1
        self._undecided += 1
        self._since_frame += 1
        if self._kept == _KEPT:
            self._held[:_KEPT_ON] = bytes(self._held[_KEPT - _KEPT_ON :])
            self._kept = _KEPT_ON
        self._held[self._kept] = byte
        self._kept += 1

    def _frame_ends_here(self):
        """Whether the last byte held ends a header. It may have begun among right bytes, by chance."""
        own = min(self._kept, HEADER)
        before = HEADER - own
        if self._since_frame < HEADER or before > self._run:
            return False
        header = self._header
        if before:
            fill(header, 0, before, self._position - before)
            if header[0] != 0xA7:
                return False
        elif self._held[self._kept - HEADER] != 0xA7:
            return False
        header[before:] = bytes(self._held[self._kept - own : self._kept])
        if not is_header(header, 0, HEADER, STREAM_FRAME):
            return False
        self._since_frame = 0
        if before or self._undecided == HEADER:
            self._forget()
            self._take_back(before)
        else:
            self._kept -= HEADER
            self._undecided -= HEADER
            place = self._position + self._undecided
            for i in range(HEADER):
                if self._is_wrong(header[i], place + i):
                    self._wrong -= 1
        return True

    def _take_back(self, n):
        """The last n right bytes were none of the stream's."""
        new = min(n, self._new)
        self.received -= n
        self.duplicated -= n - new
        self._position -= n
        self._reached -= new
        self._run -= n
        self._new -= new

    def _place(self):
        """Decide upon all that is held once the last bytes tell where the stream goes on ("Telling what
        happened")."""
        if self._kept < _RUN:
            return
        right, position = self._found_again()
        if not right:
            return
        before = self._undecided - right
        back = max(0, self._position - position)
        wrong = self._wrong
        self._forget()
        self.received += before
        self._run = self._new = 0
        if position == self._position + before:
            # In its place: the wrong bytes were changed.
            self.duplicated += min(before, self._reached - self._position)
            self.corrupted += wrong
            self._position = position
            self._reached = max(self._reached, position)
            self._advance(right)
            return
        self.stray += before
        if before and back < _RUN and position <= self._position:
            # Inserted. The last of these bytes may have agreed with what stood before them.
            self.received += back
            self.stray += back
            self._advance(right - back)
            return
        self.lost += max(0, position - self._reached)
        self._reached = max(self._reached, position)
        self._position = position
        self._advance(right)

    def _found_again(self):
        """How many of the last bytes held belong together, and the place of the first of them; 0 and 0 if
        none do."""
        held, last = self._held, self._kept - _RUN
        expected = self._position + self._undecided - _RUN
        for ahead in range(4):
            # Whatever their alignment, one whole word begins at most 3 bytes into them.
            place = (number_at(held, last + ahead) * _INVERSE & 0xFFFFFFFF) * 4 - ahead
            off = (place - expected + _PERIOD // 2) % _PERIOD - _PERIOD // 2
            place = expected + off
            if place < 0 or agree(held, last, _RUN, place) != _RUN:
                continue
            if -_NEAR <= off <= _NEAR:
                return _RUN, place
            further = _FAR_RUN - _RUN
            if last < further or place < further:
                continue
            if agree(held, last - further, _FAR_RUN, place - further) == _FAR_RUN:
                return _FAR_RUN, place - further
        return 0, 0


class Source:
    """Makes a stream to the host, a transfer at a time."""

    def begin(self, transfer, stop_after):
        """A stream begins. stop_after 0: it goes on."""
        self.transfer = transfer
        self._stop_after = stop_after
        self.position = 0

    def left(self):
        """Bytes of the next transfer; 0 if all was sent."""
        if not self._stop_after:
            return self.transfer
        return min(self.transfer, self._stop_after - self.position)

    def give(self, b, at, n):
        """Write the next n bytes."""
        fill(b, at, n, self.position)
        self.position += n
