"""One metric on two sides, A and B: how the sides differ, and how surely."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dumbbell.metrics import Metric
from dumbbell.statistics import (
    LEVEL,
    Difference,
    Interval,
    holm,
    paired_difference,
    unpaired_difference,
)

__all__ = ["SIGNIFICANCE", "Comparison", "Sides", "adjusted", "match_seeds", "reported_groups"]

#: The sides differ when p, adjusted for all comparisons, is below.
SIGNIFICANCE = 1 - LEVEL


@dataclass(frozen=True)
class Sides:
    """The values of one metric on either side.

    Attributes
    ----------
    a, b
        The values; the pairs in the same order if there are pairs.
    seeds
        Of the pairs; empty without pairs.
    missing
        How many repetitions have no value, in A and in B.
    """

    a: tuple[float, ...]
    b: tuple[float, ...]
    seeds: tuple[int, ...] = ()
    missing: tuple[int, int] = (0, 0)
    paired: bool = True

    @cached_property
    def difference(self) -> Difference:
        """B minus A: by pairs if there are pairs, else by Welch's t."""
        return (paired_difference if self.paired else unpaired_difference)(self.a, self.b)


def match_seeds(a: Mapping[int, float | None], b: Mapping[int, float | None]) -> Sides:
    """Pair the values of either side by their seeds.

    Without a common seed there are no pairs. With some, values of other seeds are left out, and
    pairs of which one value is missing.
    """
    common = [seed for seed in a if seed in b]
    if common:
        a, b = {seed: a[seed] for seed in common}, {seed: b[seed] for seed in common}
    missing = (sum(v is None for v in a.values()), sum(v is None for v in b.values()))
    known = [seed for seed in common if a[seed] is not None and b[seed] is not None]
    if common:
        a, b = {seed: a[seed] for seed in known}, {seed: b[seed] for seed in known}
    x, y = (tuple(float(v) for v in side.values() if v is not None) for side in (a, b))
    return Sides(x, y, tuple(known), missing, bool(common))


@dataclass(frozen=True)
class Comparison:
    """One metric of a group, or of the run, in one cell.

    Attributes
    ----------
    cell
        Name of the cell.
    group
        Index of the group; None for a metric of the run.
    cc_a, cc_b
        The group's congestion control on either side; empty for a metric of the run.
    name_a, name_b
        What the group is called there; likewise.
    metric
        Which.
    sides
        The values.
    p_adjusted
        p after Holm's adjustment for all comparisons; None without p.
    harm
        With solo runs on side A: the harm that competing does, averaged over the pairs.
    """

    cell: str
    group: int | None
    cc_a: str
    cc_b: str
    metric: Metric
    sides: Sides
    p_adjusted: float | None = None
    harm: Interval | None = None
    name_a: str = ""
    name_b: str = ""

    @property
    def a(self) -> tuple[float, ...]:
        """The values of side A."""
        return self.sides.a

    @property
    def b(self) -> tuple[float, ...]:
        """The values of side B."""
        return self.sides.b

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the pairs; empty without pairs."""
        return self.sides.seeds

    @property
    def difference(self) -> Difference:
        """B minus A."""
        return self.sides.difference

    @property
    def differs(self) -> bool:
        """Whether the sides differ by more than chance explains, all comparisons considered."""
        return self.p_adjusted is not None and self.p_adjusted < SIGNIFICANCE

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval of this difference alone, without adjustment, excludes 0."""
        interval = self.difference.interval
        return interval.bounded and interval.excludes(0)

    @property
    def leading(self) -> str | None:
        """``a`` or ``b``, whichever is better by the means; None where neither way is."""
        mean = self.difference.interval.mean
        if self.metric.better is None or mean == 0:
            return None
        return "b" if (mean > 0) == (self.metric.better == "higher") else "a"

    @property
    def better(self) -> str | None:
        """``a`` or ``b`` where one is surely better (`differs`); else None."""
        return self.leading if self.differs else None

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as `compare --json` has it."""
        return {
            "cell": self.cell,
            "group": self.group,
            "cc_a": self.cc_a or None,
            "cc_b": self.cc_b or None,
            "name_a": self.name_a or None,
            "name_b": self.name_b or None,
            "metric": self.metric.name,
            "unit": self.metric.unit,
            "seeds": list(self.seeds),
            "a": list(self.a),
            "b": list(self.b),
            "difference": self.difference.to_dict(),
            "p_adjusted": self.p_adjusted,
            "excludes_zero": self.excludes_zero,
            "better": self.better,
            "harm": None if self.harm is None else self.harm.to_dict(),
        }


def adjusted(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Give each comparison its p, adjusted for all of them."""
    listed = list(comparisons)
    p_values = [entry.difference.p for entry in listed if entry.difference.p is not None]
    remaining = iter(holm(p_values))
    return [
        entry if entry.difference.p is None else replace(entry, p_adjusted=next(remaining))
        for entry in listed
    ]


def reported_groups(metric: Metric, groups: Sequence[int], *, solo: bool) -> Sequence[int]:
    """Return the groups whose values of a metric do not follow from another group's.

    The share of one of two groups follows from the other's: a second test would be the first one
    mirrored, and count twice when p is adjusted for all. Compared with runs of a group alone, whose
    share is 1, each share counts.
    """
    mirrored = metric.name == "share" and len(groups) == 2 and not solo
    return groups[:1] if not metric.of_groups or mirrored else groups
