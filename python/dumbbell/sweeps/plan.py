"""How often each cell of a sweep is repeated, and what is measured of a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """Repetitions and measuring.

    Attributes
    ----------
    reps
        Of each cell; with `until_ci`, the fewest.
    until_ci
        Repeat a cell until the confidence interval of its mean reaches no further to each side:
        ``2%`` of the mean, or ``0.01`` in the metric's unit; None repeats `reps` times.
    metric
        Of which metric.
    max_reps
        The most.
    warmup
        What of each run's start no metric counts: ``20s``, ``auto``; None counts all.
    """

    reps: int = 1
    until_ci: str | None = None
    metric: str = "goodput_bps"
    max_reps: int = 100
    warmup: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as `sweep.json` has it."""
        return asdict(self)
