"""What a capture lacks, and what was left out of its analysis, in lines for a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

__all__ = ["match_trouble", "trouble"]

Reading = Mapping[str, Any]

#: How many protocols that were not read are named.
MAX_NAMED = 6

#: What could not be read, in words.
UNREAD = {
    "not_ip": "neither IPv4 nor IPv6",
    "not_tcp": "not TCP",
    "fragments": "IP fragments of packets of which others are missing",
    "cut_headers": "cut before the end of their TCP header",
    "bad_lengths": "with lengths that contradict one another",
    "unknown_link_type": "of an interface whose link type is not known here",
}


def trouble(reading: Reading) -> list[str]:
    """Write what the capture lacks, what could not be read and what was left out."""
    parts = [f"{reading[key]:,} {what}" for key, what in UNREAD.items() if reading.get(key)]
    named = Counter[str](reading.get("unread", {})).most_common(MAX_NAMED)
    names = ", ".join(f"{name} {count:,}" for name, count in named)
    more = len(reading.get("unread", {})) - len(named)
    names += f" and {more:,} more kinds" if more else ""
    lines = (
        [f"not analysed: {', '.join(parts)}" + (f" ({names})" if names else "")] if parts else []
    )
    damage = reading.get("damage")
    if damage:
        lines.append(
            f"damaged: {damage['what']} at byte {damage['offset']:,}; what came before is analysed"
        )
    for interface in reading["interfaces"]:
        missed_pkts = interface["missed_pkts"]
        if missed_pkts:
            lines.append(
                f"missing: {missed_pkts:,} packets at {interface['name']}, which the capturing "
                "machine dropped before they were captured"
            )
    # A matching's reading has none of these.
    lines += [
        f"note: {' and '.join(names)} saw one direction each, as the lines of a tap: analysed "
        f"as one point, {'+'.join(names)}"
        for names in reading.get("joined_points", ())
    ]
    given_up = reading.get("given_up")
    if given_up and given_up["views"]:
        lines.append(
            f"left out: {given_up['views']:,} connections at a point, for lack of room, with "
            f"{given_up['pkts']:,} packets and {given_up['payload_bytes']:,} bytes of payload"
        )
    dropped_rows = reading.get("dropped_segment_rows")
    if dropped_rows:
        lines.append(
            f"left out: {dropped_rows:,} rows of segments, for lack of room; name fewer connections"
        )
    return lines


def match_trouble(reading: Reading, *, is_one_file: bool) -> list[str]:
    """Write the same of two captures that were matched, and what matching left out.

    Parameters
    ----------
    reading
        ``before`` and ``after``, and counts of both.
    is_one_file
        Whether both are points of one capture, whose warnings are printed once.
    """
    if is_one_file:
        lines = trouble(reading["before"])
    else:
        lines = [
            f"{which}: {line}" for which in ("before", "after") for line in trouble(reading[which])
        ]
    directions = reading["translated_directions"]
    if directions:
        lines.append(
            f"note: {directions:,} directions of connections have other addresses or ports after "
            "than before, as behind a NAT: matched by all but those"
        )
    if reading["before_pkts"] and reading["after_pkts"] and not reading["matched_pkts"]:
        lines.append(
            "nothing matches: no packet of the second capture has the sequence and acknowledgment "
            "numbers, length and flags of one of the first, with any addresses and ports; look "
            "at whether they are of the same connections and the same time"
        )
    if reading["hurried_pkts"]:
        lines.append(
            f"not waited for: {reading['hurried_pkts']:,} packets, for lack of room; they count "
            "as seen by one capture only"
        )
    if reading["dropped_rows"]:
        lines.append(f"left out: {reading['dropped_rows']:,} rows of packets, for lack of room")
    return lines
