"""What a metric is, and the table of all metrics: dumbbell's own and the user's.

A metric of links is called by its name alone, which is the bottleneck's value, or with a link:
``utilization@access``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from dumbbell.base.errors import DumbbellError, ResultError, nearest
from dumbbell.metrics.observation import Observation
from dumbbell.metrics.warmup import Warmup
from dumbbell.run.links import BOTTLENECK, index_of_link

if TYPE_CHECKING:
    from dumbbell.run import Run

__all__ = [
    "AT", "METRICS", "Formula", "Metric", "Value", "add", "canonical", "column_in", "metric_named",
    "register", "value_in",
]  # fmt: skip

#: Of a run or a link, or of each group in the scenario's order; None where the run has no value.
Value: TypeAlias = float | list[float | None] | None
#: What a metric has a value of.
Per: TypeAlias = Literal["run", "group", "link"]
#: Between a metric of links and the link.
AT = "@"
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
        Its key in rows and JSON, with its unit unless it has none; ``NAME@LINK`` of one link.
    unit
        Of the value: ``bit/s``, ``us``, ``s``, ``pkts``; ``1`` for a ratio, an index or a count.
    title
        Its name in tables and figures.
    better
        Which way is better; None where neither is.
    per
        Whether a run has one value, or each of its groups or links has one.
    formula
        The function; its docstring has the formula and its source.
    shown_unit, scale
        Unit in tables and figures, and the factor that converts to it: ``Mbit/s``, 1e-6.
    token
        Identifies one registration; empty for dumbbell's own metrics.
    link
        The link that a metric of links is of; empty for the bottleneck.
    """

    name: str
    unit: str
    title: str
    better: Literal["higher", "lower"] | None
    per: Per
    formula: Formula
    shown_unit: str = ""
    scale: float = 1.0
    token: str = ""
    link: str = ""

    @property
    def of_groups(self) -> bool:
        """Whether each group of a run has a value; else the run has one."""
        return self.per == "group"

    def at(self, link: str) -> Metric:
        """Return a metric of links as that of one link."""
        return replace(
            self, name=f"{self.name}{AT}{link}", title=f"{self.title}, {link}", link=link
        )

    @property
    def doc(self) -> str:
        """Formula and source: the docstring of `formula`."""
        return self.formula.__doc__ or ""

    def of(self, run: Run, warmup: Warmup | None = None) -> Value:
        """Return the metric of a run: a number, or a list with one per group.

        Of a metric of links it is the number of the bottleneck, or of the link in the metric's
        name.

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
            There is a warm-up, and the run has no time series or is not longer than that; or the
            run has no such link.
        """
        return self.observe(Observation(run, warmup))

    def observe(self, obs: Observation) -> Value:
        """Return the metric of what is observed of a run.

        Raises
        ------
        ResultError
            A user's formula did not return a number, or not one per group or link; or the run has
            no such link.
        """
        if self.per == "link":
            return self.of_links(obs)[obs.index_of(self.link)]
        value = self.formula(obs)
        if not self.token:
            return value  # type: ignore[return-value] # lists, for speed not checked again
        if self.per == "run":
            return self._number(value)
        return self._numbers(value, len(obs.groups))

    def of_links(self, obs: Observation) -> list[float | None]:
        """Return a metric of links of each link, in the order of the result's.

        Raises
        ------
        ResultError
            A user's formula did not return a number per link.
        """
        return self._numbers(self.formula(obs), len(obs.links))

    def _numbers(self, value: object, count: int) -> list[float | None]:
        """Return a user's values as floats."""
        if not self.token:
            return value  # type: ignore[return-value] # for speed not checked again
        try:
            values = [self._number(each) for each in value]  # type: ignore[attr-defined]
        except TypeError:
            values = []
        if len(values) != count:
            raise ResultError(
                f"metric `{self.name}` returned `{value}`; expected a list of {count} "
                f"numbers, one per {self.per}"
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
                'group is registered with `per="group"`, one of each link with `per="link"`'
            ) from None
        return number if isfinite(number) else None


#: Names as titles spell them.
SPELLINGS = {"utilisation": "utilization"}


def canonical(name: str) -> str:
    """Return a metric's name in the one spelling that results have."""
    base, at, link = name.partition(AT)
    return f"{SPELLINGS.get(base, base)}{at}{link}"


class Metrics(Mapping[str, Metric]):
    """Every metric by its name, in the order of tables; those of one link are not listed."""

    def __init__(self, known: Mapping[str, Metric]) -> None:
        self._known = known

    def __getitem__(self, name: str) -> Metric:
        base, at, link = canonical(name).partition(AT)
        if not at:
            return self._known[base]
        if link and self._known[base].per == "link":
            return self._known[base].at(link)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def values(self) -> ValuesView[Metric]:
        """Return all metrics, without looking each up by its name."""
        return self._known.values()


_METRICS: dict[str, Metric] = {}
#: Every metric by its name, in the order of tables.
METRICS: Mapping[str, Metric] = Metrics(_METRICS)


def register(
    *,
    unit: str = "1",
    title: str = "",
    better: Literal["higher", "lower"] | None = None,
    per: Per = "run",
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
        ``run`` if the function returns a number, ``group`` if it returns a list of one per group,
        ``link`` for one per link.
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
    if metric.token and name in METRICS and not METRICS[name].token:
        raise ResultError(f"`{name}` is one of dumbbell's own metrics; choose another name")
    _METRICS[name] = metric


def column_in(names: Iterable[str], metric: Metric) -> str:
    """Return a metric's column among those of rows by `measure`.

    Raises
    ------
    ResultError
        The runs have no such link.
    """
    if not metric.link or metric.name in names:
        return metric.name
    base = metric.name.partition(AT)[0]
    links = [name.partition(AT)[2] for name in names if name.startswith(base + AT)]
    index_of_link([{"name": link} for link in links or [BOTTLENECK]], metric.link)
    return base  # the bottleneck of runs that have no other link


def value_in(row: Mapping[str, Any], metric: Metric) -> float | None:
    """Return a metric's value in a row of `measure`; None in one that is older than the metric.

    Raises
    ------
    ResultError
        The run has no such link.
    """
    value: float | None = row.get(column_in(row, metric))
    return value


#: Other columns of the rows.
RESERVED = frozenset({"cell", "rep", "seed", "group", "name", "cc", "flows", "verdict"})


def metric_named(name: str, error: type[DumbbellError] = ResultError) -> Metric:
    """Return a metric by its name.

    Raises
    ------
    DumbbellError
        There is none; `error` says of which class.
    """
    if name in METRICS:
        return METRICS[name]
    base, at, link = name.partition(AT)
    if base not in METRICS:
        raise error(f"unknown metric `{base}`{nearest(base, METRICS)}")
    if not link:
        raise error(f"`{name}`: name a link after `{AT}`, like `{base}{at}access`")
    raise error(
        f"`{name}`: `{base}` is a metric of a {METRICS[base].per}, not of a link; use `{base}`"
    )
