"""What repetitions say: means with intervals, differences of pairs, sizes of effects.

docs/statistics.md says which method is used when, and why.
"""

from dumbbell.statistics.difference import Difference, paired_difference, unpaired_difference
from dumbbell.statistics.effect_size import cliffs_delta, effect_size, hedges_g
from dumbbell.statistics.interval import LEVEL, Interval, known
from dumbbell.statistics.mean_interval import mean_interval
from dumbbell.statistics.multiple_comparisons import holm
from dumbbell.statistics.rank_correlation import spearman
from dumbbell.statistics.written import mean_and_interval

__all__ = [
    "LEVEL",
    "Difference",
    "Interval",
    "cliffs_delta",
    "effect_size",
    "hedges_g",
    "holm",
    "known",
    "mean_and_interval",
    "mean_interval",
    "paired_difference",
    "spearman",
    "unpaired_difference",
]
