"""Paths drawn at random, for flows whose algorithm is to be learned or recognised."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dumbbell.scenario import Group, Link, Scenario

__all__ = ["DrawnPath", "Kind", "draw_path", "scenario_of"]

Kind: TypeAlias = Literal["any", "plain", "telling"]

#: What a path is drawn from: every factor is as likely as any other.
RATE_MBIT = (4.0, 100.0)
RTT_MS = (8.0, 200.0)
BUFFERS_BDP = {"any": (0.3, 6.0), "plain": (0.5, 4.0), "telling": (0.5, 2.0)}
#: The bandwidth-delay product is at least this and at most that many packets: with less no window
#: can be distinguished from another, with more a run takes minutes.
BDP_PKTS = (12.0, 1400.0)
BUFFER_LEAST_PKTS = 8
TELLING_RATE_MBIT, TELLING_RTT_MS, TELLING_BDP_PKTS = (10.0, 100.0), (35.0, 120.0), 80.0
#: How often, of a hundred paths.
AQM, RANDOM_LOSS, JITTER, NEIGHBOUR, STEP_MARKS = 20, 35, 25, 30, 50
NO_DELAYED_ACK, NO_TSO, GRO, OTHER_LENGTH = 15, 15, 25, 25
AQMS = ("fq_codel", "codel", "pie", "red", "fq", "cake")
NEIGHBOURS = ("cubic", "reno", "bbr", "bbr3")
LOSS_PERCENT = (0.002, 0.5)
JITTER_MS = (0.05, 2.0)
TIME_S = (12.0, 60.0)
USUAL_TIME_S = 30.0
PACKET_BYTES = 1500.0
#: Receive window of QUIC stacks by default, bytes; a larger one is this multiple of the path's.
QUIC_WINDOW_BYTES, QUIC_WINDOW_SHARE = 1_250_000, 2
#: A link that no ACK waits for.
UP_RATE = "10gbit"


@dataclass(frozen=True)
class DrawnPath:
    """A path, its hosts and its other traffic.

    Attributes
    ----------
    rate_mbit, rtt_ms, buffer_pkts, queue
        Of the bottleneck.
    behind
        The share of the RTT that is behind the bottleneck: a capture there is in the middle.
    loss_percent, jitter_ms
        0 for none.
    neighbour, neighbour_flows, neighbour_start_s
        Flows of another algorithm; empty for none.
    marks
        Whether ECN-capable packets are marked early, where the queue is drop-tail.
    delayed_ack, tso, gro_us
        Of the hosts.
    time_s, seed
        Of the run.
    """

    rate_mbit: float
    rtt_ms: float
    buffer_pkts: int
    queue: str
    behind: float
    loss_percent: float
    jitter_ms: float
    neighbour: str
    neighbour_flows: int
    neighbour_start_s: float
    marks: bool
    delayed_ack: bool
    tso: bool
    gro_us: int
    time_s: float
    seed: int

    @property
    def is_quiet(self) -> bool:
        """Whether a lone flow meets nothing but a drop-tail queue."""
        return self.queue == "bfifo" and not (self.loss_percent or self.jitter_ms or self.neighbour)


def draw_path(seed: int, kind: Kind = "any") -> DrawnPath:
    """Draw a path.

    Parameters
    ----------
    seed
        Of the draw and of the run.
    kind
        ``any``; ``plain``: a lone flow through a drop-tail queue of half to four BDP, without
        random loss; ``telling``: plain, and such that no two of Linux's algorithms are the same on
        it: an RTT above Hybla's 25 ms, more packets in a BDP than RFC 3649's 38.
    """
    chance = random.Random(f"identify {seed}")  # noqa: S311 -- not for secrets
    is_plain = kind != "any"
    rates, rtts, least_bdp_pkts = (
        (TELLING_RATE_MBIT, TELLING_RTT_MS, TELLING_BDP_PKTS)
        if kind == "telling"
        else (RATE_MBIT, RTT_MS, BDP_PKTS[0])
    )

    def between(ends: tuple[float, float]) -> float:
        return math.exp(chance.uniform(math.log(ends[0]), math.log(ends[1])))

    def happens(percent: int) -> bool:
        return chance.random() * 100 < percent and not is_plain

    while True:
        rate_mbit, rtt_ms = between(rates), between(rtts)
        bdp_pkts = rate_mbit * rtt_ms * 1000 / 8 / PACKET_BYTES
        if least_bdp_pkts <= bdp_pkts <= BDP_PKTS[1]:
            break
    buffer_bdp = between(BUFFERS_BDP[kind])
    queue = chance.choice(AQMS) if happens(AQM) else "bfifo"
    has_neighbour = happens(NEIGHBOUR)
    return DrawnPath(
        rate_mbit=round(rate_mbit, 2),
        rtt_ms=round(rtt_ms, 1),
        buffer_pkts=max(round(buffer_bdp * bdp_pkts), BUFFER_LEAST_PKTS),
        queue=queue,
        behind=round(chance.uniform(0.15, 0.7), 2),
        loss_percent=round(between(LOSS_PERCENT), 4) if happens(RANDOM_LOSS) else 0.0,
        jitter_ms=round(between(JITTER_MS), 3) if happens(JITTER) else 0.0,
        neighbour=chance.choice(NEIGHBOURS) if has_neighbour else "",
        neighbour_flows=chance.choice((1, 1, 2)),
        neighbour_start_s=round(chance.uniform(0, 10), 1),
        marks=happens(STEP_MARKS),
        delayed_ack=not happens(NO_DELAYED_ACK),
        tso=not happens(NO_TSO),
        gro_us=chance.choice((50, 200, 1000)) if happens(GRO) else 0,
        time_s=round(between(TIME_S), 1) if happens(OTHER_LENGTH) else USUAL_TIME_S,
        seed=seed,
    )


def with_window(cc: str, path: DrawnPath) -> str:
    """Return an algorithm whose receive window, if it is of QUIC, a path does not fill.

    Parameters
    ----------
    cc, path
        As they are.
    """
    bdp_pkts = path.rate_mbit * path.rtt_ms * 1000 / 8 / PACKET_BYTES
    window = round(QUIC_WINDOW_SHARE * (bdp_pkts + path.buffer_pkts) * PACKET_BYTES)
    if not cc.startswith("quic/") or window <= QUIC_WINDOW_BYTES:
        return cc
    return f"{cc}:window_bytes={window}"


def scenario_of(
    path: DrawnPath, cc: str, *, has_up_link: bool = True, hosts_vary: bool = True
) -> Scenario:
    """Return the scenario of an algorithm on a path; its flow is the first group's.

    Parameters
    ----------
    path, cc
        As they are.
    has_up_link
        Whether ACKs pass a link too: where the capture is to have a point in the middle.
    hosts_vary
        Whether the path's settings of hosts apply, some of which only the simulator has.
    """
    is_drop_tail = path.queue == "bfifo"
    buffer = f"{path.buffer_pkts * PACKET_BYTES:.0f}B"
    marks = is_drop_tail and path.marks
    threshold = f"{max(path.buffer_pkts // 4, 4) * PACKET_BYTES:.0f}B"
    impair = [f"jitter:normal={path.jitter_ms}ms"] if path.jitter_ms else []
    behind_ms = path.behind * path.rtt_ms if has_up_link else None
    bottleneck = Link(
        "bottleneck",
        rate=f"{path.rate_mbit}mbit",
        delay="0ms" if behind_ms is None else f"{behind_ms:.3f}ms",
        buffer=buffer if is_drop_tail else None,
        queue=path.queue if not is_drop_tail else None,
        ecn_threshold=threshold if marks else None,
        loss=f"{path.loss_percent}%",
        impair=impair,
    )
    up = Link("up", rate=UP_RATE, delay="0ms", buffer="10000pkt")
    links = (bottleneck, up) if has_up_link else (bottleneck,)
    hosts: dict[str, Any] = {}
    if hosts_vary and not cc.startswith("quic/"):
        hosts = {"delayed_ack": path.delayed_ack, "tso": path.tso, "gro": f"{path.gro_us}us"}
    route: dict[str, Any] = {"route": ("bottleneck",)}
    if has_up_link:
        route["back"] = ("up",)
    groups = [Group(with_window(cc, path), **route, **hosts)]
    if path.neighbour:
        start = f"{path.neighbour_start_s}s"
        flows = path.neighbour_flows
        groups.append(Group(path.neighbour, flows, start=start, **route))
    return Scenario(
        groups, links=links, rtt=f"{path.rtt_ms}ms", time=f"{path.time_s}s", seed=path.seed
    )
