"""Who may ask the server: only the page that it served, on this machine.

A page on the web can send requests to the loopback interface, and make its own name point there
(DNS rebinding). It knows no token, its requests have its own Origin, and its name is in Host.
"""

from __future__ import annotations

import hmac
import secrets
from email.message import Message

__all__ = ["Guard"]

#: Bytes of a token.
TOKEN_BYTES = 16
#: Mode and destination of a link that a person follows; a frame's destination is another.
FOLLOWS = ("navigate", "document")
LOOPBACK = ("127.0.0.1", "localhost")


class Guard:
    """The token of a server, and the names it is called by.

    Parameters
    ----------
    port
        Of the server.
    """

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self.hosts = {f"{name}:{port}" for name in LOOPBACK}

    def refusal(self, path: str, headers: Message) -> str:
        """Return why a request is refused; empty if it is not. Names of headers have no case."""
        if headers.get("Host", "") not in self.hosts:
            return "the request names another host"
        origin = headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return "the request comes from another page"
        # Who follows a link that has the token, as in `redirect_page`, may: it is only shown.
        follows = (headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest")) == FOLLOWS
        is_own = headers.get("Sec-Fetch-Site", "none") in ("same-origin", "none")
        if not is_own and (origin is not None or not follows):
            return "the request comes from another page"
        if not hmac.compare_digest(token_of(path).encode(), self.token.encode()):
            return "the token is not this server's; use the address that `dumbbell explore` printed"
        return ""


def token_of(path: str) -> str:
    """Return the first part of a path, where the token is."""
    return path.lstrip("/").partition("/")[0]
