"""Tests that run in a guest, which needs a kernel that was built."""

import pytest

from dumbbell.base.errors import DumbbellError
from dumbbell.kernels import find

__all__ = ["built", "is_built"]


def is_built() -> bool:
    """Whether there is a kernel that can run."""
    try:
        return bool(find(None))
    except DumbbellError:
        return False


built = pytest.mark.skipif(
    not is_built(), reason="no kernel is built; `dumbbell kernel build 6.12` builds one"
)
