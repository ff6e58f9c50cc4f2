"""Waiting for a QUIC server, as `WAITFORSERVER` asks."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable

from dumbbell.base.errors import EngineError, ScenarioError, os_reason
from dumbbell.base.quantities.excerpt import excerpt

__all__ = ["wait_for_quic"]

#: A version of the pattern that servers answer with version negotiation (RFC 9000 §15).
RESERVED_VERSION = bytes.fromhex("1a2a3a4a")
#: Smallest datagram that a server answers (RFC 9000 §14.1).
DATAGRAM_BYTES = 1200
#: How often a packet is sent, and how long a server may take, s.
EVERY_S = 0.25
PATIENCE_S = 10.0


def wait_for_quic(where: str, is_cancelled: Callable[[], bool] = lambda: False) -> None:
    """Wait until a QUIC server answers at `where`, like ``server:443``.

    Raises
    ------
    ScenarioError
        Not a host with a port.
    EngineError
        It does not answer.
    """
    host, _, port = where.rpartition(":")
    if not host or not port.isdecimal():
        raise ScenarioError(f"invalid WAITFORSERVER `{excerpt(where)}`: use e.g. `server:443`")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, int(port), type=socket.SOCK_DGRAM)[0]
    except OSError as error:
        raise EngineError(f"WAITFORSERVER `{where}`: {os_reason(error)}") from None
    deadline = time.monotonic() + PATIENCE_S
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.settimeout(EVERY_S)
        while time.monotonic() < deadline and not is_cancelled():
            try:
                probe.sendto(initial(), address)
                answer = probe.recv(2048)
            except OSError:
                time.sleep(0.01)  # refused, or nothing within the time
                continue
            if answer[:1] >= b"\x80" and answer[1:5] == bytes(4):
                return
    if not is_cancelled():
        raise EngineError(f"no QUIC server answers at {where} after {PATIENCE_S:g} s")


def initial() -> bytes:
    """Return a packet with a long header, of a version that does not exist (RFC 8999 §5.1)."""
    ids = b"".join(bytes([8]) + os.urandom(8) for _ in range(2))
    return (b"\xc0" + RESERVED_VERSION + ids).ljust(DATAGRAM_BYTES, b"\0")
