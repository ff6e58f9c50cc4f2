"""What is unreliable because of where or when a connection was captured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Note", "notes_of"]


@dataclass(frozen=True)
class Note:
    """A limitation of a connection's numbers.

    Attributes
    ----------
    connections
        Numbers of the connections.
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


#: What the engine's notes mean for the numbers, in the order in which they are printed.
MESSAGES = {
    "at_receiver": "captured near the receiver: the RTT is only the receiver's delay in "
    "acknowledging, in flight is only what has arrived and is not acknowledged yet, and a "
    "retransmission whose original was lost on the way counts as out of order",
    "in_the_middle": "captured between sender and receiver: RTT and in-flight are those of the "
    "path behind the capture, and a retransmission whose original was lost before it counts as "
    "out of order",
    "unknown_vantage": "it is unknown whether this was captured near the sender: RTT, "
    "in-flight and retransmissions are right only if it was",
    "one_direction": "no ACKs were captured: there is no RTT and no in-flight, and "
    "causes of retransmissions cannot be distinguished",
    "began_before_capture": "started before the capture: MSS, window scale and use of SACK "
    "are unknown, and sequence numbers count from the first one seen",
    "offload": "packets are larger than the MSS: they were captured before the network card "
    "splits or after it joins them (segmentation offload); packets are counted as captured, bytes "
    "are exact",
    "missing_data": "data was acknowledged that the capture does not contain: it lost packets, and "
    "counts are too low",
    "duplicates": "some packets are in the capture twice, from two interfaces or a mirrored port: "
    "the second is counted only as a duplicate",
    "unsorted": "packets are not in the order of their times, and were analysed as they come: "
    "in-flight, RTT and losses are those of another order; use a file, which is sorted, "
    "instead of a pipe",
    "undecided_repeats": "packets were repeated that nothing explains, and neither IP ids nor "
    "timestamps show whether the capture copied them: they count as retransmitted",
    "sequence_jump": "sequence numbers jumped further than any window, or are not those that the "
    "SYN announced: outstanding data was discarded there",
    "forgotten": "more data was outstanding than is tracked: some retransmissions and RTT samples "
    "are missing",
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
