"""The regression gate: suites of cases, baselines, and what became worse.

docs/gate.md says how it decides, and why.
"""

from dumbbell.gate.baseline import is_baseline, load_baseline, save_baseline
from dumbbell.gate.case import Case, Subject
from dumbbell.gate.comparison import Change, MetricChange
from dumbbell.gate.criterion import Criterion
from dumbbell.gate.criterion_outcome import CriterionOutcome, Met
from dumbbell.gate.gate import LEVEL, Gate, NotEvaluated, evaluate, fresh_seed
from dumbbell.gate.suite import Suite
from dumbbell.gate.suite_file import build_suite, find_suite, read_suite, shipped_suites
from dumbbell.gate.suite_result import CellResult, SuiteResult, run_suite
from dumbbell.gate.tolerance import Tolerance

__all__ = [
    "LEVEL",
    "Case",
    "CellResult",
    "Change",
    "Criterion",
    "CriterionOutcome",
    "Gate",
    "Met",
    "MetricChange",
    "NotEvaluated",
    "Subject",
    "Suite",
    "SuiteResult",
    "Tolerance",
    "build_suite",
    "evaluate",
    "find_suite",
    "fresh_seed",
    "is_baseline",
    "load_baseline",
    "read_suite",
    "run_suite",
    "save_baseline",
    "shipped_suites",
]
