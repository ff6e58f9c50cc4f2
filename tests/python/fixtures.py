"""Captures made by hand, of which a person can count everything."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from tests.python.oracles.pcap import Record, tcp_frame

__all__ = [
    "CLIENT",
    "CLIENT_ISN",
    "MSS",
    "SERVER",
    "SERVER_ISN",
    "capture_records",
    "download",
    "write_pcapng",
]  # fmt: skip

CLIENT, SERVER = ("192.0.2.1", 40_000), ("198.51.100.7", 443)
MSS = 1000
CLIENT_ISN, SERVER_ISN = 2**32 - 1500, 5_000  # the client's numbers wrap
SYN_OPTIONS = struct.pack("!BBH", 2, 4, MSS) + b"\x04\x02" + b"\x03\x03\x07"


def sack(start: int, end: int) -> bytes:
    return b"\x01\x01" + struct.pack("!BBII", 5, 10, start % 2**32, end % 2**32)


def capture_records() -> list[Record]:
    """A connection at its sender: 40 ms RTT, four segments, the second is lost and sent again."""
    ids = {CLIENT: 0, SERVER: 0}
    records = []

    def add(time_ms: float, source: Any, seq: int, ack: int, **words: Any) -> None:
        ids[source] += 1
        destination = SERVER if source is CLIENT else CLIENT
        frame = tcp_frame(
            source=source, destination=destination, seq=seq % 2**32, ack=ack % 2**32,
            ip_id=ids[source], **words,
        )  # fmt: skip
        records.append(Record(1_700_000_000_000_000 + round(time_ms * 1000), frame, len(frame)))

    first, reply = CLIENT_ISN + 1, SERVER_ISN + 1
    add(0, CLIENT, CLIENT_ISN, 0, flags="S", options=SYN_OPTIONS)
    add(40, SERVER, SERVER_ISN, first, flags="SA", options=SYN_OPTIONS)
    add(40.1, CLIENT, first, reply)
    for number in range(4):
        add(50 + number, CLIENT, first + MSS * number, reply, payload_bytes=MSS)
    add(90, SERVER, reply, first + MSS)
    add(92, SERVER, reply, first + MSS, options=sack(first + 2 * MSS, first + 3 * MSS))
    add(93, SERVER, reply, first + MSS, options=sack(first + 2 * MSS, first + 4 * MSS))
    add(94, CLIENT, first + MSS, reply, payload_bytes=MSS)
    add(134, SERVER, reply, first + 4 * MSS)
    add(140, CLIENT, first + 4 * MSS, reply, flags="FA")
    add(180, SERVER, reply, first + 4 * MSS + 1, flags="FA")
    add(180.1, CLIENT, first + 4 * MSS + 1, reply + 1)
    return records


def download() -> list[Record]:
    """A connection in which the one who did not begin it sends the data."""
    packets: list[tuple[Any, int, int, str, int]] = [
        (CLIENT, 100, 0, "S", 0),
        (SERVER, 500, 101, "SA", 0),
        (CLIENT, 101, 501, "A", 0),
        (SERVER, 501, 101, "A", MSS),
        (CLIENT, 101, 501 + MSS, "A", 0),
    ]
    records = []
    for number, (source, seq, ack, flags, payload_bytes) in enumerate(packets):
        destination = SERVER if source is CLIENT else CLIENT
        frame = tcp_frame(
            source=source, destination=destination, seq=seq, ack=ack, flags=flags, ip_id=number,
            payload_bytes=payload_bytes,
        )  # fmt: skip
        records.append(Record(10**6 + 10_000 * number, frame, len(frame)))
    return records


def pcapng_block(kind: int, body: bytes) -> bytes:
    """Build a block of a pcapng file."""
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def write_pcapng(path: Path, records: list[Record], *, missed_pkts: int) -> Path:
    """Write a pcapng of one interface, whose kernel dropped packets (`isb_ifdrop`), as dumpcap."""
    blocks = [
        pcapng_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
        pcapng_block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HH4s", 2, 4, b"eth0")),
    ]
    for record in records:
        size = len(record.frame)
        times = divmod(record.time_us, 2**32)
        padded = record.frame + bytes(-size % 4)
        blocks.append(
            pcapng_block(6, struct.pack("<IIIII", 0, *times, size, record.original_bytes) + padded)
        )
    drops = struct.pack("<HHQ", 5, 8, missed_pkts)
    blocks.append(pcapng_block(5, struct.pack("<III", 0, 0, 0) + drops))
    path.write_bytes(b"".join(blocks))
    return path
