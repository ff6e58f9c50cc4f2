"""Runs compared with runs: two sets, two sweeps, or the two engines.

One `Comparison` is one metric on two sides. `compare` pairs two sets of runs by their conditions,
seed and group; `xval` runs scenarios in both engines.
"""

from dumbbell.compare.comparison import Comparison, Sides, match_seeds
from dumbbell.compare.measured import MeasuredRun, MeasuredRuns, measured
from dumbbell.compare.paired import PairedComparison, compare
from dumbbell.compare.reference import ReferencePair, compared, mean_values
from dumbbell.compare.worst import REALISTIC, WORST, Worst, worst_named

__all__ = [
    "REALISTIC",
    "WORST",
    "Comparison",
    "MeasuredRun",
    "MeasuredRuns",
    "PairedComparison",
    "ReferencePair",
    "Sides",
    "Worst",
    "compare",
    "compared",
    "match_seeds",
    "mean_values",
    "measured",
    "worst_named",
]
