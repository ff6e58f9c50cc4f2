"""What a search makes as bad as it can: how much worse than the reference one does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from dumbbell.base.errors import ScenarioError
from dumbbell.compare.fair_part import part_of
from dumbbell.metrics import METRICS, Metric
from dumbbell.metrics.harm import harm_of
from dumbbell.metrics.metric import metric_named
from dumbbell.run import Run
from dumbbell.scenario import Scenario

__all__ = ["REALISTIC", "WORST", "Worst", "worst_named"]

#: The part of its fair share that the reference must get; else it is the scenario that is bad.
REALISTIC = 0.5

#: Of rates of losses, 2 % more is a failure: the BBR draft's LossThresh.
LEAST_OF = {"drop_rate": 0.02, "retransmission_rate": 0.02}

Rows = list[dict[str, Any]]


class Worst(ABC):
    """A way of doing badly.

    Attributes
    ----------
    name, doc
        What the user calls it, and what it is.
    least
        The score from which on a scenario is a failure.
    metrics
        Those that `value` finds in the rows of a run.
    flows, has_competitor
        Of the plain scenario.
    """

    name: str
    doc: ClassVar[str] = ""
    least: float = 0.25
    metrics: tuple[Metric, ...] = ()
    flows: ClassVar[int] = 1
    has_competitor: ClassVar[bool] = False

    @abstractmethod
    def value(self, run: Run, rows: Rows) -> float | None:
        """Return what is measured of one run; None where it has no value."""

    @abstractmethod
    def score(self, tested: float, reference: float) -> float:
        """Return how much worse one does than the reference."""

    @abstractmethod
    def verb(self) -> str:
        """Say what it does: ``gets``."""

    @abstractmethod
    def shown(self, value: float, scenario: Scenario) -> str:
        """Write a value: ``0.4 %``."""

    def of(self) -> str:
        """Say of what, between the value and the path."""
        return "on"


class Gap(Worst):
    """How much less of its fair share it gets."""

    name = "gap"
    doc = "gets less of its fair share of the link than the reference"

    def value(self, run: Run, rows: Rows) -> float | None:  # noqa: ARG002
        """Return the part of its fair share that it gets."""
        return part_of(run.scenario, run.summary, 0)

    def score(self, tested: float, reference: float) -> float:
        """Return the difference; more than its share is no merit of the reference."""
        return min(reference, 1.0) - tested

    def verb(self) -> str:
        """Say what it does."""
        return "gets"

    def shown(self, value: float, scenario: Scenario) -> str:
        """Write a share of the link, or of the fair share where others compete."""
        of = " of its fair share" if len(scenario.groups) > 1 else ""
        return f"{100 * value:.3g} %{of}"

    def of(self) -> str:
        """Say of what."""
        return "of"


class Harm(Gap):
    """How much less of theirs it leaves to a flow of the reference."""

    name = "harm"
    doc = "leaves less of its fair share to a flow of the reference than that leaves to itself"
    has_competitor = True

    def value(self, run: Run, rows: Rows) -> float | None:  # noqa: ARG002
        """Return the part of its fair share that the competing flow gets."""
        return part_of(run.scenario, run.summary, 1)

    def verb(self) -> str:
        """Say what it does."""
        return "leaves its competitor"


class OfMetric(Worst):
    """A metric of the group under test, or of the run.

    Parameters
    ----------
    metric
        Of which one direction is better.
    """

    def __init__(self, metric: Metric) -> None:
        if metric.better is None:
            known = [name for name, each in METRICS.items() if each.better is not None]
            raise ScenarioError(
                f"of `{metric.name}` neither more nor less is worse; use a metric of which one is, "
                f"like `{known[0]}` (`dumbbell list metrics`)",
                key="worst",
            )
        self.metric = metric
        self.metrics = (metric,)
        self.name = metric.name
        self.least = LEAST_OF.get(metric.name, type(self).least)

    def value(self, run: Run, rows: Rows) -> float | None:  # noqa: ARG002
        """Return the metric."""
        value: float | None = rows[0].get(self.metric.name)
        return value

    def score(self, tested: float, reference: float) -> float:
        """Return the difference of a share, else the part that is lost (Ware et al. 2019)."""
        better = self.metric.better or "higher"
        if self.metric.unit == "1":
            return reference - tested if better == "higher" else tested - reference
        return harm_of(reference, tested, better) or 0.0

    def verb(self) -> str:
        """Say what it does."""
        title = self.metric.title
        article = "an" if title[0] in "aeiou" or title.startswith("RT") else "a"
        return f"has {article} {title} of"

    def shown(self, value: float, scenario: Scenario) -> str:  # noqa: ARG002
        """Write the value in the metric's unit of tables."""
        number = f"{value * self.metric.scale:.3g}"
        return f"{number} {self.metric.shown_unit}".strip()


class Stall(OfMetric):
    """For how much longer it delivers nothing."""

    doc = "delivers nothing for longer than the reference, s"
    least = 1.0

    def __init__(self) -> None:
        super().__init__(METRICS["delivery_gap_max_s"])
        self.name = "stall"

    def score(self, tested: float, reference: float) -> float:
        """Return the difference, s."""
        return tested - reference

    def verb(self) -> str:
        """Say what it does."""
        return "delivers nothing for"


class Starved(OfMetric):
    """For how much longer one of its flows starves."""

    doc = "one of its flows starves for more of the time than one of the reference's"
    flows = 2

    def __init__(self) -> None:
        super().__init__(METRICS["starved_time_share"])
        self.name = "starved"

    def verb(self) -> str:
        """Say what it does."""
        return "lets its own flows starve for"

    def of(self) -> str:
        """Say of what."""
        return "of the time on"


class Bufferbloat(Worst):
    """How much longer packets wait, in base RTTs."""

    name = "bufferbloat"
    doc = "lets packets wait longer than the reference, p95, in base RTTs"
    least = 0.5
    metrics = (METRICS["queue_delay_p95_us"],)

    def value(self, run: Run, rows: Rows) -> float | None:
        """Return the 95th percentile of the queueing delay in base RTTs."""
        delay_us = rows[0].get(self.metrics[0].name)
        return None if delay_us is None else delay_us * 1000 / int(run.scenario.rtt)

    def score(self, tested: float, reference: float) -> float:
        """Return the difference, base RTTs."""
        return tested - reference

    def verb(self) -> str:
        """Say what it does."""
        return "lets packets wait"

    def shown(self, value: float, scenario: Scenario) -> str:
        """Write the time."""
        return f"{value * int(scenario.rtt) / 1e6:.3g} ms"


#: The ways of doing badly that are no metric, by name.
WORST: Mapping[str, type[Worst]] = {
    "gap": Gap,
    "stall": Stall,
    "starved": Starved,
    "bufferbloat": Bufferbloat,
    "harm": Harm,
}


def worst_named(name: str) -> Worst:
    """Return a way of doing badly by its name, or that of a metric.

    Raises
    ------
    ScenarioError
        There is neither, or neither more nor less of the metric is worse.
    """
    if name in WORST:
        return WORST[name]()
    try:
        metric = metric_named(name, ScenarioError)
    except ScenarioError:
        raise ScenarioError(
            f"unknown failure `{name}`: use {', '.join(f'`{each}`' for each in WORST)} or a "
            "metric (`dumbbell list metrics` lists them)",
            key="worst",
        ) from None
    return OfMetric(metric)
