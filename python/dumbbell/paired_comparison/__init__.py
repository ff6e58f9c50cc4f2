"""Two sets of runs, compared pair by pair: the same conditions, the same seed, the same group."""

from dumbbell.paired_comparison.comparison import Comparison, PairedComparison, compare
from dumbbell.paired_comparison.measured import MeasuredRun, MeasuredRuns, measured

__all__ = [
    "Comparison",
    "MeasuredRun",
    "MeasuredRuns",
    "PairedComparison",
    "compare",
    "measured",
]
