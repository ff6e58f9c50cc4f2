"""Reordering a capture: the frames change places, the times stay."""

from __future__ import annotations

from collections.abc import Sequence

from tests.python.oracles.pcap import Record

__all__ = ["delayed"]

#: Ethernet and IPv4 without options; the least that TCP's header takes.
PAYLOAD_FROM = 14 + 20 + 20


def delayed(records: Sequence[Record], source: bytes, every: int, places: int) -> list[Record]:
    """Let every so-manieth data packet of a sender arrive some data packets later.

    Parameters
    ----------
    records
        A capture behind the place where the reordering is to have happened.
    source
        IPv4 address of the data's sender, as on the wire.
    every, places
        Which, and behind how many of its followers.
    """
    times = [record.time_us for record in records]
    data = [
        index
        for index, record in enumerate(records)
        if record.frame[26:30] == source and record.original_bytes > PAYLOAD_FROM + 40
    ]
    order = list(range(len(records)))
    # Within the data packets only: ACKs stay where they are.
    moved = list(data)
    for start in range(every, len(data) - places, every):
        moved[start : start + places + 1] = [*data[start + 1 : start + places + 1], data[start]]
    for place, index in zip(data, moved, strict=True):
        order[place] = index
    return [records[index]._replace(time_us=time) for time, index in zip(times, order, strict=True)]
