"""How many times as long as at best flows take, by their size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dumbbell.metrics.completion import FLOW
from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation
from dumbbell.run.group_transfers import GroupTransfers
from dumbbell.statistics.survival import SurvivalCurve

__all__ = ["SIZE_CLASSES", "slowdown_mean", "slowdown_p50", "slowdown_p95", "slowdown_p99"]

#: Classes of flows by their largest size in bytes: how a metric's name and title call each.
SIZE_CLASSES = (
    ("10kB", "up to 10 kB", 10_000),
    ("100kB", "10 to 100 kB", 100_000),
    ("1MB", "100 kB to 1 MB", 1_000_000),
    ("larger", "above 1 MB", np.inf),
)
Of = Callable[[SurvivalCurve], float | None]


@register(title="mean slowdown", better="lower", per="group")
def slowdown_mean(obs: Observation) -> list[float | None]:
    """Mean slowdown of a group's flows: flow completion time / (size / C + base RTT).

    C is what the narrowest link of the route carries of payload, rate · mss / (mss + 66). So 1 is a
    flow that fills the link as soon as it starts; its handshake and slow start count against it,
    as in the papers on data centres. Flows that are not complete count as in `fct_mean_s`.

    References
    ----------
    Alizadeh et al.: "pFabric: minimal near-optimal datacenter transport", SIGCOMM 2013 (FCT
    normalised by the ideal); Dukkipati, McKeown 2006.
    """
    return of_slowdowns(obs, SurvivalCurve.mean)


@register(title="median slowdown", better="lower", per="group")
def slowdown_p50(obs: Observation) -> list[float | None]:
    """Median slowdown of a group's flows, as `slowdown_mean`.

    References
    ----------
    Alizadeh et al. 2013.
    """
    return of_slowdowns(obs, quantile(0.5))


@register(title="slowdown, 95th percentile", better="lower", per="group")
def slowdown_p95(obs: Observation) -> list[float | None]:
    """95th percentile of the slowdown of a group's flows, as `slowdown_mean`.

    References
    ----------
    Alizadeh et al. 2013.
    """
    return of_slowdowns(obs, quantile(0.95))


@register(title="slowdown, 99th percentile", better="lower", per="group")
def slowdown_p99(obs: Observation) -> list[float | None]:
    """99th percentile of the slowdown of a group's flows, as `slowdown_mean`.

    References
    ----------
    Alizadeh et al. 2013.
    """
    return of_slowdowns(obs, quantile(0.99))


def quantile(q: float) -> Of:
    """Return the function that takes a quantile."""
    return lambda curve: curve.quantile(q)


def of_slowdowns(obs: Observation, of: Of) -> list[float | None]:
    """Return a figure of each group's slowdowns."""
    return [of(each.of(FLOW).slowdowns) for each in obs.transfers]


def of_class(transfers: Sequence[GroupTransfers], index: int, of: Of) -> list[float | None]:
    """Return a figure of the slowdowns of each group's flows in a class of sizes."""
    smallest = SIZE_CLASSES[index - 1][2] if index else -1
    values: list[float | None] = []
    for each in transfers:
        flows = each.of(FLOW)
        if not len(flows):
            values.append(None)
            continue
        within = (flows.size_bytes > smallest) & (flows.size_bytes <= SIZE_CLASSES[index][2])
        values.append(of(flows.where(within).slowdowns))
    return values


def add_class(index: int, name: str, title: str, of: Of, doc: str) -> None:
    """Register a metric of the flows in a class of sizes."""
    key, sizes, _ = SIZE_CLASSES[index]

    def formula(obs: Observation) -> list[float | None]:
        return of_class(obs.transfers, index, of)

    formula.__doc__ = f"""{doc} of a group's flows of {sizes.replace("up to", "at most")}.

    Otherwise as `slowdown_mean`; None without such a flow, or where too few are complete.

    References
    ----------
    Alizadeh et al. 2013: by size.
    """
    register(title=f"{title}, {sizes}", better="lower", per="group", name=f"{name}_{key}")(formula)


for _index in range(len(SIZE_CLASSES)):
    add_class(_index, "slowdown_mean", "mean slowdown", SurvivalCurve.mean, "Mean slowdown")
    add_class(
        _index, "slowdown_p99", "slowdown, 99th percentile", quantile(0.99),
        "99th percentile of the slowdown",
    )  # fmt: skip
