"""Two sets of runs, compared metric by metric and cell by cell; the tests are in `statistics`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dumbbell.base.errors import ResultError
from dumbbell.compare.comparison import Comparison, adjusted, match_seeds, reported_groups
from dumbbell.compare.measured import MeasuredRuns, Runs, measured
from dumbbell.compare.pairs import Pair, cell_labels, pairs_alike, pairs_with_solo
from dumbbell.compare.set_apart import Apart
from dumbbell.metrics import METRICS, Metric, Warmup, harm_of, judged_by, metric_named, value_in
from dumbbell.statistics import mean_interval

__all__ = ["PairedComparison", "compare"]


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
        How many runs have a counterpart on the other side.
    unpaired_a, unpaired_b
        How many runs of either side have no counterpart, or are INVALID.
    differing
        What sets all runs of A apart from those of B, besides algorithms and seeds: by field, the
        value in A and in B.
    """

    a: str
    b: str
    comparisons: tuple[Comparison, ...]
    pairs: int
    unpaired_a: int
    unpaired_b: int
    differing: Apart = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as `compare --json` has it."""
        return {
            **{key: getattr(self, key) for key in ("a", "b", "pairs", "unpaired_a", "unpaired_b")},
            "differing": {key: list(values) for key, values in self.differing.items()},
            "comparisons": [entry.to_dict() for entry in self.comparisons],
        }


def compare(
    a: Runs,
    b: Runs,
    *,
    metrics: Iterable[str] = METRICS,
    warmup: str | Warmup | None = None,
    solo: bool = False,
    with_judged: bool = False,
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
        What to leave out of the start of every run: ``20s`` or ``auto``.
    solo
        Side a are runs in which one group was alone: each group of b is compared with itself alone,
        and `Comparison.harm` says what competing costs it.
    with_judged
        Whether what groups are judged by is compared as well.
    names
        Of the sides, for messages.

    Returns
    -------
    PairedComparison
        Where a cell has one pair, its differences have no interval and no p.

    Raises
    ------
    ResultError
        They have no runs in common or different warm-ups, or no metric has that name.
    """
    chosen = [metric_named(name) for name in metrics]
    first, second = (measured(runs, name, warmup) for runs, name in zip((a, b), names, strict=True))
    check_warmups(first, second)
    if with_judged:
        chosen = list(dict.fromkeys([*judged_in(first, second), *chosen]))
    pairs, apart = (pairs_with_solo(first, second), {}) if solo else pairs_alike(first, second)
    comparisons = adjusted(all_comparisons(pairs, chosen, solo=solo))
    runs = len({(pair.cell, pair.seed) for pair in pairs})
    return PairedComparison(
        first.name, second.name, tuple(comparisons), runs,
        max(len(first.runs) - runs, 0), len(second.runs) - runs, apart,
    )  # fmt: skip


def judged_in(*sides: MeasuredRuns) -> list[Metric]:
    """Return what groups of some runs are judged by."""
    runs = (run for side in sides for run in side.runs)
    return list(
        dict.fromkeys(metric for run in runs for metric in judged_by(run.scenario).values())
    )


def check_warmups(a: MeasuredRuns, b: MeasuredRuns) -> None:
    """Refuse sides that were measured over different parts of their runs."""
    if a.warmup != b.warmup:
        said = (f"{side.name} {side.warmup or 'nothing'}" for side in (a, b))
        raise ResultError(
            f"the sides have different warm-ups: {', '.join(said)}; use one for both, e.g. "
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
            if solo and not metric.of_groups:
                continue  # of the bottleneck, which all groups share
            for group in reported_groups(metric, sorted(groups), solo=solo):
                yield comparison(labels[cell], groups[group], metric, solo=solo)


def comparison(cell: str, pairs: Sequence[Pair], metric: Metric, *, solo: bool) -> Comparison:
    """Compare one metric of one group, or of the run."""
    sides = match_seeds(
        {pair.seed: value_in(pair.a, metric) for pair in pairs},
        {pair.seed: value_in(pair.b, metric) for pair in pairs},
    )
    harm = None
    if solo and metric.better is not None:
        better = metric.better
        harm = mean_interval([harm_of(x, y, better) for x, y in zip(sides.a, sides.b, strict=True)])
    of_group = metric.of_groups
    return Comparison(
        cell=cell,
        group=pairs[0].group if of_group else None,
        cc_a=pairs[0].a["cc"] if of_group else "",
        cc_b=pairs[0].b["cc"] if of_group else "",
        name_a=pairs[0].names[0] if of_group else "",
        name_b=pairs[0].names[1] if of_group else "",
        metric=metric,
        sides=sides,
        harm=harm,
    )
