"""Whether foreign code is confined, and what it means if it is not."""

from __future__ import annotations

import os

__all__ = ["UNSAFE", "is_confined", "run_unconfined"]

#: Set to 1, foreign code runs without the sandbox; child processes inherit it.
UNSAFE = "DUMBBELL_UNSAFE_NO_SANDBOX"


def is_confined() -> bool:
    """Whether foreign code is to be confined."""
    return os.environ.get(UNSAFE) != "1"


def run_unconfined() -> None:
    """Run foreign code without the sandbox from here on, in this process and its children."""
    os.environ[UNSAFE] = "1"
