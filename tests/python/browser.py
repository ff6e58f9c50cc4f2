"""Chromium without a window, driven through a pipe, for pages that let no script in."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
#: Of one command or wait, s, on a busy machine.
PATIENCE_S = 240


class Browser:
    """A browser with one page.

    Attributes
    ----------
    errors
        Uncaught errors of the page's scripts, and what they wrote to the console as errors.
    """

    def __init__(self, profile: Path) -> None:
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        # Chromium reads commands from 3 and writes answers to 4.
        command = (
            f'exec 3<&{to_browser} 4>&{from_browser}; exec "{CHROMIUM}" --headless --no-sandbox '
            "--disable-gpu --no-first-run --hide-scrollbars --remote-debugging-pipe "
            f'"--user-data-dir={profile}" about:blank'
        )
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", command], pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self.rest = b""
        self.number = 0
        self.session: str | None = None
        self.errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        self.process.terminate()
        os.close(self.write_end)
        os.close(self.read_end)
        self.process.wait()

    def call(self, method: str, **params: Any) -> Any:
        """Send a command and return its result."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.note(answer)

    def read(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_S
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.read_end], [], [], deadline - time.monotonic())
            assert ready, "the browser does not answer"
            self.rest += os.read(self.read_end, 1 << 20)
        message, _, self.rest = self.rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def note(self, event: dict[str, Any]) -> None:
        """Keep what went wrong in the page."""
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"]))
        if event.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        if event.get("method") == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.errors.append(json.dumps(params["args"]))

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def js(self, expression: str) -> Any:
        """Return the value of an expression in the page, or of the promise that it is."""
        found = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until an expression in the page holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.js(f"Boolean({condition})"):
            assert time.monotonic() < deadline, f"never: {condition}; {self.errors}"
            time.sleep(0.02)

    def size(self, width: int, height: int, *, scale: float = 1, dark: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=scale, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
