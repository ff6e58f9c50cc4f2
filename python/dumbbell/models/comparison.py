"""A model compared with measured runs: its error, scenario by scenario."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, Unpack

import numpy as np

from dumbbell.base.errors import ResultError
from dumbbell.metrics import AllMetrics
from dumbbell.models.model import Headline, Model
from dumbbell.run.verdict import Verdict
from dumbbell.runs import Execution, measure_all, repetitions
from dumbbell.scenario import Scenario

__all__ = ["ModelComparison", "ModelErrors", "compare_model", "summarize", "verdict_counts"]

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class ModelComparison:
    """A model and the measured runs of one scenario.

    Attributes
    ----------
    scenario
        With the first run's seed.
    headline
        The metric that is compared.
    predicted
        The model's value.
    measured
        A value per run.
    verdicts
        One per run.
    """

    scenario: Scenario
    headline: Headline
    predicted: float
    measured: tuple[float, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def error(self) -> float:
        """Predicted minus the measured mean; over that mean where the headline is relative."""
        mean = float(np.mean(self.measured))
        difference = self.predicted - mean
        if not self.headline.is_relative:
            return difference
        return difference / mean if mean else math.inf

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison for JSON."""
        return {
            "metric": self.headline.key,
            "group": self.headline.group,
            "predicted": self.predicted,
            "measured": list(self.measured),
            "error": self.error if math.isfinite(self.error) else None,
            "is_relative": self.headline.is_relative,
            "verdicts": [verdict.status for verdict in self.verdicts],
        }


@dataclass(frozen=True)
class ModelErrors:
    """Absolute errors of some comparisons.

    Attributes
    ----------
    count
        Number of errors.
    median, mean, worst
        Of their absolute values.
    bias
        Mean with its sign: positive if the model predicts too much.
    """

    count: int
    median: float
    mean: float
    worst: float
    bias: float


def summarize(compared: Sequence[ModelComparison]) -> ModelErrors:
    """Summarize the errors of one comparison or more."""
    errors = np.array([each.error for each in compared])
    return ModelErrors(
        count=errors.size,
        median=float(np.median(np.abs(errors))),
        mean=float(np.mean(np.abs(errors))),
        worst=float(np.max(np.abs(errors))),
        bias=float(np.mean(errors)),
    )


def compare_model(
    model: Model,
    scenarios: Mapping[K, Scenario],
    *,
    reps: int = 1,
    last_s: float | None = None,
    **how: Unpack[Execution],
) -> dict[K, ModelComparison]:
    """Run scenarios and compare a model with them.

    Parameters
    ----------
    model
        A model with a headline.
    scenarios
        The scenarios to run, by key.
    reps
        Runs of each, with consecutive seeds.
    last_s
        Measure only this many seconds at the end, because models describe what flows converge to.
        None measures whole runs.
    how
        As `run_all` has it.

    Raises
    ------
    DoesNotApply
        The model does not describe one of the scenarios.
    """
    if model.headline is None:
        raise ResultError(f"model `{model.name}` predicts no metric of a run")
    headline = model.headline
    predicted = {
        key: model.predict(scenario).metric(headline.key, headline.group)
        for key, scenario in scenarios.items()
    }
    measured = measure_all(
        repetitions(scenarios.items(), reps),
        lambda key: AllMetrics(warmup_before(scenarios[key[0]], last_s)),
        **how,
    )  # fmt: skip
    return {
        key: ModelComparison(
            scenario=scenario,
            headline=headline,
            predicted=predicted[key],
            measured=tuple(
                measured[key, rep][1][headline.group or 0][headline.key] for rep in range(reps)
            ),
            verdicts=tuple(measured[key, rep][0].verdict for rep in range(reps)),
        )
        for key, scenario in scenarios.items()
    }


def warmup_before(scenario: Scenario, last_s: float | None) -> str | None:
    """Return the warm-up that leaves the last seconds of a run; None for the whole run."""
    before_ns = 0 if last_s is None else int(scenario.time) - round(1e9 * last_s)
    return f"{before_ns}ns" if before_ns > 0 else None


def verdict_counts(compared: Iterable[ModelComparison]) -> dict[str, int]:
    """Count the runs by verdict with its checks: ``OK``, ``WARN rto_stall``."""
    counts: Counter[str] = Counter()
    for verdict in (verdict for each in compared for verdict in each.verdicts):
        checks = sorted({reason.check for reason in verdict.reasons})
        counts[" ".join([verdict.status, *checks])] += 1
    return dict(counts)
