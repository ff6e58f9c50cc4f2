"""What it makes unreliable where, and when, a connection was captured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Note", "notes_of"]


@dataclass(frozen=True)
class Note:
    """What to know before a connection's numbers are used.

    Attributes
    ----------
    connections
        Numbers of those it is about.
    about
        Its name in the column `notes`: ``at_receiver``, ``offload``, …
    message
        What is unreliable, and why.
    """

    connections: tuple[int, ...]
    about: str
    message: str

    def __str__(self) -> str:
        return f"{self.about}: {self.message}"

    def to_dict(self) -> dict[str, Any]:
        """Return the note as `--json` has it."""
        return {
            "connections": list(self.connections), "about": self.about, "message": self.message,
        }  # fmt: skip


#: What the engine's notes mean for the numbers, in the order in which they are told.
MESSAGES = {
    "at_receiver": "captured near the receiver: the RTT is only the receiver's delay in "
    "acknowledging, in flight is only what has arrived and is not acknowledged yet, and a "
    "retransmission whose original was lost on the way counts as out of order",
    "in_the_middle": "captured between sender and receiver: RTT and in-flight are those of the "
    "path behind the capture, and a retransmission whose original was lost before it counts as "
    "out of order",
    "unknown_vantage": "it cannot be told whether this was captured near the sender: RTT, "
    "in-flight and retransmissions are right only if it was",
    "one_direction": "no ACKs were captured: there is no RTT and no in-flight, and why something "
    "was sent again is not told apart",
    "began_before_capture": "began before the capture: MSS, window scale and whether SACK was "
    "agreed on are not known, and sequence numbers count from the first one seen",
    "offload": "packets are larger than the MSS, because the capture sits before the network card "
    "cuts or after it joins them (segmentation offload): packets are counted as captured, each is "
    "several on the wire; bytes are right",
    "missing_data": "data was acknowledged that the capture never saw: it lost packets, and what "
    "is counted is too low",
    "duplicates": "some packets are in the capture twice, of two interfaces or a mirrored port: "
    "the second is counted as a duplicate and as nothing else",
    "sequence_jump": "sequence numbers jumped further than any window: what was outstanding was "
    "forgotten there",
    "forgotten": "more was outstanding than is kept: some retransmissions and RTT samples are "
    "missing",
}


def notes_of(rows: Iterable[Mapping[str, Any]]) -> list[Note]:
    """Collect what is unreliable.

    Parameters
    ----------
    rows
        With `connection` and `notes`, a row per connection.
    """
    about: dict[str, list[int]] = {}
    for row in rows:
        for name in row["notes"].split():
            about.setdefault(name, []).append(row["connection"])
    known = [name for name in MESSAGES if name in about]
    unknown = [name for name in about if name not in MESSAGES]
    return [
        Note(tuple(about[name]), name, MESSAGES.get(name, name.replace("_", " ")))
        for name in (*known, *unknown)
    ]
