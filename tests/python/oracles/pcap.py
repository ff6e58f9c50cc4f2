"""Small captures made by hand: classic pcap, Ethernet, IPv4, TCP."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

__all__ = ["Record", "read_pcap", "tcp_frame", "write_pcap"]

MAGIC_US = 0xA1B2C3D4
ETHERNET = 1
SNAP = 262_144


class Record(NamedTuple):
    """A captured frame."""

    time_us: int
    frame: bytes
    original_bytes: int


def tcp_frame(
    *,
    source: tuple[str, int],
    destination: tuple[str, int],
    seq: int,
    ack: int = 0,
    flags: str = "A",
    window: int = 500,
    payload_bytes: int = 0,
    ip_id: int = 1,
    options: bytes = b"",
) -> bytes:
    """Build a frame with checksums; flags are of ``SAFRP``."""
    options += b"\x01" * (-len(options) % 4)
    bits = sum({"F": 1, "S": 2, "R": 4, "P": 8, "A": 16}[flag] for flag in flags)
    addresses = socket.inet_aton(source[0]) + socket.inet_aton(destination[0])
    offset = (5 + len(options) // 4) << 12
    tcp = struct.pack("!HHIIHHHH", source[1], destination[1], seq, ack, offset | bits, window, 0, 0)
    body = tcp + options + bytes(payload_bytes)
    tcp_sum = checksum(addresses + struct.pack("!HH", socket.IPPROTO_TCP, len(body)) + body)
    body = body[:16] + struct.pack("!H", tcp_sum) + body[18:]
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), ip_id, 0x4000, 64, 6, 0) + addresses
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    return bytes(6) + bytes(6) + b"\x08\x00" + header + body


def checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071)."""
    data += b"\x00" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def write_pcap(path: Path, records: Iterable[Record]) -> Path:
    """Write a classic pcap in microseconds."""
    parts = [struct.pack("<IHHiIII", MAGIC_US, 2, 4, 0, 0, SNAP, ETHERNET)]
    for record in records:
        seconds, us = divmod(record.time_us, 10**6)
        parts.append(
            struct.pack("<IIII", seconds, us, len(record.frame), record.original_bytes)
            + record.frame
        )
    path.write_bytes(b"".join(parts))
    return path


def read_pcap(path: Path) -> list[Record]:
    """Read a classic pcap in microseconds, little-endian, of Ethernet."""
    data = path.read_bytes()
    magic, link_type = struct.unpack_from("<I", data)[0], struct.unpack_from("<I", data, 20)[0]
    assert (magic, link_type) == (MAGIC_US, ETHERNET), path
    records, at = [], 24
    while at < len(data):
        seconds, us, captured, original = struct.unpack_from("<IIII", data, at)
        at += 16
        records.append(Record(seconds * 10**6 + us, data[at : at + captured], original))
        at += captured
    return records
