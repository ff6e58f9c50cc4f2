"""Runs compared with runs: two sets, two sweeps, or the two engines.

One `Comparison` is one metric on two sides. `compare` pairs two sets of runs by their conditions,
seed and group; `xval` runs scenarios in both engines.
"""

from dumbbell.compare.comparison import Comparison, Sides, match_seeds
from dumbbell.compare.measured import MeasuredRun, MeasuredRuns, measured
from dumbbell.compare.paired import PairedComparison, compare

__all__ = [
    "Comparison",
    "MeasuredRun",
    "MeasuredRuns",
    "PairedComparison",
    "Sides",
    "compare",
    "match_seeds",
    "measured",
]
