"""Statistics of repetitions: means with intervals, differences, effect sizes.

docs/statistics.md says which method is used when, and why.
"""

from dumbbell.statistics.difference import Difference, paired_difference, unpaired_difference
from dumbbell.statistics.effect_size import cliffs_delta, effect_size, hedges_g
from dumbbell.statistics.factorial import design
from dumbbell.statistics.format import mean_and_interval
from dumbbell.statistics.interval import LEVEL, Interval, known
from dumbbell.statistics.jackknife import jackknife_interval
from dumbbell.statistics.jain import jain
from dumbbell.statistics.mean import mean, share
from dumbbell.statistics.mean_interval import mean_interval, student_interval
from dumbbell.statistics.multiple_comparisons import holm
from dumbbell.statistics.proportion import mcnemar, newcombe, paired_newcombe, wilson
from dumbbell.statistics.rank_correlation import spearman

__all__ = [
    "LEVEL",
    "Difference",
    "Interval",
    "cliffs_delta",
    "design",
    "effect_size",
    "hedges_g",
    "holm",
    "jackknife_interval",
    "jain",
    "known",
    "mcnemar",
    "mean",
    "mean_and_interval",
    "mean_interval",
    "newcombe",
    "paired_difference",
    "paired_newcombe",
    "share",
    "spearman",
    "student_interval",
    "unpaired_difference",
    "wilson",
]
