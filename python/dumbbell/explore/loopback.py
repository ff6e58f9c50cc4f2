"""A server of one page on the loopback interface: it answers only the page that it served."""

from __future__ import annotations

import errno
import json
import threading
from collections.abc import Generator, Mapping
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from dumbbell.base.errors import Cancelled, DumbbellError, EngineError, os_reason
from dumbbell.explore.guard import Guard
from dumbbell.explore.page import policy_of

__all__ = ["Answer", "Loopback"]

#: Most bytes of a request: a scenario with a long trace.
MAX_BODY = 8 << 20


class Loopback:
    """Listens on 127.0.0.1 and serves a page.

    Parameters
    ----------
    answer
        What answers a connection's requests.
    page
        The HTML.
    port
        To listen on; 0: any that is free.

    Attributes
    ----------
    is_over
        Set when it listens no more.

    Raises
    ------
    EngineError
        The port is taken, or may not be listened on.
    """

    def __init__(self, answer: type[Answer], page: str, port: int = 0) -> None:
        self.is_over = threading.Event()
        try:
            self.http = Listener(("127.0.0.1", port), answer)
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            why = "is taken" if taken else f"cannot be used: {os_reason(error)}"
            raise EngineError(
                f"port {port} {why}; choose another with `--port`, or omit it"
            ) from None
        self.guard = Guard(self.http.server_port)
        self.page, self.policy = page, policy_of(page)
        self.http.owner = self

    @property
    def url(self) -> str:
        """The address of the page, with the token."""
        return f"http://127.0.0.1:{self.http.server_port}/{self.guard.token}/"

    def serve(self) -> None:
        """Answer until the listener is shut down, or Ctrl-C."""
        try:
            self.http.serve_forever(poll_interval=0.1)
        finally:
            self.close()

    def close(self) -> None:
        """Listen no more."""
        self.is_over.set()
        self.http.server_close()


class Listener(ThreadingHTTPServer):
    """A thread for each connection; none keeps the process alive."""

    daemon_threads = True
    owner: Loopback


class Answer(BaseHTTPRequestHandler):
    """Answers one connection's requests.

    Attributes
    ----------
    gets, posts
        The methods that answer, by the path after the token.
    """

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a line is seen when it is sent
    server: Listener
    server_version, sys_version = "dumbbell", ""
    gets: ClassVar[Mapping[str, str]] = {"": "send_page"}
    posts: ClassVar[Mapping[str, str]] = {}

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- http.server's name
        """Say nothing: the terminal is the user's."""

    def do_GET(self) -> None:
        """Answer with the page, or what it reads."""
        self.answer(self.gets)

    def do_POST(self) -> None:
        """Answer what the page asks."""
        self.answer(self.posts)

    def answer(self, known: Mapping[str, str]) -> None:
        """Refuse a request that is not the page's own, or answer it."""
        if self.server.owner.is_over.is_set():
            self.close_connection = True  # an older connection of the browser's
            return
        guard = self.server.owner.guard
        path = urlsplit(self.path).path
        refusal = guard.refusal(path, self.headers)
        name = known.get(path.partition(f"{guard.token}/")[2])
        if refusal or name is None:
            # The request's body is not read, so nothing more of its connection is.
            self.close_connection = True
            self.send(403 if refusal else 404, "text/plain", refusal or "there is no such page")
            return
        try:
            getattr(self, name)()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the window was closed
        except DumbbellError as error:
            self.send(400, "text/plain", str(error))

    def query(self, name: str) -> str:
        """Return a value of the request's address; empty without."""
        return parse_qs(urlsplit(self.path).query).get(name, [""])[0]

    def asked(self) -> dict[str, Any]:
        """Return what a request asks.

        Raises
        ------
        EngineError
            It is not an object of JSON, or too long.
        """
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            raise EngineError("the request is too long, or does not say how long it is")
        try:
            asked = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict):
            raise EngineError("the request is not an object of JSON")
        return asked

    def send(self, code: int, kind: str, text: str) -> None:
        """Send a whole answer."""
        body = text.encode()
        self.send_response(code)
        self.send_headers(kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_headers(self, kind: str) -> None:
        """Send the headers that every answer has: nothing is kept, framed or said to others."""
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Content-Security-Policy", self.server.owner.policy)

    def begin_chunks(self, kind: str) -> None:
        """Begin an answer in parts."""
        self.send_response(200)
        self.send_headers(kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send_chunk(self, text: str) -> None:
        """Send a part of an answer."""
        body = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
        self.wfile.flush()

    def send_lines(self, lines: Generator[str]) -> None:
        """Send lines as they come, an error last; close them when the window is closed."""
        self.begin_chunks("application/x-ndjson")
        try:
            with closing(lines):
                for line in lines:
                    self.send_chunk(f"{line}\n")
        except Cancelled:
            self.send_chunk('{"kind": "overtaken"}\n')
        except DumbbellError as error:
            self.send_chunk(json.dumps({"kind": "error", "message": str(error)}) + "\n")
        self.wfile.write(b"0\r\n\r\n")

    def send_page(self) -> None:
        """Send the page."""
        self.send(200, "text/html", self.server.owner.page)
