"""Tests that run in a guest, which needs a kernel that was built."""

import pytest

from dumbbell.base.errors import DumbbellError
from dumbbell.kernels import BuiltKernel, find, kernels
from dumbbell.kernels.sources import version_key

__all__ = ["built", "is_built", "kernel_with"]


def is_built() -> bool:
    """Whether there is a kernel that can run."""
    try:
        return bool(find(None))
    except DumbbellError:
        return False


def kernel_with(least: str = "0", before: str = "1000", option: str = "") -> BuiltKernel | None:
    """Return a kernel that can run, of such a release and with an option of its configuration."""
    for each in kernels():
        at = version_key(each.release)
        is_between = version_key(least) <= at < version_key(before)
        if (
            is_between
            and each.is_ready
            and f"CONFIG_{option}" in (each.directory / "config").read_text()
        ):
            return each
    return None


built = pytest.mark.skipif(
    not is_built(), reason="no kernel is built; `dumbbell kernel build 6.12` builds one"
)
