"""How long a flow of a given size takes."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation
from dumbbell.statistics import mean

__all__ = ["fct_mean_s", "fct_p95_s"]


@register(unit="s", title="mean flow completion time", better="lower", per="group")
def fct_mean_s(obs: Observation) -> list[float | None]:
    """Mean flow completion time of a group: the mean over its flows of end - start.

    From the flow's start to the acknowledgement of its last byte. Only for groups whose flows have
    a size, and only if all of them end in the run, because the mean of those that did would be of
    the fast ones. After a warm-up, of the flows that start after it.

    References
    ----------
    Dukkipati, McKeown: "Why flow-completion time is the right metric for congestion control", CCR
    36(1), 2006; RFC 5166 §2.1.1 (transfer times).
    """
    return [mean(times) for times in completion_times_s(obs)]


@register(unit="s", title="flow completion time, 95th percentile", better="lower", per="group")
def fct_p95_s(obs: Observation) -> list[float | None]:
    """95th percentile of the flow completion times of a group's flows, as `fct_mean_s`.

    References
    ----------
    Dukkipati, McKeown 2006; RFC 5166 §2.1.1.
    """
    return [float(np.quantile(times, 0.95)) if times else None for times in completion_times_s(obs)]


def completion_times_s(obs: Observation) -> list[list[float]]:
    """Return each group's completion times, s; none if a flow has no size or did not end."""
    times = []
    for numbers, group in zip(obs.members, obs.run.scenario.groups, strict=True):
        flows = [obs.flows[n] for n in numbers if obs.flows[n]["start_us"] >= obs.cut_us]
        ended = group.size is not None and all(flow["finished"] for flow in flows)
        times.append([(f["end_us"] - f["start_us"]) / 1e6 for f in flows] if ended else [])
    return times
