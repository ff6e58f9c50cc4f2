"""Frames between a process of foreign code, the server that forked it, and the parent.

A frame is a header (magic, length, CRC-32 of the payload) and a payload: a JSON object with one
word. `crates/cc/src/host/crash.rs` writes the same from a signal handler. Nothing here trusts the
sender: a frame that is too long, damaged, too deep or of another form raises `BrokenAnswer`.

The server loads this file without its package, so it uses the standard library only.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any, NoReturn

__all__ = ["BrokenAnswer", "FrameReader", "frame", "parse_json"]

MAGIC = b"DBA1"
#: Magic, length and CRC-32 of the payload.
HEADER = struct.Struct("<4sII")
#: Longest payload: a description with a thousand parameters fits.
FRAME_BYTES = 1 << 20
#: Most of all frames of one process: a word of progress each second for months.
TOTAL_BYTES = 256 << 20


class BrokenAnswer(Exception):
    """What a process sent is not what it may send; the message completes ``sent …``."""


def frame(document: dict[str, Any]) -> bytes:
    """Return a document as a frame."""
    payload = json.dumps(document).encode()
    return HEADER.pack(MAGIC, len(payload), zlib.crc32(payload)) + payload


class FrameReader:
    """Takes bytes as they arrive and returns the frames that are complete.

    Parameters
    ----------
    frame_bytes, total_bytes
        Limits of one frame's payload and of all bytes.
    """

    def __init__(self, frame_bytes: int = FRAME_BYTES, total_bytes: int = TOTAL_BYTES) -> None:
        self.frame_bytes = frame_bytes
        self.left_bytes = total_bytes
        self.unread = bytearray()

    def feed(self, data: bytes) -> list[tuple[str, Any]]:
        """Return the word and the value of each frame that `data` completes."""
        self.left_bytes -= len(data)
        if self.left_bytes < 0:
            raise BrokenAnswer("more than it may")
        self.unread += data
        found: list[tuple[str, Any]] = []
        while len(self.unread) >= HEADER.size:
            magic, length, checksum = HEADER.unpack_from(self.unread)
            if magic != MAGIC:
                raise BrokenAnswer("what is not an answer")
            if length > self.frame_bytes:
                raise BrokenAnswer(f"an answer of {length:,} bytes")
            if len(self.unread) < HEADER.size + length:
                break
            payload = bytes(self.unread[HEADER.size : HEADER.size + length])
            del self.unread[: HEADER.size + length]
            if zlib.crc32(payload) != checksum:
                raise BrokenAnswer("an answer with a wrong checksum")
            document = parse_json(payload)
            if not isinstance(document, dict) or len(document) != 1:
                raise BrokenAnswer("an answer of another form")
            found += document.items()
        return found


def parse_json(text: bytes) -> Any:
    """Read JSON from a process that is not trusted.

    Raises
    ------
    BrokenAnswer
        It is not JSON, nested too deeply, or has a number that JSON does not have.
    """
    try:
        return json.loads(text.decode(), parse_constant=refuse_constant)
    except (ValueError, RecursionError, MemoryError):
        raise BrokenAnswer("an answer that is not JSON") from None


def refuse_constant(name: str) -> NoReturn:
    """Refuse ``NaN`` and ``Infinity``, which Python's reader accepts."""
    raise ValueError(name)
