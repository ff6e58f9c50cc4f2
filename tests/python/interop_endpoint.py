"""Endpoints for tests of `dumbbell emulate interop`: datagrams with numbers, and an echo.

A datagram is 50 bytes `P`, its number, and as many bytes as it takes.
"""

from __future__ import annotations

import json
import signal
import socket
import sys
import time
from contextlib import suppress

START = 50
NUMBER = slice(START, START + 8)


def open_socket(host: str) -> socket.socket:
    """Return a socket of the address's version of IP."""
    return socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def serve(host: str, port: int) -> None:
    """Echo; print what arrived: number, source, time, how many of the first bytes were wrong."""
    arrived = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with open_socket(host) as endpoint, suppress(SystemExit):
        endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        endpoint.bind((host, port))
        say("ready")
        while True:
            data, (address, source_port, *_) = endpoint.recvfrom(65535)
            wrong = sum(byte != ord("P") for byte in data[:START])
            number = int.from_bytes(data[NUMBER])
            arrived.append((number, f"{address}:{source_port}", time.time(), wrong, len(data)))
            endpoint.sendto(data, (address, source_port))
    say(json.dumps(arrived))


def send(host: str, port: int, count: int, every_s: float, size: int) -> None:
    """Send datagrams; print those echoed: number, when sent, when echoed, bytes wrong."""
    sent = {}
    echoed = []
    with open_socket(host) as endpoint:
        endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        endpoint.bind(("", 4433))
        endpoint.setblocking(False)
        start = time.time()
        last = start + count * every_s + 0.3
        number = 0
        while (now := time.time()) < last:
            while number < count and now >= start + number * every_s:
                head = b"P" * START + number.to_bytes(8)
                sent[number] = time.time()
                endpoint.sendto(head.ljust(size, b"."), (host, port))
                number += 1
            try:
                data = endpoint.recv(65535)
            except BlockingIOError:
                time.sleep(0.0002)
                continue
            echo = int.from_bytes(data[NUMBER])
            wrong = sum(byte != ord("P") for byte in data[:START])
            echoed.append((echo, sent[echo], time.time(), wrong))
    say(json.dumps({"sent": sent, "echoed": echoed}))


if __name__ == "__main__":
    role, host, port, *numbers = sys.argv[1:]
    if role == "server":
        serve(host, int(port))
    else:
        send(host, int(port), int(numbers[0]), float(numbers[1]), int(numbers[2]))
