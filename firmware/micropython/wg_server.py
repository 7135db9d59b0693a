# Carries bytes between sockets or serial lines and responders: one loop around poll(), for boards,
# MicroPython's port for PCs, and CPython. Protocol and echo are served at once, on ports of their own.

import os
import select
import socket
import struct
import sys
import time

from wg_responder import Device, Responder
from wg_udp import Datagrams

MICROPYTHON = sys.implementation.name == "micropython"
ON_A_PC = sys.platform in ("linux", "darwin")
# Answers in a row to one host, before the others get their turn.
BURST = 16
# A connection that was silent for so long gives way to a new one when there is no place left.
SILENT_MS = 60_000
# The largest payload of UDP that no network splits.
DATAGRAM = 1472
_PERIOD_MS = 1 << 29


def ticks_ms():
    """A clock that wraps at 2^29 ms or later."""
    return time.ticks_ms() if MICROPYTHON else time.perf_counter_ns() // 1_000_000


class Echo:
    """Answers the same bytes; looks like a Responder."""

    def __init__(self, device):
        self.device = device
        self._view = memoryview(bytearray(device.largest))
        self.forget()

    def forget(self):
        """The host has gone."""
        self.to_send = self._view[:0]

    def room(self):
        """Where received bytes go: nowhere, while some are to be sent."""
        return self._view[:0] if len(self.to_send) else self._view

    def came(self, n, _ticks):
        """So many bytes came."""
        self.to_send = self._view[:n]

    def sent(self, n):
        """So many were sent."""
        self.to_send = self.to_send[n:]

    def answer(self):
        """Whether there is something to be sent."""
        return len(self.to_send) > 0


class Console:
    """The board's own USB port, where its prompt was. MicroPython reads it byte by byte; usb-device-cdc of
    micropython-lib makes a port of its own that can be read in blocks."""

    def __init__(self):
        import micropython

        # A 3 that comes is a byte like any other, and no Ctrl-C. Only a reset brings the prompt back.
        micropython.kbd_intr(-1)
        self.polled = sys.stdin
        self._poll = select.poll()
        self._poll.register(sys.stdin, select.POLLIN)
        self.write = sys.stdout.buffer.write

    def readinto(self, view):
        """As many bytes as are there."""
        n = 0
        while n < len(view) and self._poll.poll(0):
            if not sys.stdin.buffer.readinto(view[n : n + 1]):
                break
            n += 1
        return n or None


class Line:
    """A byte stream and the responder on it."""

    def __init__(self, stream, responder, polled, has_end, pool):
        self._stream = stream
        self._responder = responder
        self.polled = polled
        # A socket that gives 0 bytes is closed; a tty is not.
        self._has_end = has_end
        self._pool = pool
        self.heard_ms = ticks_ms()
        responder.forget()

    def turn(self, events):
        """Takes and sends what can be; returns the events to wait for next, 0 if the host has gone."""
        responder = self._responder
        try:
            if events & select.POLLIN:
                room = responder.room()
                if len(room):
                    n = self._stream.readinto(room)
                    if n:
                        responder.came(n, responder.device.ticks())
                        self.heard_ms = ticks_ms()
                    elif n == 0 and self._has_end:
                        return 0
            elif events & (select.POLLHUP | select.POLLERR) and self._has_end:
                return 0
            for _ in range(BURST):
                if not responder.answer():
                    break
                n = self._stream.write(responder.to_send)
                if not n:
                    break
                responder.sent(n)
        except OSError:
            return 0
        wanted = select.POLLOUT if len(responder.to_send) or responder.answer() else 0
        return wanted | (select.POLLIN if len(responder.room()) else 0)

    def close(self):
        """Gives its responder back."""
        self._pool.append(self._responder)
        self._stream.close()
        self.polled.close()


class Listener:
    """Takes TCP connections, each with a responder that was made beforehand."""

    def __init__(self, server, port, pool):
        self._server = server
        self._pool = pool
        self._lines = []
        self.polled = bound(socket.SOCK_STREAM, port)
        self.polled.listen(4)

    def turn(self, _events):
        """Takes one connection."""
        try:
            connection = self.polled.accept()[0]
        except OSError:
            return select.POLLIN
        self._lines = [line for line in self._lines if line.polled in self._server]
        if not self._pool:
            now = ticks_ms()
            oldest = max(self._lines, key=lambda line: (now - line.heard_ms) % _PERIOD_MS)
            if (now - oldest.heard_ms) % _PERIOD_MS < SILENT_MS:
                connection.close()
                return select.POLLIN
            self._server.leave(oldest)
        connection.setblocking(False)
        try:
            # IPPROTO_TCP, TCP_NODELAY: an answer is not kept back until another one can go with it.
            connection.setsockopt(6, 1, 1)
        except Exception:
            pass  # Ports that cannot say so in ways of their own.
        stream = connection if MICROPYTHON else connection.makefile("rwb", buffering=0)
        line = Line(stream, self._pool.pop(), connection, True, self._pool)
        self._lines.append(line)
        self._server.join(line)
        return select.POLLIN


class Packets:
    """UDP: the protocol, or an echo if there are no hosts to be remembered."""

    def __init__(self, port, hosts, device):
        self.polled = bound(socket.SOCK_DGRAM, port)
        self._hosts = hosts
        self._device = device

    def turn(self, events):
        """Answers what has come; sends what sources have."""
        hosts = self._hosts
        for _ in range(BURST if events & select.POLLIN else 0):
            try:
                datagram, address = self.polled.recvfrom(DATAGRAM + 1)
            except OSError:
                break
            ticks = self._device.ticks()
            # Requests from reserved ports are how two echo services are set upon each other for ever.
            if port_of(address) >= 1024:
                self._send(hosts.take(datagram, address, ticks, ticks_ms()) if hosts else datagram, address)
        if not hosts:
            return select.POLLIN
        for _ in range(BURST if events & select.POLLOUT else 0):
            given = hosts.give(ticks_ms())
            if not given:
                break
            self._send(*given)
        return select.POLLIN | (select.POLLOUT if hosts.flows() else 0)

    def _send(self, datagram, address):
        if datagram is None:
            return
        try:
            self.polled.sendto(datagram, address)
        except OSError:
            pass  # There is no room for it, or nobody there: the host sees a loss.


class Server:
    """Everything that is waited for."""

    def __init__(self):
        self._poll = select.poll()
        self._all = {}
        self._wait = getattr(self._poll, "ipoll", self._poll.poll)

    def _key(self, polled):
        # CPython's poll() gives descriptors, MicroPython's the objects.
        return id(polled) if MICROPYTHON else polled if isinstance(polled, int) else polled.fileno()

    def __contains__(self, polled):
        """Whether it is waited for."""
        return any(one[0].polled is polled for one in self._all.values())

    def join(self, one):
        """Waits for it too."""
        self._all[self._key(one.polled)] = [one, select.POLLIN]
        self._poll.register(one.polled, select.POLLIN)

    def leave(self, one):
        """Waits for it no more, and closes it."""
        self._poll.unregister(one.polled)
        del self._all[self._key(one.polled)]
        one.close()

    def run(self):
        """Serves for ever."""
        while True:
            came = False
            # A connection that ends makes place for the one that comes behind it, so those are taken last.
            for event in self._wait(-1):
                entry = self._all.get(self._key(event[0]))
                if entry is None:
                    continue
                if isinstance(entry[0], Listener):
                    came = True
                else:
                    self._turn(entry, event[1])
            if came:
                for entry in [entry for entry in self._all.values() if isinstance(entry[0], Listener)]:
                    self._turn(entry, select.POLLIN)

    def _turn(self, entry, events):
        one, waited = entry
        wanted = one.turn(events)
        if not wanted:
            self.leave(one)
        elif wanted != waited:
            entry[1] = wanted
            self._poll.modify(one.polled, wanted)


def bound(kind, port):
    """A socket that never waits. A PC is asked by itself only, a board by whoever is in its network."""
    address = socket.getaddrinfo("127.0.0.1" if ON_A_PC else "0.0.0.0", port, 0, kind)[0][-1]
    made = socket.socket(socket.AF_INET, kind)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(address)
    made.setblocking(False)
    return made


def port_of(address):
    """The port in what recvfrom() gives: a tuple, or the system's own structure on MicroPython's port for
    PCs."""
    return struct.unpack_from(">H", address, 2)[0] if isinstance(address, (bytes, bytearray)) else address[1]


def serve(port=7700, echo_port=7, line=None, line_echoes=False, name=None, largest=2048, clients=2):
    """Serves on TCP and UDP, on both ports (None: not on this one), and on a line: a machine.UART, a Console
    or an opened file. For each of `clients` TCP connections there must be three times `largest` of memory."""
    device = Device(name, largest)
    server = Server()
    if port is not None:
        server.join(Listener(server, port, [Responder(device) for _ in range(clients)]))
        small = Device(name, min(largest, DATAGRAM))
        server.join(Packets(port, Datagrams(small, os.urandom(16)), small))
    if echo_port is not None:
        server.join(Listener(server, echo_port, [Echo(device) for _ in range(clients)]))
        server.join(Packets(echo_port, None, device))
    if line is not None:
        responder = Echo(device) if line_echoes else Responder(device)
        server.join(Line(line, responder, getattr(line, "polled", line), False, []))
    # On a Console these would be bytes of the line.
    if not isinstance(line, Console):
        print("ready")
    server.run()
