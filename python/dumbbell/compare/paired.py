"""Two sets of runs, metric by metric and cell by cell: how they differ, and how surely."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dumbbell.compare.measured import MeasuredRuns, Runs, measured
from dumbbell.compare.pairs import Pair, cell_labels, pairs_alike, pairs_with_solo
from dumbbell.errors import ResultError, nearest
from dumbbell.metrics import METRICS, Metric, Warmup, harm_of
from dumbbell.statistics import LEVEL, Difference, Interval, holm, mean_interval, paired_difference

__all__ = ["SIGNIFICANCE", "Comparison", "PairedComparison", "compare"]

#: A difference counts when its p, adjusted for all comparisons, is below.
SIGNIFICANCE = 1 - LEVEL


@dataclass(frozen=True)
class Comparison:
    """One metric in one cell.

    Attributes
    ----------
    cell
        Name of the cell: the conditions in which it differs from the others.
    group
        Index of the group; None for a metric of the run.
    cc_a, cc_b
        The group's congestion control on either side; empty for a metric of the run.
    metric
        Which.
    seeds
        Of the pairs that tell it on both sides.
    a, b
        A value per pair.
    difference
        b - a.
    p_adjusted
        p after Holm's adjustment for all comparisons; None without p.
    harm
        With solo runs on side a: the harm that competing does, averaged over the pairs.
    """

    cell: str
    group: int | None
    cc_a: str
    cc_b: str
    metric: Metric
    seeds: tuple[int, ...]
    a: tuple[float, ...]
    b: tuple[float, ...]
    difference: Difference
    p_adjusted: float | None = None
    harm: Interval | None = None

    @property
    def differs(self) -> bool:
        """Whether the sides differ by more than chance explains."""
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
        """``a`` or ``b`` where one is better for sure (`differs`); else None."""
        return self.leading if self.differs else None

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as `compare --json` has it."""
        return {
            "cell": self.cell,
            "group": self.group,
            "cc_a": self.cc_a or None,
            "cc_b": self.cc_b or None,
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


@dataclass(frozen=True)
class PairedComparison:
    """All comparisons of two sets of runs.

    Attributes
    ----------
    a, b
        The sides' names.
    comparisons
        By cell, then metric, then group.
    pairs
        How many runs of a side have their like in the other.
    unpaired_a, unpaired_b
        How many runs of either side have none, or are INVALID.
    """

    a: str
    b: str
    comparisons: tuple[Comparison, ...]
    pairs: int
    unpaired_a: int
    unpaired_b: int

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as `compare --json` has it."""
        return {
            **{key: getattr(self, key) for key in ("a", "b", "pairs", "unpaired_a", "unpaired_b")},
            "comparisons": [entry.to_dict() for entry in self.comparisons],
        }


def compare(
    a: Runs,
    b: Runs,
    *,
    metrics: Iterable[str] = METRICS,
    warmup: str | Warmup | None = None,
    solo: bool = False,
    names: tuple[str, str] = ("A", "B"),
) -> PairedComparison:
    """Compare two sets of runs, paired by their conditions, seed and group.

    Parameters
    ----------
    a, b
        A run, several, a sweep, or a directory that holds any of these.
    metrics
        Names of `METRICS`.
    warmup
        What to leave out of every run's beginning: ``20s`` or ``auto``.
    solo
        Side a are runs in which one group was alone: each group of b is compared with itself alone,
        and `Comparison.harm` says what competing costs it.
    names
        Of the sides, for messages.

    Returns
    -------
    PairedComparison
        Where a cell has one pair, its differences have no interval and no p.

    Raises
    ------
    ResultError
        They have no runs in common, were cut at different warm-ups, or no metric has that name.
    """
    chosen = [named(name) for name in metrics]
    first, second = (measured(runs, name, warmup) for runs, name in zip((a, b), names, strict=True))
    check_warmups(first, second)
    pairs = (pairs_with_solo if solo else pairs_alike)(first, second)
    comparisons = adjusted(list(all_comparisons(pairs, chosen, solo=solo)))
    runs = len({(pair.cell, pair.seed) for pair in pairs})
    return PairedComparison(
        first.name, second.name, tuple(comparisons), runs,
        max(len(first.runs) - runs, 0), len(second.runs) - runs,
    )  # fmt: skip


def named(name: str) -> Metric:
    """Return a metric by its name."""
    if name not in METRICS:
        raise ResultError(f"no metric is called `{name}`{nearest(name, METRICS)}")
    return METRICS[name]


def check_warmups(a: MeasuredRuns, b: MeasuredRuns) -> None:
    """Refuse sides that were measured over different parts of their runs."""
    if a.warmup != b.warmup:
        said = (f"{side.name} {side.warmup or 'nothing'}" for side in (a, b))
        raise ResultError(
            f"different warm-ups were left out: {', '.join(said)}; say one for both, like "
            f"`--warmup {a.warmup or b.warmup}`"
        )


def all_comparisons(
    pairs: Sequence[Pair], metrics: Sequence[Metric], *, solo: bool
) -> Iterable[Comparison]:
    """Compare each metric in each cell."""
    by_cell: dict[Any, dict[int, list[Pair]]] = {}
    for pair in pairs:
        by_cell.setdefault(pair.cell, {}).setdefault(pair.group, []).append(pair)
    labels = cell_labels(list(by_cell))
    for cell, groups in by_cell.items():
        for metric in metrics:
            if solo and metric.per == "run":
                continue  # it is the bottleneck's, with whoever is there
            for group in reported_groups(metric, sorted(groups), solo=solo):
                yield comparison(labels[cell], groups[group], metric, solo=solo)


def reported_groups(metric: Metric, groups: Sequence[int], *, solo: bool) -> Sequence[int]:
    """Return the groups of which a metric says what it does not say of another already.

    Of two groups one has what the other has not: a second test of the share would be the first
    one mirrored, and count twice when p is adjusted for all. Beside runs of a group alone, which
    has all, each share is its own.
    """
    mirrored = metric.name == "share" and len(groups) == 2 and not solo
    return groups[:1] if metric.per == "run" or mirrored else groups


def comparison(cell: str, pairs: Sequence[Pair], metric: Metric, *, solo: bool) -> Comparison:
    """Compare one metric of one group, or of the run."""
    both = [
        (pair.seed, pair.a[metric.name], pair.b[metric.name])
        for pair in pairs
        if pair.a[metric.name] is not None and pair.b[metric.name] is not None
    ]
    a, b = (tuple(float(each[side]) for each in both) for side in (1, 2))
    harm = None
    if solo and metric.better is not None:
        better = metric.better
        harm = mean_interval([harm_of(x, y, better) for x, y in zip(a, b, strict=True)])
    of_group = metric.per == "group"
    return Comparison(
        cell=cell,
        group=pairs[0].group if of_group else None,
        cc_a=pairs[0].a["cc"] if of_group else "",
        cc_b=pairs[0].b["cc"] if of_group else "",
        metric=metric,
        seeds=tuple(seed for seed, _, _ in both),
        a=a,
        b=b,
        difference=paired_difference(a, b),
        harm=harm,
    )


def adjusted(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Give each comparison its p adjusted for all of them."""
    p_values = [entry.difference.p for entry in comparisons if entry.difference.p is not None]
    remaining = iter(holm(p_values))
    return [
        entry if entry.difference.p is None else replace(entry, p_adjusted=next(remaining))
        for entry in comparisons
    ]
