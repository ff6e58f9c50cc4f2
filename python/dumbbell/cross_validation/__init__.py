"""Cross-validation: the same scenarios in the simulator and on the kernel, compared."""

from dumbbell.cross_validation.comparison import Comparison, Summary, compare, summarize
from dumbbell.cross_validation.measures import MEASURES, Measure, Values, measure
from dumbbell.cross_validation.xval import Case, CrossValidation, cross_validate, xval

__all__ = [
    "MEASURES",
    "Case",
    "Comparison",
    "CrossValidation",
    "Measure",
    "Summary",
    "Values",
    "compare",
    "cross_validate",
    "measure",
    "summarize",
    "xval",
]
