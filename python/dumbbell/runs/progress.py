"""How far a sweep is, and what is left of one that was interrupted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Progress", "SweepInterrupted"]

K = TypeVar("K")
R = TypeVar("R")


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes
    ----------
    finished, total
        Runs; the total grows while cells are repeated until their interval is tight.
    simulated_s, total_s
        Seconds of the scenarios' time, of all runs; the remaining time is estimated from them.
    cached
        How many of the finished runs were found, in the cache or where they are saved.
    waits_for
        What all runs wait for, such as a cluster's workers; empty if they go on.
    """

    finished: int
    total: int
    simulated_s: float
    total_s: float
    cached: int = 0
    waits_for: str = ""


class SweepInterrupted(KeyboardInterrupt, Generic[K, R]):
    """Ctrl-C stopped the sweep.

    Attributes
    ----------
    finished
        The results of the runs that had finished, by their keys.
    total
        How many runs there are in all.
    """

    def __init__(self, finished: Mapping[K, R], total: int) -> None:
        super().__init__(f"{len(finished)} of {total} run{'' if total == 1 else 's'} finished")
        self.finished = finished
        self.total = total
