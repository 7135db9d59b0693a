# The responder's side of the wiregauge protocol (docs/protocol.md), version 1, without I/O: bytes in, bytes
# out. For MicroPython on a board and on a PC, and for CPython. An exchange allocates nothing: all buffers are
# made once.
#
#     responder = Responder(Device("my board"))
#     n = stream.readinto(responder.room())     # an empty view: answer first
#     responder.came(n, responder.device.ticks())
#     while responder.answer():
#         stream.write(responder.to_send)       # a view of the next bytes to send

import struct
import sys
import time

from wg_frames import (
    EXCHANGE,
    HEADER,
    HELLO,
    MESSAGE,
    NOTHING,
    SINK,
    SOURCE,
    TOO_LARGE,
    Receiver,
    message_is_whole,
    number_at,
    phase_of,
)
from wg_loops import agreeing, crc16, fill, header_check
from wg_streams import STREAM_FRAME, Sink, Source

OK, VERSION, NO_ROOM, UNSUPPORTED, UNPROVEN = 0, 1, 2, 3, 4
RESPONSE = 32
HELLO_REPLY = 104
REPORT = 104
OUT_CORRUPTED = 1
# EXCHANGE, SINK, SOURCE, TIMESTAMPS, CHECKS_OUT, MESSAGE.
ABILITIES = 0x3F
START, END = 1, 2


class Device:
    """What a device is. `largest` bounds frames and transfers, at least 512; each connection takes three
    times that of memory."""

    def __init__(self, name=None, largest=2048, bus=0, outstanding=0):
        self.name = ("MicroPython " + sys.platform if name is None else name).encode()[:32]
        self.largest = largest
        self.bus = bus
        self.outstanding = outstanding
        if hasattr(time, "ticks_us"):
            self.ticks = time.ticks_us
            # What it wraps at is a port's own matter: 2^30 on boards.
            self.tick_bits = 0
            last = time.ticks_add(0, -1)
            while last >> self.tick_bits:
                self.tick_bits += 1
        else:
            self.ticks = lambda: time.perf_counter_ns() // 1000
            self.tick_bits = 64


class Answers:
    """Composes answers, one at a time, in one buffer; and keeps the streams of one host."""

    def __init__(self, device, datagrams):
        self.device = device
        self.b = bytearray(max(device.largest, HELLO_REPLY))
        self.view = memoryview(self.b)
        # On datagrams a transfer is one of them.
        self.most_streamed = min(device.largest, 1472) if datagrams else device.largest
        self.sink = Sink()
        self.source = Source()
        self.forget()

    def forget(self):
        """The host has gone: nothing is left of its streams."""
        self.sinking = self.sourcing = False
        self._started = [None, None]
        self._reports = [bytes(REPORT - RESPONSE), bytes(REPORT - RESPONSE)]
        self._took = [0, 0, 0]
        self._gave = [0, 0, 0]

    def header(self, b, at, size, status, flags, ticks):
        """The header of an answer of `size` bytes to the request at `at` of b; returns the size."""
        to = self.b
        struct.pack_into("<BBHIIHH", to, 0, 0x7A, b[at + 1], 0, 0, size - RESPONSE, status, flags)
        to[4], to[5], to[6], to[7] = b[at + 4], b[at + 5], b[at + 6], b[at + 7]
        struct.pack_into("<QQ", to, 16, ticks, self.device.ticks())
        check = header_check(to, 0, RESPONSE)
        to[2], to[3] = check & 0xFF, check >> 8
        return size

    def refuse(self, b, at, status, ticks):
        """An answer that is a header alone."""
        return self.header(b, at, RESPONSE, status, 0, ticks)

    def hello(self, b, at, ticks, token):
        """What the device is, and the token that proves an address."""
        device = self.device
        # A host begins: both streams are over, and a START of any number begins a new one.
        self._end(True)
        self._end(False)
        self._started = [None, None]
        struct.pack_into("<BBBBI", self.b, RESPONSE, 1, 1, device.tick_bits, device.bus, ABILITIES)
        limits = (device.largest, device.largest, device.outstanding)
        struct.pack_into("<IIIIQ32s8s", self.b, RESPONSE + 8, *limits, 0, 1_000_000, device.name, token)
        return self.header(b, at, HELLO_REPLY, OK, 0, ticks)

    def most_for(self, b, at, intact):
        """Bytes of the answer to the EXCHANGE or MESSAGE at `at`, if it is answered OK."""
        if b[at + 1] & 0x0F == EXCHANGE:
            return max(RESPONSE, number_at(b, at + 12))
        return max(RESPONSE + 2, number_at(b, at + 12)) if intact else RESPONSE

    def exchange(self, b, at, intact, ticks):
        """The pattern, of the size asked for."""
        size = self.most_for(b, at, intact)
        if size > self.device.largest:
            return self.refuse(b, at, NO_ROOM, ticks)
        fill(self.b, RESPONSE, size - RESPONSE, phase_of(b, at))
        return self.header(b, at, size, OK, 0 if intact else OUT_CORRUPTED, ticks)

    def message(self, b, at, payload, stop, intact, ticks):
        """The same bytes, repeated or cut to what was asked for, and their check. An application goes
        here."""
        if number_at(b, at + 12) > self.device.largest:
            return self.refuse(b, at, NO_ROOM, ticks)
        if not intact:
            return self.header(b, at, RESPONSE, OK, OUT_CORRUPTED, ticks)
        size = self.most_for(b, at, True)
        said, wanted = stop - payload - 2, size - RESPONSE - 2
        to = self.b
        for i in range(wanted):
            to[RESPONSE + i] = b[payload + i % said] if said else 0
        check = crc16(to, RESPONSE, wanted)
        to[size - 2], to[size - 1] = check & 0xFF, check >> 8
        return self.header(b, at, size, OK, 0, ticks)

    def order(self, b, at, payload, stop, ticks):
        """Begins or ends a stream; returns the size of the answer."""
        sink = b[at + 1] & 0x0F == SINK
        verb = b[payload] if stop - payload >= 16 else 0
        if verb == END:
            self._end(sink)
            self.view[RESPONSE:REPORT] = self._reports[0 if sink else 1]
            return self.header(b, at, REPORT, OK, 0, ticks)
        transfer = number_at(b, payload + 4) if verb == START else 0
        if not transfer:
            return self.refuse(b, at, UNSUPPORTED, ticks)
        if transfer > self.most_streamed:
            return self.refuse(b, at, NO_ROOM, ticks)
        which = 0 if sink else 1
        number = number_at(b, at + 4)
        if self._started[which] != number:
            self._started[which] = number
            self._reports[which] = bytes(REPORT - RESPONSE)
            if sink:
                self.sink.begin()
                self.sinking, self._took = True, [0, 0, 0]
            else:
                self.source.begin(transfer, number_at(b, payload + 8) | number_at(b, payload + 12) << 32)
                self.sourcing, self._gave = True, [0, 0, 0]
        return self.refuse(b, at, OK, ticks)

    def _end(self, sink):
        if sink and self.sinking:
            self.sinking = False
            self.sink.finish()
            sink = self.sink
            counted = (sink.received, sink.lost, sink.duplicated, sink.corrupted, sink.stray)
            self._reports[0] = self._report(counted, self._took)
        elif not sink:
            self.stop_source()

    def stop_source(self):
        """The source is over, and its report is kept."""
        if self.sourcing:
            self.sourcing = False
            self._reports[1] = self._report((self.source.position, 0, 0, 0, 0), self._gave)

    def _report(self, counts, carried):
        transfers, first, last = carried
        return struct.pack("<9Q", *counts, transfers, 0, first, last)

    def take(self, b, start, end, ticks):
        """Gives bytes to the sink; returns where it stopped, as Sink.take()."""
        before = self.sink.received
        at = self.sink.take(b, start, end)
        if self.sink.received > before:
            self._carried(self._took, ticks)
        return at

    def transfer(self):
        """The next transfer of the source; returns its size, 0 if there is none."""
        n = self.source.left() if self.sourcing else 0
        if n:
            self.source.give(self.b, 0, n)
            self._carried(self._gave, self.device.ticks())
        return n

    def _carried(self, carried, ticks):
        if not carried[0]:
            carried[1] = ticks
        carried[0] += 1
        carried[2] = ticks


class Responder:
    """On a byte stream: TCP, a serial line, USB."""

    def __init__(self, device):
        self.device = device
        self._receiver = Receiver(device.largest)
        self._answers = Answers(device, False)
        self._nothing = self._answers.view[:0]
        self._token = bytes(8)
        # A frame that stood within a stream.
        self._frame = bytearray(STREAM_FRAME)
        self.forget()

    def forget(self):
        """The host has gone, and another may come."""
        self._receiver.forget()
        self._answers.forget()
        self._ticks = 0
        # Bytes of its payload that have to come; -1: none stands there.
        self._owed = -1
        # The bytes that are to be sent next.
        self.to_send = self._nothing

    def room(self):
        """Where received bytes go."""
        return self._receiver.room()

    def came(self, n, ticks):
        """So many were put there; the clock when they had come."""
        self._receiver.came(n)
        self._ticks = ticks

    def sent(self, n):
        """So many of `to_send` were sent."""
        self.to_send = self.to_send[n:]

    def answer(self):
        """Sets `to_send`, if there is something to be sent; false if not."""
        if len(self.to_send):
            return True
        size = self._request() or self._answers.transfer()
        self.to_send = self._answers.view[:size] if size else self._nothing
        return size > 0

    def _request(self):
        """Composes the answer to the next request; returns its size, 0 if none has come."""
        receiver, answers = self._receiver, self._answers
        while True:
            if answers.sinking:
                size = self._stream()
                if size < 0:
                    return 0
                if size:
                    return size
                continue
            found = receiver.next()
            if found == NOTHING:
                return 0
            b, at = receiver.b, receiver.start
            if found == TOO_LARGE:
                # What follows is noise, and skipped as such.
                size = answers.refuse(b, at, NO_ROOM, self._ticks)
                receiver.drop(HEADER)
                return size
            size = self._compose(b, at, receiver.payload, receiver.stop, receiver.intact)
            receiver.drop(receiver.stop - at)
            if size:
                return size

    def _stream(self):
        """Lets the sink take what has come, up to a frame, and composes the answer to that; returns its size,
        0 if it has none, -1 if no whole frame has come."""
        receiver, sink, frame = self._receiver, self._answers.sink, self._frame
        if self._owed < 0:
            at = self._answers.take(receiver.b, receiver.start, receiver.end, self._ticks)
            receiver.drop(at - receiver.start)
            if sink.header is None:
                return -1
            frame[:HEADER] = sink.header
            self._owed = number_at(frame, 8)
        n, at = self._owed, receiver.start
        if receiver.end - at < n:
            return -1
        self._owed = -1
        stop = HEADER + n
        frame[HEADER:stop] = receiver.view[at : at + n]
        kind = frame[1] & 0x0F
        if kind in (SINK, SOURCE) and (n < 16 or frame[HEADER] not in (START, END)):
            # Bytes of the order were lost, and what stands in its payload's place is stream.
            return 0
        receiver.drop(n)
        if kind == EXCHANGE:
            intact = agreeing(frame, HEADER, n, phase_of(frame, 0)) == n
        else:
            intact = kind != MESSAGE or message_is_whole(frame, HEADER, n)
        return self._compose(frame, 0, HEADER, stop, intact)

    def _compose(self, b, at, payload, stop, intact):
        answers, ticks = self._answers, self._ticks
        kind = b[at + 1] & 0x0F
        if kind == EXCHANGE:
            return answers.exchange(b, at, intact, ticks)
        if kind == MESSAGE:
            return answers.message(b, at, payload, stop, intact, ticks)
        if kind != HELLO:
            return answers.order(b, at, payload, stop, ticks)
        # A short one could make a device send more than it got.
        return answers.hello(b, at, ticks, self._token) if stop - payload >= 88 else 0
