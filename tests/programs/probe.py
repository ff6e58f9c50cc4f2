"""Numbered datagrams one way, and when each arrived: what a path or netem does to them.

``probe.py send PACKETS SPACING_US BYTES`` waits for a datagram at port 9 and answers with so many,
of that payload. ``probe.py receive FILE`` asks `server` for them, and writes a line for each that
arrives: its number and how long it was on its way, ns.
"""

from __future__ import annotations

import socket
import struct
import sys
import time
from pathlib import Path

#: Number and time of sending, ns.
HEADER = struct.Struct("!QQ")
#: `SO_TIMESTAMPNS` of Linux, and a `struct timespec`.
SO_TIMESTAMPNS, TIMESPEC = 35, struct.Struct("@qq")
SO_RCVBUFFORCE = 33
PORT = 9
SILENCE_S = 5


def send(packets: int, spacing_us: int, payload_bytes: int) -> None:
    """Send them to who asks first."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(("", PORT))
        _, peer = own.recvfrom(9)
        padding = bytes(payload_bytes - HEADER.size)
        for number in range(packets):
            own.sendto(
                HEADER.pack(number, time.clock_gettime_ns(time.CLOCK_REALTIME)) + padding, peer
            )
            if spacing_us:
                time.sleep(spacing_us / 1e6)
        time.sleep(10 * SILENCE_S)


def receive(file: Path) -> None:
    """Receive them until none has come for a while."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 28)
        own.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        own.settimeout(SILENCE_S)
        own.sendto(b"go", ("server", PORT))
        lines = []
        while True:
            try:
                payload, control, _, _ = own.recvmsg(2048, 64)
            except TimeoutError:
                break
            seconds, ns = TIMESPEC.unpack(control[0][2])
            number, sent_ns = HEADER.unpack(payload[: HEADER.size])
            lines.append(f"{number} {seconds * 10**9 + ns - sent_ns}\n")
        file.write_text("".join(lines))


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(*map(int, sys.argv[2:]))
    else:
        receive(Path(sys.argv[2]))
