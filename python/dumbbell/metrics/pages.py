"""How long web pages take to load."""

from __future__ import annotations

from dumbbell.metrics.completion import scaled
from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation

__all__ = ["page_load_time_mean_s", "page_load_time_p50_s", "page_load_time_p95_s"]

#: The kind of transfer.
PAGE = "page"


@register(unit="s", title="mean page load time", better="lower", per="group")
def page_load_time_mean_s(obs: Observation) -> list[float | None]:
    """Mean page load time of a group: from a page's first SYN to the last byte of its last object.

    Pages that are not complete at the end of the run count as in `fct_mean_s`.

    References
    ----------
    RFC 7928 §7.2: page load time of web traffic.
    """
    return [scaled(each.of(PAGE).times_us.mean(), 1e-6) for each in obs.transfers]


@register(unit="s", title="median page load time", better="lower", per="group")
def page_load_time_p50_s(obs: Observation) -> list[float | None]:
    """Median page load time of a group, as `page_load_time_mean_s`.

    References
    ----------
    RFC 7928 §7.2.
    """
    return [scaled(each.of(PAGE).times_us.quantile(0.5), 1e-6) for each in obs.transfers]


@register(unit="s", title="page load time, 95th percentile", better="lower", per="group")
def page_load_time_p95_s(obs: Observation) -> list[float | None]:
    """95th percentile of the page load times of a group, as `page_load_time_mean_s`.

    References
    ----------
    RFC 7928 §7.2.
    """
    return [scaled(each.of(PAGE).times_us.quantile(0.95), 1e-6) for each in obs.transfers]
