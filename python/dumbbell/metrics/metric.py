"""What a metric is: a number of a run or of each of its groups, with a name and a unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from dumbbell.metrics.observation import Observation
from dumbbell.metrics.warmup import Warmup

if TYPE_CHECKING:
    from dumbbell.run import Run

__all__ = ["Formula", "Metric", "Value"]

#: Of a run, or of each of its groups in the scenario's order; None where the run does not tell.
Value: TypeAlias = float | list[float | None] | None
#: From what is looked at of a run to the value.
Formula: TypeAlias = Callable[[Observation], Value]


@dataclass(frozen=True)
class Metric:
    """A number of a run.

    Attributes
    ----------
    name
        Its key in rows and JSON, with its unit unless it has none.
    unit
        Of the value: ``bit/s``, ``us``, ``s``, ``pkts``; ``1`` for a ratio, an index or a count.
    title
        What people call it.
    better
        Which way is better; None where neither is.
    per
        Whether a run has one value or each of its groups.
    formula
        The function; its docstring has the formula and its source.
    shown_unit, scale
        Unit in tables and figures, and what a value is multiplied by for it: ``Mbit/s``, 1e-6.
    """

    name: str
    unit: str
    title: str
    better: Literal["higher", "lower"] | None
    per: Literal["run", "group"]
    formula: Formula
    shown_unit: str = ""
    scale: float = 1.0

    @property
    def doc(self) -> str:
        """Formula and source: the docstring of `formula`."""
        return self.formula.__doc__ or ""

    def of(self, run: Run, warmup: Warmup | None = None) -> Value:
        """Return the metric of a run: a number, or a list with one per group.

        Parameters
        ----------
        run
            The run.
        warmup
            What to leave out of its beginning. Without, the engine's own figures of the whole run
            are used; with, its time series.

        Raises
        ------
        ResultError
            There is a warm-up, and the run has no time series or is not longer than that.
        """
        return self.formula(Observation(run, warmup))
