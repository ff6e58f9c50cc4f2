"""What it makes unreliable where, and when, a connection was captured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Note", "notes_of"]

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Note:
    """What to know before a connection's numbers are used.

    Attributes
    ----------
    connections
        Numbers of those it is about.
    about
        What it is about: ``receiver``, ``offload``, …
    message
        What is unreliable, and why.
    """

    connections: tuple[int, ...]
    about: str
    message: str

    def to_dict(self) -> dict[str, Any]:
        """Return the note as `--json` has it."""
        return {
            "connections": list(self.connections), "about": self.about, "message": self.message,
        }  # fmt: skip


@dataclass(frozen=True)
class Remark:
    """A note to be made where something is so."""

    about: str
    applies: Callable[[Row], bool]
    message: str


#: In the order in which they are told. A row is of the direction that carries the data.
REMARKS = (
    Remark(
        "receiver",
        lambda row: row["vantage"] == "receiver" and row["payload_bytes"] > 0,
        "captured near the receiver: the RTT is only the receiver's delay in acknowledging, "
        "in-flight is only what has arrived and is not acknowledged yet, and a retransmission "
        "whose original was lost on the way looks out of order",
    ),
    Remark(
        "middle",
        lambda row: row["vantage"] == "middle" and row["payload_bytes"] > 0,
        "captured between sender and receiver: the RTT and in-flight are those of the path behind "
        "the capture, and a retransmission whose original was lost before it looks out of order",
    ),
    Remark(
        "unknown",
        lambda row: row["vantage"] == "unknown" and row["payload_bytes"] > 0,
        "it cannot be told whether this was captured near the sender: RTT, in-flight and "
        "retransmissions are right only if it was",
    ),
    Remark(
        "one direction",
        lambda row: row["rtt_count"] == 0 and row["acks_seen"] == 0 and row["data_pkts"] > 1,
        "no ACKs were captured: there is no RTT and no in-flight",
    ),
    Remark(
        "began before capture",
        lambda row: bool(row["began_before_capture"]),
        "began before the capture: its window scale and its MSS are not known, and sequence "
        "numbers count from the first one seen",
    ),
    Remark(
        "offload",
        lambda row: bool(row["offload"]),
        "segments are larger than the MSS, because the capture sits before the network card cuts "
        "or after it joins them (segmentation offload): packets are counted as captured, and each "
        "is several on the wire; bytes are right",
    ),
    Remark(
        "missing",
        lambda row: (row["missing_bytes"] or 0) > 0,
        "data was acknowledged that the capture never saw: it lost packets, and what is counted "
        "is too low",
    ),
    Remark(
        "captured twice",
        lambda row: (row["duplicate_pkts"] or 0) > 0,
        "some packets are in the capture twice (two interfaces, or a mirrored port); the second is "
        "counted as a duplicate and as nothing else",
    ),
)


def notes_of(rows: list[dict[str, Any]]) -> list[Note]:
    """Collect what is unreliable.

    Parameters
    ----------
    rows
        Of `best_views`: both directions of each connection, that with the data first.
    """
    acks = {row["connection"]: row["pkts"] for row in rows if not row["is_data"]}
    data = [{**row, "acks_seen": acks.get(row["connection"], 0)} for row in rows if row["is_data"]]
    notes = []
    for remark in REMARKS:
        numbers = tuple(row["connection"] for row in data if remark.applies(row))
        if numbers:
            notes.append(Note(numbers, remark.about, remark.message))
    return notes
