"""The names of `dumbbell.statistics`, each with its module."""

from .difference import Difference, paired_difference, unpaired_difference
from .effect_size import cliffs_delta, effect_size, hedges_g
from .factorial import design
from .format import mean_and_interval
from .interval import LEVEL, Interval, known
from .jackknife import jackknife_interval
from .jain import jain
from .mean import mean, share
from .mean_interval import mean_interval, student_interval
from .multiple_comparisons import holm
from .proportion import mcnemar, newcombe, paired_newcombe, wilson
from .rank_correlation import spearman

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
