"""The bottleneck as models see it: packets and seconds."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell.base.quantities.quantity import Buffer, Rate, Time
from dumbbell.models.does_not_apply import DoesNotApply
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.group import DEFAULT_MSS, HEADER_BYTES

__all__ = ["Bottleneck"]


@dataclass(frozen=True)
class Bottleneck:
    """A link, its drop-tail buffer and the base RTT, in the units of the papers' equations.

    Attributes
    ----------
    link_pkts_per_s
        c: full packets that the link carries in a second.
    base_rtt_s
        l: round trip without queueing.
    buffer_pkts
        q: packets that the buffer holds.
    packet_bytes
        A full packet on the wire.
    payload_bytes
        The payload of a full packet.
    """

    link_pkts_per_s: float
    base_rtt_s: float
    buffer_pkts: float
    packet_bytes: int
    payload_bytes: int

    @classmethod
    def of(cls, rate: str | Rate, rtt: str | Time, buffer: str | Buffer) -> Bottleneck:
        """Read quantities with units; packets are full ones of an Ethernet.

        Examples
        --------
        >>> bottleneck = Bottleneck.of("10mbit", "40ms", "32bdp")
        >>> round(bottleneck.link_pkts_per_s), round(bottleneck.bdp_pkts)
        (826, 33)
        """
        return cls.from_group(
            Rate.parse(rate, "rate", minimum=1),
            Time.parse(rtt, "rtt", minimum=1),
            Buffer.parse(buffer),
            Group("reno", mss=DEFAULT_MSS),
        )

    @classmethod
    def from_group(cls, rate: Rate, rtt: Time, buffer: Buffer, group: Group) -> Bottleneck:
        """Return the bottleneck with packets as large as a group's."""
        packet_bytes = group.packet_bytes
        buffer_pkts = (
            float(buffer.amount)
            if buffer.unit == "pkt"
            else buffer.limit_bytes(rate, rtt) / packet_bytes
        )
        return cls(
            link_pkts_per_s=int(rate) / (8 * packet_bytes),
            base_rtt_s=rtt.seconds,
            buffer_pkts=buffer_pkts,
            packet_bytes=packet_bytes,
            payload_bytes=packet_bytes - HEADER_BYTES,
        )

    @classmethod
    def from_scenario(cls, scenario: Scenario) -> Bottleneck:
        """Return a scenario's bottleneck.

        Raises
        ------
        DoesNotApply
            It has links, or its flows differ in base RTT or packet size, or a window limits them,
            which no model here covers.
        """
        if not scenario.is_dumbbell:
            raise DoesNotApply("it covers one bottleneck, and this scenario has links")
        first = scenario.groups[0]
        rtts = {int(group.rtt or scenario.rtt) for group in scenario.groups}
        if len(rtts) > 1:
            raise DoesNotApply("the flows' base RTTs differ")
        if len({group.packet_bytes for group in scenario.groups}) > 1:
            raise DoesNotApply("the flows' packets differ in size")
        bottleneck = cls.from_group(
            scenario.rate, Time(rtts.pop()), scenario.link_queue.limit, first
        )
        window_bytes = min(min(group.rwnd, group.sndbuf) for group in scenario.groups)
        if window_bytes < bottleneck.capacity_pkts * bottleneck.payload_bytes:
            raise DoesNotApply("a receive window or send buffer may limit a flow")
        return bottleneck

    @property
    def bdp_pkts(self) -> float:
        """Bandwidth-delay product c·l, packets."""
        return self.link_pkts_per_s * self.base_rtt_s

    @property
    def capacity_pkts(self) -> float:
        """Q = c·l + q: the packets that pipe and buffer hold together."""
        return self.bdp_pkts + self.buffer_pkts

    @property
    def buffer_bdp(self) -> float:
        """X = q / (c·l)."""
        return self.buffer_pkts / self.bdp_pkts

    @property
    def link_rate_bps(self) -> float:
        """Capacity in bit/s."""
        return self.link_pkts_per_s * 8 * self.packet_bytes

    def queue_delay_s(self, queue_pkts: float) -> float:
        """Return how long a packet waits behind a queue."""
        return queue_pkts / self.link_pkts_per_s

    def rtt_s(self, inflight_pkts: float) -> float:
        """Return the RTT for a total inflight: max(l, inflight / c)."""
        return max(self.base_rtt_s, inflight_pkts / self.link_pkts_per_s)
