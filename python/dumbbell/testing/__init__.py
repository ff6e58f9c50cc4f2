"""Tests of a congestion control in its own repository, with pytest: docs/testing.md.

Fixtures and options are those of the plugin `dumbbell.testing.plugin`, which pytest finds itself.
"""

from dumbbell.testing.assertions import (
    assert_criteria,
    assert_fair,
    assert_no_regression,
    assert_suite,
)
from dumbbell.testing.grid import grid

__all__ = ["assert_criteria", "assert_fair", "assert_no_regression", "assert_suite", "grid"]
