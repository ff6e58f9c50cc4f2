"""How long transfers take."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics.metric import PERCENT, register
from dumbbell.metrics.observation import Observation

__all__ = ["fct_mean_s", "fct_p50_s", "fct_p95_s", "fct_p99_s", "unfinished_share"]

#: The kind of transfer.
FLOW = "flow"


@register(unit="s", title="mean flow completion time", better="lower", per="group")
def fct_mean_s(obs: Observation) -> list[float | None]:
    """Mean flow completion time of a group: from a flow's SYN to the ACK of its last byte.

    Of flows with a size, and of those that an application opens. Flows that are not complete at the
    end of the run count as longer than they were seen, by Kaplan and Meier's estimate S(t) of the
    share that takes longer than t: the mean is ∫ S dt, which is the plain mean where all are
    complete. None where more than 1 % would be longer than the longest that was complete, because
    that mean would be of the fast ones. After a warm-up, of the flows that start after it.

    References
    ----------
    Dukkipati, McKeown: "Why flow-completion time is the right metric for congestion control", CCR
    36(1), 2006; RFC 5166 §2.1.1 (transfer times); Kaplan, Meier, JASA 53(282), 1958.
    """
    return [scaled(each.of(FLOW).times_us.mean(), 1e-6) for each in obs.transfers]


@register(unit="s", title="median flow completion time", better="lower", per="group")
def fct_p50_s(obs: Observation) -> list[float | None]:
    """Median of the flow completion times of a group, as `fct_mean_s`: where S falls to 0.5.

    None where too few flows are complete for it.

    References
    ----------
    Dukkipati, McKeown 2006; RFC 5166 §2.1.1.
    """
    return quantiles_s(obs, 0.5)


@register(unit="s", title="flow completion time, 95th percentile", better="lower", per="group")
def fct_p95_s(obs: Observation) -> list[float | None]:
    """95th percentile of the flow completion times of a group, as `fct_p50_s`.

    References
    ----------
    Dukkipati, McKeown 2006; RFC 5166 §2.1.1.
    """
    return quantiles_s(obs, 0.95)


@register(unit="s", title="flow completion time, 99th percentile", better="lower", per="group")
def fct_p99_s(obs: Observation) -> list[float | None]:
    """99th percentile of the flow completion times of a group, as `fct_p50_s`.

    References
    ----------
    Dukkipati, McKeown 2006; RFC 5166 §2.1.1.
    """
    return quantiles_s(obs, 0.99)


@register(title="unfinished transfers", better="lower", per="group", shown=PERCENT)
def unfinished_share(obs: Observation) -> list[float | None]:
    """Share of a group's transfers that were not complete at the end of the run.

    Of transfers of every kind: flows, requests, pages, chunks, bursts. Those that began shortly
    before the end count too, so an open loop always has some.

    References
    ----------
    Right-censored observations: Kaplan, Meier, JASA 53(282), 1958.
    """
    return [float(1 - np.mean(each.ended)) if len(each) else None for each in obs.transfers]


def quantiles_s(obs: Observation, q: float) -> list[float | None]:
    """Return a quantile of each group's flow completion times, s."""
    return [scaled(each.of(FLOW).times_us.quantile(q), 1e-6) for each in obs.transfers]


def scaled(value: float | None, factor: float) -> float | None:
    """Return a value times a factor; None for none."""
    return None if value is None else value * factor
