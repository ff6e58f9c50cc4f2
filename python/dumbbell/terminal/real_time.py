"""How long runs on the kernel will take: their own time, said before it passes."""

from __future__ import annotations

from collections.abc import Sequence

from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.run.engine import KERNEL, SIMULATOR, default_workers

__all__ = ["doing", "real_time_note"]

#: Seconds that a run takes to set up and to end.
OVERHEAD_S = 2


def doing(engine: str) -> str:
    """Return what a run on an engine is doing, for a progress bar."""
    if engine == SIMULATOR:
        return "simulating"
    return "running on the kernel" if engine == KERNEL else "running in virtual time"


def real_time_note(times_s: Sequence[float], jobs: int | None) -> str:
    """Return how long runs on the kernel will take.

    Parameters
    ----------
    times_s
        Each run's time.
    jobs
        Runs at a time; None for the default.
    """
    at_a_time = jobs or default_workers(KERNEL)
    minutes = (sum(times_s) + OVERHEAD_S * len(times_s)) / at_a_time / 60
    takes = f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.0f} h"
    return (
        f"on the kernel: {pluralize(len(times_s), 'run')} in real time, {at_a_time} at a time, "
        f"take about {takes if minutes >= 1 else 'a minute'}"
    )
