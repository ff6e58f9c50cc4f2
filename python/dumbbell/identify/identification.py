"""Identifies the algorithm of each connection in a capture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dumbbell._core import ENGINE_VERSION
from dumbbell.base.errors import CaptureError
from dumbbell.base.quantities.printable import printable
from dumbbell.capture_analysis.analyze import STDIN
from dumbbell.capture_analysis.best_point import best_views
from dumbbell.identify.datagram_flows import DatagramFlow, datagram_flows_of
from dumbbell.identify.datagram_trace import datagram_trace_of
from dumbbell.identify.facts import measured_of
from dumbbell.identify.features import features_of
from dumbbell.identify.floats import Floats
from dumbbell.identify.flows import Flow, flows_of
from dumbbell.identify.limits import (
    Hindrance,
    doubts_of,
    few_decisions,
    hindrance_of,
    never_filled,
    no_trace,
    quic_elsewhere,
)
from dumbbell.identify.model import Model, Opinion, shipped_model
from dumbbell.identify.reading import read_capture, read_datagrams
from dumbbell.identify.reason import reason_of
from dumbbell.identify.rounds import Rounds, rounds_of
from dumbbell.identify.trace import Trace, trace_of

__all__ = [
    "IDENTIFY_SCHEMA_VERSION", "Identification", "Identified", "identify", "identify_flow",
    "identify_quic_flow",
]  # fmt: skip

#: Version of `Identification.to_dict` and of `identify --json`.
IDENTIFY_SCHEMA_VERSION = 1
#: A capture with fewer packets of UDP, and a flow with fewer bytes, has no bulk transfer over QUIC.
LEAST_UDP_PKTS, LEAST_UDP_BYTES = 200, 100_000
#: Algorithms that act on delay or marks: they may fill a path without a queue.
LEAVE_NO_QUEUE = frozenset(
    {"bbr", "bbr3", "cdg", "copa", "dctcp", "ledbat", "lp", "nv", "prague", "vegas", "yeah"}
)
#: With fewer rounds there are no features; limits.py asks for more.
LEAST_ROUNDS = 16
#: Numbers of connections that an error lists.
LISTED = 8
#: Less likely algorithms are not listed.
LEAST_CANDIDATE = 0.01


@dataclass(frozen=True)
class Identified:
    """What is said of one connection.

    Attributes
    ----------
    connection
        Its number, as `analyze` has it.
    protocol
        ``tcp`` or ``udp``.
    point, vantage
        Where it was captured, and where on the path that is.
    source, source_port, destination, destination_port
        Of the data's direction.
    algorithm
        None for unknown, and where there is no answer.
    probability
        Of the most likely known algorithm; None where there is no answer.
    typical
        The share of that algorithm's flows that look no more like it than this one.
    candidates
        Known algorithms by probability, those above 1 %.
    reason
        In words, with this flow's numbers.
    doubts
        Why the answer is less certain than it could be.
    hindrance
        Why there is no answer, and what to capture instead.
    measured
        The flow's features.
    trace, rounds
        For the picture.
    """

    connection: int
    protocol: str
    point: str
    vantage: str
    source: str
    source_port: int
    destination: str
    destination_port: int
    payload_bytes: int
    algorithm: str | None
    probability: float | None
    typical: float | None
    candidates: tuple[tuple[str, float], ...]
    reason: str
    doubts: tuple[str, ...]
    hindrance: Hindrance | None
    measured: dict[str, float]
    trace: Trace | None = field(repr=False, compare=False, default=None)
    rounds: Rounds | None = field(repr=False, compare=False, default=None)

    @property
    def verdict(self) -> str:
        """The algorithm's name, ``unknown``, or ``no answer``."""
        if self.hindrance is not None:
            return "no answer"
        return self.algorithm or "unknown"

    def to_dict(self) -> dict[str, Any]:
        """Return it as `--json` has it."""
        return {
            "connection": self.connection,
            "protocol": self.protocol,
            "point": self.point,
            "vantage": self.vantage,
            "source": self.source,
            "source_port": self.source_port,
            "destination": self.destination,
            "destination_port": self.destination_port,
            "payload_bytes": self.payload_bytes,
            "verdict": self.verdict,
            "algorithm": self.algorithm,
            "probability": self.probability,
            "typical": self.typical,
            "candidates": [{"algorithm": name, "probability": p} for name, p in self.candidates],
            "reason": self.reason,
            "doubts": list(self.doubts),
            "hindrance": None if self.hindrance is None else self.hindrance.to_dict(),
            "measured": self.measured,
        }


@dataclass(frozen=True)
class Identification:
    """What is said of a capture's connections.

    Attributes
    ----------
    path
        The capture's.
    reading
        How the reading went, as `analyze` has it.
    connections
        Those with data, most payload first.
    """

    path: str
    reading: dict[str, Any]
    connections: tuple[Identified, ...]

    def connection(self, number: int) -> Identified:
        """Return what is said of a connection, by its number.

        Raises
        ------
        CaptureError
            There is no such connection, or it carried no data.
        """
        for each in self.connections:
            if each.connection == number:
                return each
        numbers = ", ".join(str(each.connection) for each in self.connections[:LISTED])
        raise CaptureError(
            f"{printable(self.path)}: no connection {number} with data; "
            + (f"those with most payload: {numbers}" if numbers else "it has none")
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as `--json` prints it."""
        return {
            "schema_version": IDENTIFY_SCHEMA_VERSION,
            "engine_version": ENGINE_VERSION,
            "file": self.path,
            "reading": self.reading,
            "connections": [each.to_dict() for each in self.connections],
        }


def identify(
    path: str | Path, *, points: Sequence[str] | None = None, model: Model | None = None
) -> Identification:
    """Identify the congestion control algorithm of each connection in a capture.

    Parameters
    ----------
    path
        pcap or pcapng, plain, gzip or zstd; or the directory of a run that has a capture.
    points
        Names of the capture points (interfaces) to look at; without it all.
    model
        Another than the one that comes with dumbbell.

    Returns
    -------
    Identification
        For each connection with data the algorithm, its probability and the reason.

    Raises
    ------
    CaptureError
        The file cannot be read, or is not a capture.

    Examples
    --------
    >>> import dumbbell
    >>> dumbbell.identify("missing.pcap")
    Traceback (most recent call last):
    dumbbell.base.errors.CaptureError: missing.pcap: cannot be read: no such file or directory
    """
    reading, tables = read_capture(path, points=points)
    flows = flows_of(best_views(tables["connections"]), tables["series"])
    found = answers(
        [look(flow) for flow in flows if flow.row["payload_bytes"] > 0], model or shipped_model()
    )
    if reading["unread"].get("UDP", 0) >= LEAST_UDP_PKTS and str(path) != STDIN:
        found += identify_datagrams(path, points)
    found.sort(key=lambda each: (-each.payload_bytes, each.connection))
    return Identification(str(path), reading, tuple(found))


def identify_datagrams(path: str | Path, points: Sequence[str] | None) -> list[Identified]:
    """Identify the algorithm of each flow of UDP, at the best point that saw it."""
    _, tables = read_datagrams(path, points=points)
    looks: dict[tuple[str, int, str, int], Look] = {}
    for flow in datagram_flows_of(tables["flows"], tables["series"]):
        row = flow.row
        if row["payload_bytes"] < LEAST_UDP_BYTES:
            continue
        ends = (row["source"], row["source_port"], row["destination"], row["destination_port"])
        best = looks.get(ends)
        number = len(looks) if best is None else best.row["connection"]
        seen = look_at_datagrams(flow, number)
        if best is None or rank(seen) < rank(best):
            looks[ends] = seen
    return answers(list(looks.values()), shipped_model("quic"))


def identify_flow(flow: Flow, model: Model | None = None) -> Identified:
    """Identify the algorithm of a flow of TCP at one point."""
    (found,) = answers([look(flow)], model or shipped_model())
    return found


def identify_quic_flow(flow: DatagramFlow, model: Model | None = None) -> Identified:
    """Identify the algorithm of a flow of QUIC at one point."""
    (found,) = answers([look_at_datagrams(flow, 0)], model or shipped_model("quic"))
    return found


def rank(seen: Look) -> tuple[bool, int]:
    """Return how little a look shows."""
    order = ("sender", "middle", "unknown", "receiver")
    return seen.trace is None, order.index(seen.row["vantage"])


def answers(seen: Sequence[Look], model: Model) -> list[Identified]:
    """Ask the model about the flows that can be identified."""
    judged = [each.features for each in seen if each.features is not None and not each.hindrance]
    opinions = iter(model.opinions(np.array(judged)) if judged else ())
    return [in_words(each, None if each.hindrance else next(opinions)) for each in seen]


@dataclass(frozen=True)
class Look:
    """What was seen of a flow before the model is asked.

    Attributes
    ----------
    row
        Of the data's direction.
    protocol
        ``tcp`` or ``udp``.
    hindrance
        What keeps it from being identified.
    idle
        That the path was never filled: it keeps all but algorithms that act on delay from that.
    """

    row: Mapping[str, Any]
    protocol: str
    trace: Trace | None
    rounds: Rounds | None
    features: Floats | None
    hindrance: Hindrance | None
    idle: Hindrance | None = None


def look(flow: Flow) -> Look:
    """Make a flow's features, or find what keeps it from being identified."""
    trace = trace_of(flow.row, flow.ack_row, flow.bins)
    if trace is None:
        return Look(flow.row, "tcp", None, None, None, no_trace(flow.row, flow.ack_row))
    return look_at_trace(trace, flow.row, "tcp")


def look_at_datagrams(flow: DatagramFlow, number: int) -> Look:
    """Make the features of a flow of UDP."""
    trace = datagram_trace_of(flow.row, flow.bins)
    row = {
        **flow.row,
        "connection": number,
        "vantage": "unknown" if trace is None else trace.vantage,
        "notes": "one_direction" if flow.row["ack_pkts"] == 0 else "",
        "began_before_capture": False,
    }
    if trace is None:
        return Look(row, "udp", None, None, None, no_trace(row, None, "udp"))
    if trace.vantage in ("receiver", "middle"):
        return Look(row, "udp", trace, None, None, quic_elsewhere(row, trace.vantage))
    return look_at_trace(trace, row, "udp")


def look_at_trace(trace: Trace, row: Mapping[str, Any], protocol: str) -> Look:
    """Make the features of a trace."""
    rounds = rounds_of(trace)
    features = None
    if rounds is not None and len(rounds) >= LEAST_ROUNDS:
        features = features_of(trace, rounds, is_from_start=not row["began_before_capture"])
    measured = {} if features is None else measured_of(features)
    hindrance = hindrance_of(row, trace, None if features is None else rounds, protocol)
    idle = None if rounds is None else never_filled(trace, rounds, measured)
    return Look(row, protocol, trace, rounds, features, hindrance, idle)


def in_words(seen: Look, opinion: Opinion | None) -> Identified:
    """Put what is said into words."""
    row = seen.row
    measured = {} if seen.features is None else dict(measured_of(seen.features))
    hindrance = seen.hindrance
    if opinion is not None and opinion.algorithm not in LEAVE_NO_QUEUE:
        hindrance = seen.idle
    if hindrance is not None:
        opinion = None
    if opinion is None:
        reason = "" if hindrance is None else hindrance.message
    else:
        reason = reason_of(opinion.algorithm, measured)
    doubts = [] if seen.trace is None else doubts_of(row, seen.trace, seen.protocol)
    if opinion is not None and opinion.algorithm is None and seen.trace is not None:
        doubts += few_decisions(seen.trace, measured)
    return Identified(
        connection=row["connection"],
        protocol=seen.protocol,
        point=row["point"],
        vantage=row["vantage"],
        source=row["source"],
        source_port=row["source_port"],
        destination=row["destination"],
        destination_port=row["destination_port"],
        payload_bytes=row["payload_bytes"],
        algorithm=None if opinion is None else opinion.algorithm,
        probability=None if opinion is None else opinion.chance,
        typical=None if opinion is None else opinion.typical,
        candidates=() if opinion is None else tuple(
            (name, chance) for name, chance in opinion.chances if chance >= LEAST_CANDIDATE
        ),
        reason=reason,
        doubts=tuple(doubts),
        hindrance=hindrance,
        measured=measured,
        trace=seen.trace,
        rounds=seen.rounds,
    )  # fmt: skip
