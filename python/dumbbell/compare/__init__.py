"""Two sets of runs, compared pair by pair: the same conditions, the same seed, the same group."""

from dumbbell.compare.measured import MeasuredRun, MeasuredRuns, measured
from dumbbell.compare.paired import Comparison, PairedComparison, compare

__all__ = [
    "Comparison",
    "MeasuredRun",
    "MeasuredRuns",
    "PairedComparison",
    "compare",
    "measured",
]
