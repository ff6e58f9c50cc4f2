"""How many runs there may be in all."""

from __future__ import annotations

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.base.quantities.quantity import U64_MAX

__all__ = ["MAX_RUNS", "check_run_count"]

#: They are listed in memory, and each takes milliseconds at least.
MAX_RUNS = 1_000_000


def check_run_count(cells: int, reps: int, *, what: str = "reps", seed: int = 0) -> None:
    """Refuse more runs than can be listed.

    Parameters
    ----------
    cells
        Different scenarios.
    reps
        Repetitions of each.
    what
        What the user calls the repetitions.
    seed
        Of the first repetition; each has the next.

    Raises
    ------
    ScenarioError
        There are too many; the message states the bound.
    """
    if reps > MAX_RUNS // max(cells, 1):
        raise ScenarioError(
            f"{what} is {excerpt(reps)}, which is too many for {pluralize(cells, 'scenario')}; "
            f"use at most {MAX_RUNS // max(cells, 1):,}, which makes {MAX_RUNS:,} runs",
            key=what,
        )
    if seed + reps - 1 > U64_MAX:
        raise ScenarioError(
            f"seed is {seed}, and the last of {reps:,} repetitions would have one above {U64_MAX}; "
            "use a smaller seed",
            key="seed",
        )
