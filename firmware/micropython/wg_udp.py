# The protocol on datagrams: one frame each, and to an address never more bytes than came from it before it
# has proved that it is its sender's own (docs/protocol.md, "UDP: proof of address"). No sockets.

import hashlib

from wg_frames import (
    EXCHANGE,
    HEADER,
    HELLO,
    MESSAGE,
    SINK,
    SOURCE,
    is_header,
    message_is_whole,
    number_at,
    phase_of,
)
from wg_loops import agreeing, header_check
from wg_responder import NO_ROOM, RESPONSE, UNPROVEN, UNSUPPORTED, VERSION, Answers

# Hosts that are remembered as proved; the one heard last longest ago is forgotten.
PEERS = 4
PROOF_MS = 60_000
# A source stops so long after the last request: nothing else tells that its host has gone.
UNHEARD_MS = 10_000
HELLO_REQUEST = 104
_PERIOD_MS = 1 << 29


def keyed_hash(key, text):
    """HMAC-SHA-256 (RFC 2104), of a key of at most 64 bytes."""
    key = key + bytes(64 - len(key))
    inner = hashlib.sha256(bytes(b ^ 0x36 for b in key) + text).digest()
    return hashlib.sha256(bytes(b ^ 0x5C for b in key) + inner).digest()


class Peer:
    """A host that has proved its address, and its streams."""

    def __init__(self, device, address):
        self.answers = Answers(device, True)
        self.address = address
        self.heard_ms = 0


class Datagrams:
    """All hosts of one socket. An address is whatever the port's recvfrom() gives. `key`: 16 random bytes."""

    def __init__(self, device, key):
        self.device = device
        self._key = key
        self._peers = {}
        # For those who have proved nothing: they have no streams.
        self._strangers = Answers(device, True)

    def take(self, datagram, address, ticks, now_ms):
        """Takes a datagram, at now_ms of a clock that wraps at 2^29 ms or later; returns the answer, a view
        that holds until the next call, or None."""
        who = bytes(address) if isinstance(address, (bytes, bytearray)) else str(address).encode()
        peer = self._proved(who, now_ms)
        n = len(datagram)
        if n < HEADER or datagram[0] != 0xA7 or not self._is_true(datagram):
            self._stream(peer, datagram, ticks)
            return None
        answers = peer.answers if peer else self._strangers
        status = self._foreign(datagram)
        # While a sink flows, what is no frame is a piece of its stream.
        if status and not (peer and peer.answers.sinking):
            return self._refuse(answers, datagram, status, peer, ticks, True)
        if not is_header(datagram, 0, n, self.device.largest) or number_at(datagram, 8) + HEADER != n:
            if is_header(datagram, 0, n, n) and number_at(datagram, 8) + HEADER == n:
                return self._refuse(answers, datagram, NO_ROOM, peer, ticks, False)
            self._stream(peer, datagram, ticks)
            return None
        kind = datagram[1] & 0x0F
        if kind == HELLO:
            return self._hello(datagram, address, who, peer, ticks, now_ms) if n >= HELLO_REQUEST else None
        if peer:
            peer.heard_ms = now_ms
        if kind in (SINK, SOURCE):
            if not peer:
                return self._refuse(answers, datagram, UNPROVEN, peer, ticks, False)
            return answers.view[: answers.order(datagram, 0, HEADER, n, ticks)]
        payload = n - HEADER
        if kind == MESSAGE:
            intact = message_is_whole(datagram, HEADER, payload)
        else:
            intact = agreeing(datagram, HEADER, payload, phase_of(datagram, 0)) == payload
        size = answers.most_for(datagram, 0, intact)
        if not peer and size > n:
            status = NO_ROOM if size > self.device.largest else UNPROVEN
            return self._refuse(answers, datagram, status, peer, ticks, False)
        if kind == EXCHANGE:
            size = answers.exchange(datagram, 0, intact, ticks)
        else:
            size = answers.message(datagram, 0, HEADER, n, intact, ticks)
        return answers.view[:size]

    def give(self, now_ms):
        """The next datagram of any source that flows, as (view, address); None: none does."""
        for who in self._peers:
            peer = self._peers[who]
            answers = peer.answers
            if answers.sourcing and (now_ms - peer.heard_ms) % _PERIOD_MS > UNHEARD_MS:
                answers.stop_source()
            size = answers.transfer()
            if size:
                return answers.view[:size], peer.address
        return None

    def flows(self):
        """Whether give() would give something."""
        return any(peer.answers.sourcing and peer.answers.source.left() for peer in self._peers.values())

    def _is_true(self, b):
        return b[2] | b[3] << 8 == header_check(b, 0, HEADER)

    def _foreign(self, b):
        """What is said to a true header of another version, or of a kind that this one has not; 0 to all
        others."""
        if b[1] >> 4 != 1:
            return VERSION
        return UNSUPPORTED if b[1] & 0x0F > MESSAGE else 0

    def _refuse(self, answers, b, status, peer, ticks, foreign):
        """A header alone, to whom it is not more than was sent."""
        if not peer and len(b) < RESPONSE:
            return None
        if foreign:
            # Kind HELLO, of version 1: every host understands that.
            b = b"\xa7\x10\0\0" + b[4:HEADER]
        return answers.view[: answers.refuse(b, 0, status, ticks)]

    def _stream(self, peer, b, ticks):
        """A datagram that is no frame is a piece of a stream, if there is one. What looks like a frame in it
        is damage."""
        if peer and peer.answers.sinking:
            at = 0
            while at < len(b):
                at = peer.answers.take(b, at, len(b), ticks)

    def _proved(self, who, now_ms):
        peer = self._peers.get(who)
        if peer and (now_ms - peer.heard_ms) % _PERIOD_MS > PROOF_MS:
            del self._peers[who]
            return None
        return peer

    def _hello(self, b, address, who, peer, ticks, now_ms):
        token = keyed_hash(self._key, who)[:8]
        if b[HEADER : HEADER + 8] == token and not peer:
            while len(self._peers) >= PEERS:
                oldest = max(
                    self._peers, key=lambda other: (now_ms - self._peers[other].heard_ms) % _PERIOD_MS
                )
                del self._peers[oldest]
            peer = self._peers[who] = Peer(self.device, address)
        if peer:
            peer.heard_ms = now_ms
        answers = peer.answers if peer else self._strangers
        return answers.view[: answers.hello(b, 0, ticks, token)]
