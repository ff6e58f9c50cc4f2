"""A model's prediction for a run, under the names of a run's own metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dumbbell.base.errors import ResultError
from dumbbell.models.bottleneck import Bottleneck
from dumbbell.scenario import Group, Scenario
from dumbbell.statistics import share

__all__ = ["Prediction", "algorithm", "predict_rates"]


@dataclass(frozen=True)
class Prediction:
    """A model's prediction for a run.

    Attributes
    ----------
    groups
        Per group of the scenario, keys as in ``run.groups``: ``share``, ``goodput_bps``, …
    bottleneck
        Keys as in ``run.summary["bottleneck"]``: ``utilization``, ``queue_delay_mean_us``, …
    details
        The model's own quantities, units in the names.
    """

    groups: tuple[Mapping[str, float], ...]
    bottleneck: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, float] = field(default_factory=dict)

    def metric(self, key: str, group: int | None = None) -> float:
        """Return a metric of a group, or of the bottleneck when no group is named.

        Raises
        ------
        ResultError
            The model does not predict it.
        """
        values = self.bottleneck if group is None else self.groups[group]
        if key not in values:
            of = "the bottleneck" if group is None else f"group {group}"
            raise ResultError(f"the model predicts no `{key}` of {of}; it has {', '.join(values)}")
        return values[key]

    def has(self, key: str, group: int | None = None) -> bool:
        """Whether the model predicts a metric."""
        return key in (self.bottleneck if group is None else self.groups[group])


def algorithm(group: Group) -> str:
    """Return a group's congestion control without what does not change the algorithm.

    The running kernel's own, ``linux/cubic``, is ``cubic``.
    """
    return group.cc.kernel_name if group.cc.is_kernels_own else group.cc.name


def predict_rates(
    scenario: Scenario, bottleneck: Bottleneck, parts: Sequence[float], utilization: float = 1.0
) -> tuple[dict[str, float], ...]:
    """Return each group's share and rates.

    Parameters
    ----------
    scenario
        Its groups.
    bottleneck
        The link.
    parts
        What each group gets, in any unit.
    utilization
        The part of the link that they use together.
    """
    total = sum(parts)
    payload = bottleneck.payload_bytes / bottleneck.packet_bytes
    rates = []
    for group, part in zip(scenario.groups, parts, strict=True):
        throughput_bps = share(part, total) * utilization * bottleneck.link_rate_bps
        rates.append(
            {
                "share": share(part, total),
                "throughput_bps": throughput_bps,
                "goodput_bps": throughput_bps * payload,
                "goodput_per_flow_bps": throughput_bps * payload / group.flows,
            }
        )
    return tuple(rates)
