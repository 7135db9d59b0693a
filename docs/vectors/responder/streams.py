"""The streams of a device (docs/protocol.md, Stream data and Classifying received bytes)."""

import struct
import time

from frames import first_difference, header_at

STEP, NUMBER = 0x9E3779B1, 0x0E8B2F51


def words(place, length):
    """Bytes of a stream from `place` on."""
    first, skip = place // 4, place % 4
    count = (skip + length + 3) // 4
    made = struct.pack(f"<{count}I", *((first + k) * STEP & 0xFFFFFFFF for k in range(count)))
    return made[skip : skip + length]


class Sink:
    """What happened to a stream, as "Classifying received bytes" defines it."""

    def __init__(self, magic=0xA7):
        self.magic = magic
        self.size = 16 if magic == 0xA7 else 32
        self.received = self.lost = self.duplicated = self.corrupted = self.stray = 0
        self.place = 0  # of the first undecided byte, or the next one
        self.furthest = 0
        self.run = 0  # right bytes in a row before it
        self.before_run = 0  # the furthest place when they began
        self.since_frame = 0
        self.doubt = bytearray()

    def counts(self):
        return [self.received, self.lost, self.duplicated, self.corrupted, self.stray]

    def take(self, data):
        """Takes bytes up to the end of a frame's header: how many, and the header or None."""
        used = 0
        while used < len(data):
            if not self.doubt:
                rest = data[used:]
                right = first_difference(rest, words(self.place, len(rest)))
                right = len(rest) if right is None else right
                self.right(right)
                self.since_frame += right
                used += right
                if used == len(data):
                    break
            self.doubt.append(data[used])
            self.since_frame += 1
            used += 1
            header = self.frame()
            if header:
                return used, header
            self.decide()
        return used, None

    def finish(self):
        self.received += len(self.doubt)
        self.stray += len(self.doubt)
        self.doubt.clear()

    def right(self, count):
        self.received += count
        self.duplicated += min(count, self.furthest - self.place)
        self.place += count
        self.furthest = max(self.furthest, self.place)
        self.run += count

    def frame(self):
        """The header that the last bytes are."""
        if self.since_frame < self.size:
            return None
        chance = max(0, self.size - len(self.doubt))
        if chance > self.run:
            return None
        raw = words(self.place - chance, chance) + bytes(self.doubt[chance - self.size :])
        header = header_at(raw, 0, self.magic, 512)
        if header:
            self.since_frame = 0
            del self.doubt[chance - self.size :]
            # The bytes that agreed by chance were not the stream's.
            new = min(chance, max(0, self.place - self.before_run))
            self.received -= chance
            self.duplicated -= chance - new
            self.furthest -= new
            self.place -= chance
            self.run -= chance
        return header

    def decide(self):
        found = self.placed()
        if not found:
            return
        right, q = found
        u = len(self.doubt) - right
        p, came = self.place, bytes(self.doubt[:u])
        self.doubt.clear()
        self.received += u
        self.run = 0
        if q == p + u:
            old = min(u, self.furthest - p)
            self.duplicated += old
            self.corrupted += sum(a != b for a, b in zip(came[old:], words(p + old, u - old)))
            self.place, self.furthest = q, max(self.furthest, q)
            self.before_run = self.furthest
        elif u > 0 and p - 7 <= q <= p:
            self.stray += u + p - q
            self.received += p - q
            self.before_run = self.furthest
            right -= p - q
        else:
            self.stray += u
            self.lost += max(0, q - self.furthest)
            self.place, self.furthest = q, max(self.furthest, q)
            self.before_run = self.furthest
        self.right(right)

    def placed(self):
        """How many of the last bytes are right at which place."""
        last = bytes(self.doubt[-8:])
        if len(last) < 8:
            return None
        expected = self.place + len(self.doubt) - 8
        for ahead in range(4):
            number = int.from_bytes(last[ahead : ahead + 4], "little") * NUMBER & 0xFFFFFFFF
            off = (number * 4 - ahead - expected + 2**33) % 2**34 - 2**33
            q = expected + off
            if q < 0 or words(q, 8) != last:
                continue
            if abs(off) <= 2**24:
                return 8, q
            if q >= 4 and words(q - 4, 12) == self.doubt[-12:]:
                return 12, q - 4
        return None


class Source:
    """A stream to the host."""

    def __init__(self, transfer, stop_after):
        self.transfer, self.stop_after = transfer, stop_after or 2**64
        self.place = self.transfers = self.first = self.last = 0

    def next(self):
        """The next transfer; empty at the end of the stream."""
        made = words(self.place, min(self.transfer, self.stop_after - self.place))
        if made:
            self.last = time.monotonic_ns()
            self.first = self.first or self.last
            self.place += len(made)
            self.transfers += 1
        return made
