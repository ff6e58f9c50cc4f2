"""What a metric is, and the table of all metrics: dumbbell's own and the user's."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from dumbbell.errors import DumbbellError, ResultError, nearest
from dumbbell.metrics.observation import Observation
from dumbbell.metrics.warmup import Warmup

if TYPE_CHECKING:
    from dumbbell.run import Run

__all__ = ["METRICS", "Formula", "Metric", "Value", "add", "metric_named", "register"]

#: Of a run, or of each of its groups in the scenario's order; None where the run has no value.
Value: TypeAlias = float | list[float | None] | None
#: Computes the value from what is observed of a run.
Formula: TypeAlias = Callable[[Observation], float | Sequence[float | None] | None]
F = TypeVar("F", bound=Formula)

#: The unit of tables and figures for a unit, and the factor that converts to it.
_SHOWN = {"bit/s": ("Mbit/s", 1e-6), "us": ("ms", 1e-3), "bit/s^2": ("Mbit/s per ms", 1e-9)}
PERCENT = ("%", 100.0)


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
        Its name in tables and figures.
    better
        Which way is better; None where neither is.
    per
        Whether a run has one value or each of its groups has one.
    formula
        The function; its docstring has the formula and its source.
    shown_unit, scale
        Unit in tables and figures, and the factor that converts to it: ``Mbit/s``, 1e-6.
    token
        Identifies one registration; empty for dumbbell's own metrics.
    """

    name: str
    unit: str
    title: str
    better: Literal["higher", "lower"] | None
    per: Literal["run", "group"]
    formula: Formula
    shown_unit: str = ""
    scale: float = 1.0
    token: str = ""

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
            What to leave out of its start. Without, the engine's own figures of the whole run
            are used; with, its time series.

        Raises
        ------
        ResultError
            There is a warm-up, and the run has no time series or is not longer than that.
        """
        return self.observe(Observation(run, warmup))

    def observe(self, obs: Observation) -> Value:
        """Return the metric of what is observed of a run.

        Raises
        ------
        ResultError
            A user's formula did not return a number, or not one per group.
        """
        value = self.formula(obs)
        if not self.token:
            return value  # type: ignore[return-value] # lists, for speed not checked again
        if self.per == "run":
            return self._number(value)
        try:
            values = [self._number(each) for each in value]  # type: ignore[union-attr]
        except TypeError:
            values = []
        if len(values) != len(obs.groups):
            raise ResultError(
                f"metric `{self.name}` returned `{value}`; expected a list of {len(obs.groups)} "
                "numbers, one per group"
            )
        return values

    def _number(self, value: object) -> float | None:
        """Return a user's value as a float; None if it is not finite."""
        if value is None:
            return None
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise ResultError(
                f"metric `{self.name}` returned `{value}`, which is not a number; a metric of each "
                'group is registered with `per="group"`'
            ) from None
        return number if isfinite(number) else None


_METRICS: dict[str, Metric] = {}
#: Every metric by its name, in the order of tables.
METRICS: Mapping[str, Metric] = MappingProxyType(_METRICS)


def register(
    *,
    unit: str = "1",
    title: str = "",
    better: Literal["higher", "lower"] | None = None,
    per: Literal["run", "group"] = "run",
    name: str = "",
    shown: tuple[str, float] | None = None,
) -> Callable[[F], F]:
    """Add the decorated function to the metrics of runs, sweeps, gates and plots.

    Parameters
    ----------
    unit
        Of the value: ``bit/s``, ``us``, ``s``, ``pkts``; ``1`` for a ratio, an index or a count.
    title
        Its name in tables and figures; the metric's name by default.
    better
        Which way is better; None where neither is.
    per
        ``run`` if the function returns a number, ``group`` if it returns a list of one per group.
    name
        Of the metric; the function's by default.
    shown
        Unit in tables and figures, and the factor that converts to it: ``("ms", 1e-3)``.

    Raises
    ------
    ResultError
        The name is that of one of dumbbell's own metrics, or not an identifier.

    Examples
    --------
    >>> import dumbbell
    >>> from dumbbell.metrics import METRICS, Observation, register
    >>> @register(unit="us", title="largest RTT", better="lower", per="group")
    ... def rtt_max_us(obs: Observation) -> list[float | None]:
    ...     return [
    ...         float(max(obs.after_cut(flow, "rtt_us").max() for flow in flows))
    ...         for flows in obs.members
    ...     ]
    >>> run = dumbbell.run(dumbbell.Scenario(["copa", "cubic"], time="2s"))
    >>> [value > 40_000 for value in METRICS["rtt_max_us"].of(run)]
    [True, True]
    """

    def decorate(formula: F) -> F:
        shown_unit, scale = shown or _SHOWN.get(unit, ("" if unit == "1" else unit, 1.0))
        own = (getattr(formula, "__module__", "") or "").startswith("dumbbell.metrics.")
        key = name or formula.__name__
        token = "" if own else uuid.uuid4().hex
        add(Metric(key, unit, title or key, better, per, formula, shown_unit, scale, token))
        return formula

    return decorate


def add(metric: Metric) -> None:
    """Add a metric to the table; a user's metric replaces an earlier one of its name.

    Raises
    ------
    ResultError
        The name is that of one of dumbbell's own metrics, or not an identifier.
    """
    name = metric.name
    if not name.isidentifier() or name in RESERVED:
        raise ResultError(f"`{name}` cannot name a metric; use letters, digits and `_`")
    if metric.token and name in _METRICS and not _METRICS[name].token:
        raise ResultError(f"`{name}` is one of dumbbell's own metrics; choose another name")
    _METRICS[name] = metric


#: Other columns of the rows.
RESERVED = frozenset({"cell", "rep", "seed", "group", "cc", "flows", "verdict"})


def metric_named(name: str, error: type[DumbbellError] = ResultError) -> Metric:
    """Return a metric by its name.

    Raises
    ------
    DumbbellError
        There is none; `error` says of which class.
    """
    if name not in METRICS:
        raise error(f"unknown metric `{name}`{nearest(name, METRICS)}")
    return METRICS[name]
