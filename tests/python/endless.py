"""Runs that take hours on any machine: what interrupts them cannot come too late."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dumbbell import Group, Scenario

__all__ = ["ENDLESS_S", "FLOWS", "RATE", "SAMPLE", "endless", "running"]

#: At this rate the engine would have to be a thousand times faster to end within a test.
RATE, ENDLESS_S = "1gbit", "1000000s"
#: Together they have enough numbers for that many packets. A flow ends at 2^32.
FLOWS = 50
#: As many rows as a run may have would be more often.
SAMPLE = "1s"


def endless(cc: str = "cubic", seed: int = 1) -> Scenario:
    """Return a run that takes hours."""
    return Scenario([Group(cc, FLOWS)], rate=RATE, time=ENDLESS_S, sample=SAMPLE, seed=seed)


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Start a command line, and kill it if the test has not ended it."""
    with subprocess.Popen(
        [sys.executable, "-m", "dumbbell", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
