"""Payload of a full packet: offload makes captured packets longer than the path's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["TIMESTAMPS_BYTES", "full_payload_bytes"]

#: Payload of a full packet where nothing else says it: of 1500 bytes, with timestamps.
USUAL_PAYLOAD_BYTES = 1448
#: Options that each packet with timestamps has, bytes (RFC 7323 appendix A).
TIMESTAMPS_BYTES = 12


def full_payload_bytes(row: Mapping[str, Any], mss_bytes: int | None) -> int:
    """Return what the options say, at most the largest that was seen.

    Parameters
    ----------
    row
        Of the data's direction, in ``connections``.
    mss_bytes
        The MSS that the receiver announced, which limits the sender (RFC 9293 §3.7.1).
    """
    payload = USUAL_PAYLOAD_BYTES
    if mss_bytes:
        options = TIMESTAMPS_BYTES if row["has_timestamps"] else 0
        payload = max(mss_bytes - options, 1)
    return min(payload, int(row["largest_segment_bytes"] or payload))
