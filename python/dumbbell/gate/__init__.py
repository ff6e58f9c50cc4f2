"""The regression gate: suites of cases, baselines, and what became worse.

docs/gate.md says how it decides, and why.

`gate.py` (`evaluate`) comes first, then `suite.py`, `case.py` and `comparison.py`. The suites are
in `suites/`.
"""

from dumbbell.gate.baseline import is_baseline, load_baseline, save_baseline
from dumbbell.gate.case import ANY_SUBJECT, Case, Subject, is_under_test
from dumbbell.gate.case_file import find_case_file, read_case_file, shipped_in
from dumbbell.gate.comparison import Change, MetricChange
from dumbbell.gate.criterion import Criterion
from dumbbell.gate.criterion_outcome import CriterionOutcome, Met
from dumbbell.gate.gate import LEVEL, Gate, NotEvaluated, evaluate, fresh_seed
from dumbbell.gate.metric_value import read_value, write_value
from dumbbell.gate.subject import Measure
from dumbbell.gate.suite import Suite
from dumbbell.gate.suite_file import (
    CASE_NAME,
    OF_ONLY_LINK,
    SCENARIO_WORDS,
    build_suite,
    check_words,
    find_suite,
    groups_of,
    links_of,
    read_suite,
    shipped_suites,
    table_of,
    text_of,
    warmup_of,
)
from dumbbell.gate.suite_result import CellResult, SuiteResult, longest_first, observe, run_suite
from dumbbell.gate.tolerance import Tolerance

__all__ = [
    "ANY_SUBJECT",
    "CASE_NAME",
    "LEVEL",
    "OF_ONLY_LINK",
    "SCENARIO_WORDS",
    "Case",
    "CellResult",
    "Change",
    "Criterion",
    "CriterionOutcome",
    "Gate",
    "Measure",
    "Met",
    "MetricChange",
    "NotEvaluated",
    "Subject",
    "Suite",
    "SuiteResult",
    "Tolerance",
    "build_suite",
    "check_words",
    "evaluate",
    "find_case_file",
    "find_suite",
    "fresh_seed",
    "groups_of",
    "is_baseline",
    "is_under_test",
    "links_of",
    "load_baseline",
    "longest_first",
    "observe",
    "read_case_file",
    "read_suite",
    "read_value",
    "run_suite",
    "save_baseline",
    "shipped_in",
    "shipped_suites",
    "table_of",
    "text_of",
    "warmup_of",
    "write_value",
]
