"""Tests of a congestion control algorithm in its own repository, with pytest: docs/testing.md.

Fixtures and options are those of the plugin `dumbbell.testing.plugin`, which pytest finds itself.
"""

from dumbbell.testing.assertions import (
    assert_criteria,
    assert_fair,
    assert_no_regression,
    assert_suite,
)
from dumbbell.testing.grid import grid
from dumbbell.testing.keeps_up import assert_keeps_up
from dumbbell.testing.strategy import scenarios

__all__ = [
    "assert_criteria", "assert_fair", "assert_keeps_up", "assert_no_regression", "assert_suite",
    "grid", "scenarios",
]  # fmt: skip
