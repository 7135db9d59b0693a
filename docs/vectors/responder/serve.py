#!/usr/bin/env python3
"""A responder written from docs/protocol.md alone, with Python's standard library.

It shows that the page is enough, and is as slow as that makes it. Byte streams only.

    python3 docs/vectors/responder/serve.py       # serves TCP on a free port, and prints its address
"""

import select
import socket
import struct
import threading
import time

from frames import (
    EXCHANGE,
    HELLO,
    LARGEST,
    MESSAGE,
    OK,
    SINK,
    SOURCE,
    crc,
    is_message,
    next_frame,
    pattern,
    sealed,
)
from streams import Sink, Source

TOO_LARGE, UNSUPPORTED = 2, 3
OUT_CORRUPTED = 1
START, END = 1, 2
HELLO_PAYLOAD, ORDER = 88, 16


class Responder:
    """One connection: bytes in, bytes out."""

    def __init__(self, largest=1 << 20):
        self.largest = largest
        self.came = bytearray()
        self.sink = self.source = self.within = None
        self.sink_ticks, self.sink_reads = [0, 0], 0
        self.started = {SINK: None, SOURCE: None}
        self.reports = {SINK: bytes(72), SOURCE: bytes(72)}

    def take(self, data):
        """Takes what came, and returns what is answered."""
        self.now = time.monotonic_ns()
        self.came += data
        said, before = b"", self.sink
        while self.came or self.within:
            answer = self.in_stream() if self.sink or self.within else self.between_streams()
            if answer is None:
                break
            said += answer
        if before and before is self.sink:
            self.sink_reads += 1
        return said

    def between_streams(self):
        noise, frame = next_frame(self.came, 0xA7, self.largest, LARGEST)
        del self.came[:noise]
        if not frame:
            return None
        header, end, intact = frame
        payload = bytes(self.came[header.size : end])
        del self.came[:end]
        return self.answer(header, payload, intact)

    def in_stream(self):
        if not self.within:
            used, self.within = self.sink.take(bytes(self.came))
            del self.came[:used]
            self.sink_ticks = [self.sink_ticks[0] or self.now, self.now]
            if not self.within:
                return None
        header = self.within
        is_known = not self.came or self.came[0] in (START, END)
        if header.kind in (SINK, SOURCE) and (header.payload < ORDER or not is_known):
            # No order: what follows is stream.
            self.within = None
            return b""
        if len(self.came) < header.payload:
            return None
        self.within = None
        payload = bytes(self.came[: header.payload])
        del self.came[: header.payload]
        intact = header.kind != EXCHANGE or payload == pattern(header.sequence, len(payload))
        if header.kind == MESSAGE:
            intact = is_message(payload)
        return self.answer(header, payload, intact)

    def answer(self, header, payload, intact):
        kind, wish = header.kind, header.in_bytes
        if header.frame > self.largest:
            return self.header(header, TOO_LARGE)
        if kind in (EXCHANGE, MESSAGE) and wish > self.largest:
            return self.header(header, TOO_LARGE)
        if kind == HELLO:
            return self.hello(header) if len(payload) >= HELLO_PAYLOAD else b""
        if kind in (SINK, SOURCE):
            return self.order(header, payload)
        if not intact and kind == MESSAGE:
            return self.header(header, OK, OUT_CORRUPTED)
        if kind == EXCHANGE:
            made = pattern(header.sequence, max(0, wish - 32))
        else:
            length, said = max(0, wish - 34), payload[:-2] or b"\0"
            made = (said * (length // len(said) + 1))[:length]
            made += crc(made).to_bytes(2, "little")
        return self.header(header, OK, 0 if intact else OUT_CORRUPTED, made)

    def header(self, request, status, flags=0, payload=b""):
        """An answer."""
        names = (0x7A, 0x10 | request.kind, 0, request.sequence)
        fields = (*names, len(payload), status, flags, self.now, time.monotonic_ns())
        return sealed(struct.pack("<BBHIIHHQQ", *fields)) + payload

    def hello(self, request):
        self.end(SINK)
        self.end(SOURCE)
        self.started = {SINK: None, SOURCE: None}
        limits = (self.largest, self.largest, 0, 0)
        fields = (1, 1, 64, 0, 0b111111, *limits, 10**9, b"from the page", bytes(8))
        return self.header(request, OK, 0, struct.pack("<BBBBIIIIIQ32s8s", *fields))

    def order(self, request, payload):
        kind = request.kind
        payload = payload if len(payload) >= ORDER else bytes(ORDER)
        verb, transfer, stop_after = struct.unpack_from("<BxxxIQ", payload)
        if verb == END:
            self.end(kind)
            return self.header(request, OK, 0, self.reports[kind])
        if verb != START or transfer == 0:
            return self.header(request, UNSUPPORTED)
        if transfer > self.largest:
            return self.header(request, TOO_LARGE)
        if self.started[kind] != request.sequence:
            self.started[kind] = request.sequence
            self.reports[kind] = bytes(72)
            if kind == SINK:
                self.sink, self.sink_ticks, self.sink_reads = Sink(), [0, 0], 0
            else:
                self.source = Source(transfer, stop_after)
        return self.header(request, OK)

    def end(self, kind):
        if kind == SINK and self.sink:
            self.sink.finish()
            carried = (self.sink_reads, 0, *self.sink_ticks)
            self.reports[SINK] = struct.pack("<9Q", *self.sink.counts(), *carried)
            self.sink = None
        if kind == SOURCE and self.source:
            it = self.source
            fields = (it.place, 0, 0, 0, 0, it.transfers, 0, it.first, it.last)
            self.reports[SOURCE] = struct.pack("<9Q", *fields)
            self.source = None


def serve(connection):
    """One connection until its end, which may be a reset."""
    responder, to_send = Responder(), bytearray()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setblocking(False)
    try:
        while True:
            if not to_send and responder.source:
                to_send += responder.source.next()
            reads = [connection] if len(to_send) <= responder.largest else []
            readable, _, _ = select.select(reads, [connection] if to_send else [], [])
            if readable:
                came = connection.recv(1 << 16)
                if not came:
                    return
                to_send += responder.take(came)
            if to_send:
                try:
                    del to_send[: connection.send(to_send)]
                except BlockingIOError:
                    pass
    except (ConnectionResetError, BrokenPipeError):
        pass
    finally:
        connection.close()


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"tcp://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()
