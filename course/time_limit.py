"""Ends students' code that does not return, so that an endless loop does not hang `pytest`."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["LIMIT_S", "TimeLimitError", "time_limit"]

#: A model answer takes milliseconds; one that runs the simulator takes seconds.
LIMIT_S = 30.0
#: Raised again this often, in case that a bare ``except:`` in a loop catches it.
AGAIN_S = 0.5


class TimeLimitError(BaseException):
    """The time is over. ``except Exception`` in a student's loop does not catch it."""


@contextmanager
def time_limit(limit_s: float | None = None) -> Iterator[None]:
    """Raise `TimeLimitError` in the body if it takes longer than a limit, `LIMIT_S` by default."""

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise TimeLimitError

    previous = signal.signal(signal.SIGALRM, end)
    outer_s, _ = signal.setitimer(signal.ITIMER_REAL, limit_s or LIMIT_S, AGAIN_S)
    try:
        yield
    finally:
        # A timer that was running, such as the test runner's, goes on.
        signal.setitimer(signal.ITIMER_REAL, outer_s)
        signal.signal(signal.SIGALRM, previous)
