"""How long packets take: round trips, and the wait in a link's queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dumbbell.metrics.link_observation import LinkObservation
from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import FloatArray, Observation
from dumbbell.statistics import mean

__all__ = [
    "backlog_mean_bytes",
    "queue_delay_max_us", "queue_delay_mean_us", "queue_delay_p50_us", "queue_delay_p95_us",
    "queue_delay_p99_us",
    "rtt_inflation_mean_us", "rtt_inflation_p99_us",
    "rtt_mean_us", "rtt_p50_us", "rtt_p95_us", "rtt_p99_us",
]  # fmt: skip


@register(unit="us", title="mean RTT", better="lower", per="group")
def rtt_mean_us(obs: Observation) -> list[float | None]:
    """Mean RTT of a group: the mean over its flows of each flow's mean RTT.

    Of all RTT samples of TCP; after a warm-up, of the latest one at each sample of the time series,
    which weights by time.

    References
    ----------
    RFC 5166 §2.1.2.
    """
    if obs.whole:  # 0 where no flow has a sample
        return [group["rtt_mean_us"] or None for group in obs.groups]
    return over_flows(obs, "rtt_mean_us", np.mean)


@register(unit="us", title="median RTT", better="lower", per="group")
def rtt_p50_us(obs: Observation) -> list[float | None]:
    """Median RTT of a group: the mean over its flows of each flow's median, as `rtt_mean_us`.

    References
    ----------
    RFC 5166 §2.1.2: delay by its distribution.
    """
    return over_flows(obs, "rtt_p50_us", quantile(0.5))


@register(unit="us", title="RTT, 95th percentile", better="lower", per="group")
def rtt_p95_us(obs: Observation) -> list[float | None]:
    """95th percentile of a group's RTT: the mean over its flows of each flow's, as `rtt_mean_us`.

    References
    ----------
    RFC 5166 §2.1.2: worst-case delay.
    """
    return over_flows(obs, "rtt_p95_us", quantile(0.95))


@register(unit="us", title="RTT, 99th percentile", better="lower", per="group")
def rtt_p99_us(obs: Observation) -> list[float | None]:
    """99th percentile of a group's RTT: the mean over its flows of each flow's, as `rtt_mean_us`.

    References
    ----------
    RFC 5166 §2.1.2: worst-case delay.
    """
    return over_flows(obs, "rtt_p99_us", quantile(0.99))


@register(unit="us", title="mean RTT inflation", better="lower", per="group")
def rtt_inflation_mean_us(obs: Observation) -> list[float | None]:
    """Mean RTT inflation of a group: `rtt_mean_us` less the base RTT, of each flow.

    What a group's own packets wait, in all queues of the way there and back, and take to be sent;
    the queueing delay of a discipline with several queues is of all of them together. None if the
    base RTT changes.

    References
    ----------
    RFC 9332 §1.4: the queueing delay of L4S traffic apart from the classic one's.
    """
    return above_base(obs, "rtt_mean_us", np.mean)


@register(unit="us", title="RTT inflation, 99th percentile", better="lower", per="group")
def rtt_inflation_p99_us(obs: Observation) -> list[float | None]:
    """99th percentile of a group's RTT inflation: `rtt_p99_us` less the base RTT, of each flow.

    References
    ----------
    RFC 9332 §1.4: the queueing delay of L4S traffic apart from the classic one's.
    """
    return above_base(obs, "rtt_p99_us", quantile(0.99))


@register(unit="us", title="mean queueing delay", better="lower", per="link")
def queue_delay_mean_us(obs: Observation) -> list[float | None]:
    """Mean queueing delay: the mean time (sojourn) that a packet waits in the link's queue.

    Of all packets that left; after a warm-up, of the last one that left before each sample of the
    time series.

    References
    ----------
    RFC 5166 §2.1.2: queueing delay at a router; "sojourn time" as in RFC 8289.
    """
    return of_queues(obs, "queue_delay_mean_us", np.mean)


@register(unit="us", title="queueing delay, median", better="lower", per="link")
def queue_delay_p50_us(obs: Observation) -> list[float | None]:
    """Median time that a packet waits in the link's queue, as `queue_delay_mean_us`.

    References
    ----------
    RFC 5166 §2.1.2; RFC 8289.
    """
    return of_queues(obs, "queue_delay_p50_us", quantile(0.5))


@register(unit="us", title="queueing delay, 95th percentile", better="lower", per="link")
def queue_delay_p95_us(obs: Observation) -> list[float | None]:
    """95th percentile of the time that a packet waits in the queue, as `queue_delay_mean_us`.

    References
    ----------
    RFC 5166 §2.1.2; RFC 8289.
    """
    return of_queues(obs, "queue_delay_p95_us", quantile(0.95))


@register(unit="us", title="queueing delay, 99th percentile", better="lower", per="link")
def queue_delay_p99_us(obs: Observation) -> list[float | None]:
    """99th percentile of the time that a packet waits in the queue, as `queue_delay_mean_us`.

    References
    ----------
    RFC 5166 §2.1.2; RFC 8289.
    """
    return of_queues(obs, "queue_delay_p99_us", quantile(0.99))


@register(unit="us", title="queueing delay, largest", better="lower", per="link")
def queue_delay_max_us(obs: Observation) -> list[float | None]:
    """Longest time that a packet waits in the link's queue: the peak of the queue.

    Of all packets that left; after a warm-up, of those that left last before each sample, so that a
    peak shorter than the interval of the time series may be missed.

    References
    ----------
    RFC 5166 §2.1.2: worst-case delay; RFC 8289.
    """
    return of_queues(obs, "queue_delay_max_us", np.max)


@register(unit="bytes", title="mean backlog", per="link", shown=("kB", 1e-3))
def backlog_mean_bytes(obs: Observation) -> list[float | None]:
    """Mean backlog of a link: the time average of the wire bytes that wait in its queue.

    The packet being transmitted does not count. After a warm-up, the mean of the samples.

    References
    ----------
    RFC 7567 §1: queue length; "backlog" as `tc -s qdisc` prints it.
    """
    return [backlog_of(link) for link in obs.links]


def backlog_of(link: LinkObservation) -> float | None:
    """Return the mean backlog of a link."""
    if link.whole:
        return float(link.summary["backlog_mean_bytes"])
    samples = link.after_cut("backlog_bytes")
    return float(samples.mean()) if samples.size else None


def quantile(q: float) -> Callable[[FloatArray], float]:
    """Return the function that takes a quantile."""
    return lambda values: float(np.quantile(values, q))


def over_flows(obs: Observation, key: str, of: Callable[[FloatArray], float]) -> list[float | None]:
    """Return the mean over each group's flows of a summary of the RTT."""
    of_flows = ([of_flow(obs, n, key, of) for n in numbers] for numbers in obs.members)
    return [mean([value for value in values if value is not None]) for values in of_flows]


def of_flow(
    obs: Observation, number: int, key: str, of: Callable[[FloatArray], float]
) -> float | None:
    """Return a summary of a flow's RTT; None without a sample."""
    flow: Mapping[str, Any] = obs.flows[number]
    if obs.whole:
        return float(flow[key]) if flow["rtt_min_us"] > 0 else None
    samples = obs.after_cut(number, "rtt_us")
    return float(of(samples)) if samples.size else None


def above_base(obs: Observation, key: str, of: Callable[[FloatArray], float]) -> list[float | None]:
    """Return the mean over each group's flows of a summary of the RTT, less the base RTT."""
    values: list[float | None] = []
    if obs.run.scenario.rtt_steps:
        return [None] * len(obs.members)
    for numbers in obs.members:
        inflations = [
            rtt - obs.flows[number]["base_rtt_us"]
            for number in numbers
            if (rtt := of_flow(obs, number, key, of)) is not None
        ]
        values.append(mean(inflations))
    return values


def of_queues(obs: Observation, key: str, of: Callable[[FloatArray], float]) -> list[float | None]:
    """Return a summary of the wait in each link's queue."""
    return [of_queue(link, key, of) for link in obs.links]


def of_queue(link: LinkObservation, key: str, of: Callable[[FloatArray], float]) -> float | None:
    """Return a summary of the wait in a link's queue; None when nothing left it."""
    if link.whole:
        return float(link.summary[key]) if link.summary["forwarded_pkts"] else None
    sojourns = link.after_cut("sojourn_us")
    return float(of(sojourns)) if sojourns.size else None
