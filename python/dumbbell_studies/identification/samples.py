"""Flows of a run's capture, with the group that each is of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dumbbell.identify import DatagramFlow, Flow, datagram_flows_in, flows_in

__all__ = ["LabelledFlow", "datagram_flows", "labelled_flows"]

#: Lines of a tap in the middle: data behind the bottleneck, ACKs before they reach the sender.
MIDDLE = ["bottleneck-out", "up-out"]
#: A flow with fewer packets says nothing.
LEAST_PKTS = 200


@dataclass(frozen=True)
class LabelledFlow:
    """A flow at one point, and the group that it is of.

    Attributes
    ----------
    group
        0: the algorithm; 1: its neighbours.
    flow
        What identification starts from.
    """

    group: int
    flow: Flow


def labelled_flows(capture: Path) -> Iterator[LabelledFlow]:
    """Go through a run's flows at the sender, in the middle and at the receiver."""
    for flow in flows_in(capture, joined_points=[MIDDLE]):
        point = flow.row["point"]
        if flow.row["data_pkts"] < LEAST_PKTS or point.endswith("-in"):
            continue
        # Addresses are 10.0.GROUP.1 and .2.
        yield LabelledFlow(int(flow.row["source"].split(".")[2]), flow)


def datagram_flows(capture: Path) -> Iterator[DatagramFlow]:
    """Go through a run's flows of QUIC at the sender."""
    for flow in datagram_flows_in(capture):
        if flow.row["data_pkts"] >= LEAST_PKTS and flow.row["point"].startswith("sender"):
            yield flow
