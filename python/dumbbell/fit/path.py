"""A path that a capture may have come from: what a fit varies, and the scenario that it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dumbbell.fit.interval import Interval
from dumbbell.fit.known_flows import KnownFlow
from dumbbell.scenario import Group, Scenario

__all__ = ["PathModel"]


#: Smallest RTTs that differ by less are the path's: the other's queue was never empty.
SAME_RTT = (0.8, 2.0)
#: A flow lasts at least so long, s.
LEAST_S = 0.1
#: On the wire: less holds nothing.
FULL_PACKET_BYTES = 1514


@dataclass(frozen=True)
class PathModel:
    """A dumbbell with one bottleneck.

    Attributes
    ----------
    rate_bps
        Of the bottleneck, on the wire.
    base_rtt_s
        Without queues.
    queue
        Queue discipline; empty means drop-tail with `buffer_bytes`.
    loss
        Share of packets that are lost at random, before the queue.
    competitors, competitor
        How many other flows share the bottleneck, and their algorithm.
    known
        Connections of the capture that share the bottleneck.
    jitter_s
        Standard deviation of a delay behind the bottleneck, which changes with each packet.
    rate_steps
        From when on, s, the rate is another, bit/s.
    """

    rate_bps: float
    base_rtt_s: float
    queue: str = ""
    buffer_bytes: float = 0.0
    loss: float = 0.0
    competitors: int = 0
    competitor: str = "cubic"
    known: tuple[KnownFlow, ...] = ()
    jitter_s: float = 0.0
    rate_steps: tuple[tuple[float, float], ...] = ()

    @property
    def is_shared(self) -> bool:
        """Whether others use the bottleneck."""
        return bool(self.competitors or self.known)

    @property
    def start_s(self) -> float:
        """When the fitted flow starts in the scenario: after those that were there before."""
        return max([0.0, *(-each.start_s for each in self.known)])

    def scenario(self, cc: str, *, time_s: float, seed: int, mss_bytes: int | None) -> Scenario:
        """Return the scenario in which a flow of an algorithm meets this path."""
        mss: dict[str, Any] = {} if mss_bytes is None else {"mss": f"{mss_bytes}B"}
        own_s = self.start_s
        if own_s:
            mss["start"] = f"{own_s:.3f}s"
        groups = [Group(cc, **mss)]
        if self.competitors:
            groups.append(Group(self.competitor, flows=self.competitors))
        for each in self.known:
            stop_s = own_s + max(each.stop_s, each.start_s + LEAST_S)
            other: dict[str, Any] = {"start": f"{own_s + each.start_s:.3f}s"}
            if stop_s < own_s + time_s:
                other["stop"] = f"{stop_s:.3f}s"
            # Queues are in what was seen of its RTT, so it says nothing shorter than the path.
            groups.append(Group(each.cc, rtt=f"{1e6 * self.rtt_of(each):.0f}us", **other))
        fields: dict[str, Any] = {"queue": self.queue}
        if not self.queue:
            fields = {"buffer": f"{max(self.buffer_bytes, FULL_PACKET_BYTES):.0f}B"}
        if self.rate_steps:
            steps = [f"{own_s + at_s:.3f}s:{bps:.0f}bit" for at_s, bps in self.rate_steps]
            fields["rate_steps"] = ",".join(steps)
        impair = [f"random_loss:loss={100 * self.loss:.6f}%"] if self.loss else []
        if self.jitter_s:
            impair.append(f"jitter:normal={1e6 * self.jitter_s:.0f}us")
        if impair:
            fields["impair"] = impair
        return Scenario(
            groups,
            rate=f"{self.rate_bps:.0f}bit",
            rtt=f"{1e6 * self.base_rtt_s:.0f}us",
            time=f"{max(time_s, 1.0) + own_s:.3f}s",
            seed=seed,
            **fields,
        )

    def rtt_of(self, other: KnownFlow) -> float:
        """Return the base RTT of another flow: the path's own unless it is surely another."""
        ratio = other.rtt_s / max(self.base_rtt_s, 1e-6)
        return self.base_rtt_s if SAME_RTT[0] < ratio < SAME_RTT[1] else other.rtt_s

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, as JSON has them."""
        return asdict(self)

    @property
    def kind(self) -> str:
        """The kind of path, in words."""
        queue = self.queue or "drop-tail"
        features = {
            ", changing rate": self.rate_steps, ", random loss": self.loss,
            ", jitter": self.jitter_s,
        }  # fmt: skip
        lossy = "".join(name for name, value in features.items() if value)
        others = f", shared with {self.competitors} × {self.competitor}" if self.competitors else ""
        if self.known:
            numbers = ", ".join(str(each.connection) for each in self.known)
            plural = "s" if len(self.known) > 1 else ""
            others = f", shared with the capture's connection{plural} {numbers}"
        return queue + lossy + others

    def lines(self, intervals: Mapping[str, Interval]) -> list[str]:
        """Return the path in words, a line a value, with 90 % intervals."""
        found = [
            f"queue      {self.kind}",
            f"rate       {in_words(intervals['rate_bps'], 1e6, 'Mbit/s')}",
            *(f"{'':11}{bps / 1e6:.4g} Mbit/s from {at_s:.1f} s" for at_s, bps in self.rate_steps),
            f"base RTT   {in_words(intervals['base_rtt_s'], 1e-3, 'ms')}",
        ]
        if "buffer_bytes" in intervals:
            buffer = intervals["buffer_bytes"]
            bdp = self.rate_bps * self.base_rtt_s / 8
            found.append(
                f"buffer     {in_words(buffer, 1e3, 'kB')}; {buffer.value / bdp:.2f} BDP, "
                f"{8e3 * buffer.value / self.rate_bps:.1f} ms"
            )
        if "jitter_s" in intervals:
            found.append(f"jitter     {in_words(intervals['jitter_s'], 1e-3, 'ms')}")
        if "loss" in intervals:
            found.append(f"loss       {in_words(intervals['loss'], 1e-2, '%')}")
        return found


def in_words(interval: Interval, unit: float, name: str) -> str:
    """Write a value with its interval."""
    ends = (interval.low, interval.value, interval.high)
    low, value, high = (f"{each / unit:.4g}" for each in ends)
    return f"{value} {name}" if low == high else f"{value} {name} ({low} to {high})"
