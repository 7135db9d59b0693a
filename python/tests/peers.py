"""What the tests of devices talk to: responders, ptys with somebody at the end, sockets."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import socketserver
import subprocess
import sys
import threading
import tty
from collections.abc import Callable, Iterator

BOUND_S = 30


@contextlib.contextmanager
def responder(address: str = "tcp://127.0.0.1:0", *flags: str) -> Iterator[str]:
    """`wiregauge serve` in a process of its own; its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "wiregauge", "serve", address, "--quiet", *flags],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("serving "), f"it said {line!r}"
        yield line.removeprefix("serving ").strip()
    finally:
        process.terminate()
        process.wait(BOUND_S)
        if process.stdout:
            process.stdout.close()


@contextlib.contextmanager
def instrument(answer: Callable[[bytes], bytes]) -> Iterator[str]:
    """A TCP server that answers each line as an instrument does, with what `answer` makes of it."""

    class Lines(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                self.wfile.write(answer(line))

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with Server(("127.0.0.1", 0), Lines) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextlib.contextmanager
def terminal(answer: Callable[[bytes], bytes]) -> Iterator[str]:
    """A pty whose other end answers each piece that it reads."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    tty.setraw(ours)
    leave, left = os.pipe()

    def serve() -> None:
        while True:
            ready, _, _ = select.select([ours, leave], [], [])
            if leave in ready:
                return
            with contextlib.suppress(OSError):
                os.write(ours, answer(os.read(ours, 65536)))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"serial://{os.ttyname(theirs)}"
    finally:
        os.write(left, b".")
        thread.join(BOUND_S)
        for descriptor in (ours, theirs, leave, left):
            os.close(descriptor)


@contextlib.contextmanager
def silent() -> Iterator[str]:
    """Somebody who takes everything and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held: list[socket.socket] = []

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    held.append(server.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        for one in held:
            one.close()
