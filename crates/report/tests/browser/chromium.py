"""A headless Chromium controlled through its DevTools protocol.

The protocol is spoken over two pipes (``--remote-debugging-pipe``): each message is JSON and ends with a
NUL. So nothing but Python's own library is needed, no port is opened, and no driver has to fit the
browser's version.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# For anything that is done in a page: much more than it takes, because the machine may be busy.
TIMEOUT_S = 60.0


class BrowserError(RuntimeError):
    """The browser did not do what it was asked."""


class Browser:
    """One browser process; `open` makes a page in it."""

    def __init__(self) -> None:
        program = next(filter(None, map(shutil.which, NAMES)), None)
        if program is None:
            raise BrowserError("no Chromium is installed (on Debian: apt-get install chromium)")
        self._profile = tempfile.TemporaryDirectory(prefix="wiregauge-browser-")
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        flags = [
            "--headless=new",
            "--remote-debugging-pipe",
            f"--user-data-dir={self._profile.name}",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")
        # The browser reads from descriptor 3 and writes to 4.
        redirect = f'exec "$@" 3<&{to_read} 4>&{to_write} 2>/dev/null'
        self._process = subprocess.Popen(
            ["bash", "-c", redirect, "bash", program, *flags],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def close(self) -> None:
        """Ends the browser and removes its profile."""
        with contextlib.suppress(BrowserError, OSError):
            self.call("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        with contextlib.suppress(OSError):
            self._profile.cleanup()

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Sends a command and returns its result; what comes meanwhile is kept in `events`."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        answer = self._until(lambda message: message.get("id") == number, method)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error'].get('message')}")
        return answer.get("result", {})

    def wait_event(self, session: str, method: str) -> dict[str, Any]:
        """Waits for an event that has not come yet, or takes the one that has."""

        def wanted(message: dict[str, Any]) -> bool:
            return message.get("sessionId") == session and message.get("method") == method

        for event in self.events:
            if wanted(event):
                return event
        return self._until(wanted, method)

    def _until(self, wanted: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            message = self._next(deadline, what)
            if "method" in message:
                self.events.append(message)
            if wanted(message):
                return message

    def _next(self, deadline: float, what: str) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                raise BrowserError(f"{what}: no answer within {TIMEOUT_S:.0f} s")
            data = os.read(self._read, 1 << 20)
            if not data:
                raise BrowserError(f"{what}: the browser has ended")
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open(
        self,
        path: Path,
        *,
        width: int = 1100,
        height: int = 900,
        dark: bool = False,
        scripts: bool = True,
        medium: str = "",
        before: str = "",
    ) -> Page:
        """Opens a file in a page of its own and waits until it is loaded; `before` is run before its scripts."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        page.call("Emulation.setEmulatedMedia", media=medium, features=scheme)
        page.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        page.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        if before:
            page.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.events.clear()
        page.call("Page.navigate", url=path.resolve().as_uri())
        self.wait_event(session, "Page.loadEventFired")
        return page


class Page:
    """One page of the browser."""

    def __init__(self, browser: Browser, target: str, session: str) -> None:
        self._browser = browser
        self._target = target
        self._session = session

    def close(self) -> None:
        """Closes the page; the browser stays."""
        self._browser.call("Target.closeTarget", targetId=self._target)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command of the protocol, to this page."""
        return self._browser.call(method, self._session, **parameters)

    def events(self, method: str) -> list[dict[str, Any]]:
        """What the page has reported under this name since it was opened."""
        # An answer to a later command: whatever was under way before it has arrived.
        self.call("Page.getLayoutMetrics")
        return [
            event["params"]
            for event in self._browser.events
            if event.get("sessionId") == self._session and event["method"] == method
        ]

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """Errors and warnings of the console, exceptions, what a policy refused."""
        said = [
            f"{event['type']}: {[a.get('value', a.get('description')) for a in event['args']]}"
            for event in self.events("Runtime.consoleAPICalled")
        ]
        said += [str(event["exceptionDetails"]) for event in self.events("Runtime.exceptionThrown")]
        said += [event["entry"]["text"] for event in self.events("Log.entryAdded")]
        return said

    def requests(self) -> list[str]:
        """Addresses that were asked for, that of the page itself included."""
        return [event["request"]["url"] for event in self.events("Network.requestWillBeSent")]

    def mouse(self, kind: str, x: float, y: float, buttons: int = 0) -> None:
        """A mouse event at a place of the viewport."""
        self.call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            button="left" if buttons or kind == "mouseReleased" else "none",
            buttons=buttons,
            clickCount=1 if kind in ("mousePressed", "mouseReleased") else 0,
        )

    def key(self, key: str) -> None:
        """A key pressed and released."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Writes a picture of the page, as PNG."""
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(picture["data"]))
