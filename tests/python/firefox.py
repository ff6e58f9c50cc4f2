"""Firefox without a window, driven through Marionette, the protocol that it has built in."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
#: Of one command or wait, s, on a busy machine.
PATIENCE_S = 240


class Firefox:
    """A browser with one page."""

    def __init__(self, profile: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (profile / "user.js").write_text(
            f'user_pref("marionette.port", {port});\nuser_pref("app.update.enabled", false);\n'
            'user_pref("datareporting.policy.dataSubmissionEnabled", false);\n',
            encoding="utf-8",
        )
        self.process = subprocess.Popen(
            [str(FIREFOX), "--headless", "--no-remote", "--marionette", "--profile", str(profile)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.socket = connected(port, self.process)
        self.number = 0
        self.rest = b""
        self.read()  # it says who it is
        self.call("WebDriver:NewSession", capabilities={})

    def close(self) -> None:
        self.socket.close()
        self.process.terminate()
        self.process.wait()

    def read(self) -> Any:
        """Return the next message: its length, a colon, and JSON."""
        while b":" not in self.rest:
            self.receive()
        length, _, self.rest = self.rest.partition(b":")
        while len(self.rest) < int(length):
            self.receive()
        message, self.rest = self.rest[: int(length)], self.rest[int(length) :]
        return json.loads(message)

    def receive(self) -> None:
        part = self.socket.recv(1 << 20)
        assert part, "the browser has ended"
        self.rest += part

    def call(self, command: str, **params: Any) -> Any:
        self.number += 1
        text = json.dumps([0, self.number, command, params]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, number, error, result = self.read()
        assert (number, error) == (self.number, None), error
        return result

    def open(self, url: str) -> None:
        self.call("WebDriver:Navigate", url=url)

    def js(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        return self.call("WebDriver:ExecuteScript", script=f"return {expression}", args=[])["value"]

    def until(self, condition: str) -> None:
        """Wait until an expression in the page holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.js(f"Boolean({condition})"):
            assert time.monotonic() < deadline, f"never: {condition}"
            time.sleep(0.05)


def connected(port: int, process: subprocess.Popen[bytes]) -> socket.socket:
    """Return a connection to a browser that is starting."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        except OSError:
            assert process.poll() is None, "the browser did not start"
            assert time.monotonic() < deadline, "the browser does not listen"
            time.sleep(0.1)
