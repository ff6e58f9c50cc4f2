"""Requests and their responses: latency, transactions per second, responsiveness."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics.completion import scaled
from dumbbell.metrics.media import of_flows
from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation
from dumbbell.run.group_transfers import GroupTransfers

__all__ = [
    "foreign_rpm", "responsiveness_rpm", "rpc_latency_p50_us", "rpc_latency_p95_us",
    "rpc_latency_p99_us", "self_rpm", "transactions_per_s",
]  # fmt: skip

#: The kind of transfer.
REQUEST = "request"
#: Share of the round trips, the longest ones, that a trimmed mean leaves out.
TRIMMED = 0.05
MS_PER_MIN = 60_000


@register(unit="us", title="median RPC latency", better="lower", per="group")
def rpc_latency_p50_us(obs: Observation) -> list[float | None]:
    """Median latency of a group's requests: from writing a request to its response's last byte.

    Where each request opens a connection, its handshake counts. Requests without a response at the
    end of the run count as in `fct_p50_s`.

    References
    ----------
    netperf's TCP_RR; RFC 5166 §2.1.1: transfer times of interactive traffic.
    """
    return quantiles_us(obs, 0.5)


@register(unit="us", title="RPC latency, 95th percentile", better="lower", per="group")
def rpc_latency_p95_us(obs: Observation) -> list[float | None]:
    """95th percentile of the latency of a group's requests, as `rpc_latency_p50_us`.

    References
    ----------
    RFC 5166 §2.1.1.
    """
    return quantiles_us(obs, 0.95)


@register(unit="us", title="RPC latency, 99th percentile", better="lower", per="group")
def rpc_latency_p99_us(obs: Observation) -> list[float | None]:
    """99th percentile of the latency of a group's requests, as `rpc_latency_p50_us`.

    References
    ----------
    RFC 5166 §2.1.1; Dean, Barroso: "The tail at scale", CACM 56(2), 2013.
    """
    return quantiles_us(obs, 0.99)


@register(unit="1/s", title="transactions per second", better="higher", per="group")
def transactions_per_s(obs: Observation) -> list[float | None]:
    """Requests of a group that were answered, over the time from its flows' start to their end.

    References
    ----------
    netperf's TCP_RR: its transaction rate.
    """
    values: list[float | None] = []
    for numbers, each in zip(obs.members, obs.transfers, strict=True):
        requests = each.of(REQUEST)
        start_us, end_us = obs.span_us(numbers) if numbers else (0, 0)
        span_s = (end_us - start_us) / 1e6
        values.append(float(requests.ended.sum()) / span_s if len(requests) and span_s else None)
    return values


@register(unit="1/min", title="responsiveness", better="higher", per="group")
def responsiveness_rpm(obs: Observation) -> list[float | None]:
    """Responsiveness under load, RPM: the mean of `foreign_rpm` and `self_rpm` of a group.

    Only of the traffic `responsiveness`, whose downloads fill the link before it probes. Not known
    after a warm-up. 6,000 is good, 1,000 is usable, below 300 is poor.

    References
    ----------
    draft-ietf-ippm-responsiveness.
    """
    return of_flows(obs, "rpm")


@register(unit="1/min", title="responsiveness of others", better="higher", per="group")
def foreign_rpm(obs: Observation) -> list[float | None]:
    """Round trips per minute of small requests under a load: 60,000 / TM(round trip in ms).

    TM is the mean without the longest 5 %. Of the traffic `responsiveness`, its probes on
    connections of their own; of other requests, the group's, in addition to what other groups send:
    one on a connection of its own takes two round trips, the handshake's and its own, so the
    draft's mean of both without TLS is half its time.

    References
    ----------
    draft-ietf-ippm-responsiveness: its foreign probes.
    """
    measured = of_flows(obs, "foreign_rpm")
    return [
        rpm(each.of(REQUEST)) if value is None else value
        for value, each in zip(measured, obs.transfers, strict=True)
    ]


@register(unit="1/min", title="responsiveness of the load itself", better="higher", per="group")
def self_rpm(obs: Observation) -> list[float | None]:
    """Round trips per minute of small requests on the connections of the load itself.

    Otherwise as `foreign_rpm`. Only of the traffic `responsiveness`.

    References
    ----------
    draft-ietf-ippm-responsiveness: its self probes.
    """
    return of_flows(obs, "self_rpm")


def rpm(requests: GroupTransfers) -> float | None:
    """Return the round trips per minute of some requests."""
    answered = requests.where(requests.ended)
    if not len(answered):
        return None
    connections = len(np.unique(np.stack([requests.flow, requests.connection]), axis=1).T)
    trips = 2 if connections == len(requests) else 1
    times_ms = np.sort(answered.time_us) / 1000 / trips
    kept = times_ms[: max(1, int(np.ceil((1 - TRIMMED) * times_ms.size)))]
    return MS_PER_MIN / float(np.mean(kept))


def quantiles_us(obs: Observation, q: float) -> list[float | None]:
    """Return a quantile of each group's latencies."""
    return [scaled(each.of(REQUEST).times_us.quantile(q), 1.0) for each in obs.transfers]
