"""Programs that tests run over a path: which are installed, and what they print."""

from __future__ import annotations

import re
import shutil
from typing import Any

import pytest

from dumbbell import Group

__all__ = ["iperf3", "needs", "number"]


def needs(*commands: str) -> pytest.MarkDecorator:
    """Skip where programs are missing."""
    missing = [command for command in commands if shutil.which(command) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def number(pattern: str, text: str) -> float:
    """Return the number that a pattern finds."""
    found = re.search(pattern, text, re.MULTILINE)
    assert found is not None, text
    return float(found[1])


def iperf3(options: str, **fields: Any) -> Group:
    """Return a group whose client downloads or uploads for 3 s."""
    return Group(
        client=f"iperf3 --client server --time 3 {options}", server="iperf3 --server --one-off",
        ready="tcp:5201", jitter="0s", **fields,
    )  # fmt: skip
