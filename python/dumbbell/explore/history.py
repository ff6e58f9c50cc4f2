"""What a path did in the last seconds, from looks at it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dumbbell.scenario import Scenario

__all__ = ["Curve", "History"]

#: How much is shown, s.
WINDOW_S = 30.0
#: A rate is that of this time, so that it does not jump with single packets, s.
RATE_OVER_S = 0.5


@dataclass
class Curve:
    """Values over time; the oldest are forgotten."""

    time_s: deque[float] = field(default_factory=deque)
    value: deque[float] = field(default_factory=deque)

    def add(self, time_s: float, value: float) -> None:
        """Add the latest value."""
        self.time_s.append(time_s)
        self.value.append(value)
        while self.time_s[0] < time_s - WINDOW_S:
            self.time_s.popleft()
            self.value.popleft()

    def change_over(self, span_s: float) -> float:
        """Return by how much the value grew per second, lately."""
        last = len(self.time_s) - 1
        first = last
        while first > 0 and self.time_s[last] - self.time_s[first] < span_s:
            first -= 1
        elapsed_s = self.time_s[last] - self.time_s[first]
        return (self.value[last] - self.value[first]) / elapsed_s if elapsed_s > 0 else 0.0


class History:
    """Rates and RTTs of groups and queues of links.

    Parameters
    ----------
    scenario
        What is looked at.

    Attributes
    ----------
    rate
        By group: data that arrives, headers included, Mbit/s.
    rtt
        By group: the mean of its flows' latest RTTs, ms.
    queue
        By link: how long what waits takes to send, ms.
    drops
        By link: packets so far.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        labels = scenario.group_labels
        self.received = {label: Curve() for label in labels}
        self.rate = {label: Curve() for label in labels}
        self.rtt = {label: Curve() for label in labels}
        self.queue = {link.name: Curve() for link in scenario.links}
        self.drops = {link.name: 0 for link in scenario.links}
        self.marks = {link.name: 0 for link in scenario.links}
        self.time_s = 0.0
        self._label_of_flow = [
            label for label, group in zip(labels, scenario.groups, strict=True)
            for _ in range(group.flows)
        ]  # fmt: skip

    def add(self, stats: Mapping[str, Any]) -> None:
        """Add a look at the path: `EmulatedPath.stats`."""
        now_s = self.time_s = stats["time_s"]
        received = dict.fromkeys(self.received, 0)
        rtts_us: dict[str, list[float]] = {label: [] for label in self.rtt}
        for flow, label in zip(stats["flows"], self._label_of_flow, strict=True):
            received[label] += flow["arrived_bytes"]
            if flow["rtt_us"]:
                rtts_us[label].append(flow["rtt_us"])
        for label, count in received.items():
            self.received[label].add(now_s, count)
            bytes_per_s = self.received[label].change_over(RATE_OVER_S)
            self.rate[label].add(now_s, 8 * bytes_per_s / 1e6)
        for label, values in rtts_us.items():
            if values:
                self.rtt[label].add(now_s, sum(values) / len(values) / 1e3)
        for link in stats["links"]:
            rate_bps = link["rate_bps"]
            wait_ms = 8e3 * link["backlog_bytes"] / rate_bps if rate_bps else 0.0
            self.queue[link["name"]].add(now_s, wait_ms)
            self.drops[link["name"]] = link["dropped_pkts"]
            self.marks[link["name"]] = link.get("marked_pkts") or 0

    @property
    def caption(self) -> str:
        """The time, and what was dropped and marked so far."""
        parts = [f"{self.time_s:.1f} s"]
        for name, dropped in self.drops.items():
            marked = f", {self.marks[name]:,} marked" if self.marks[name] else ""
            parts.append(f"{name}: {dropped:,} dropped{marked}")
        return "   ".join(parts)
