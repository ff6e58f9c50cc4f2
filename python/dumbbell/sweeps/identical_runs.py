"""Repetitions that are all the same, because the seed changed nothing."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain

from dumbbell.runs.measuring import Measures
from dumbbell.sweeps.design import Design

__all__ = ["IdenticalRuns"]


class IdenticalRuns:
    """Whether the repetitions of each cell differ in anything that was measured."""

    def __init__(self) -> None:
        self.found: dict[int, set[int]] = defaultdict(set)
        self.count: dict[int, int] = defaultdict(int)

    def add(self, key: tuple[int, int], measures: Measures) -> None:
        """Take what was measured of a run."""
        cell, _ = key
        values = chain.from_iterable(group.values() for group in measures)
        self.found[cell].add(hash(tuple(values)))
        self.count[cell] += 1

    def notes(self, design: Design) -> list[str]:
        """Return a note on the cells in which all repetitions are the same."""
        cells = [cell for cell, count in self.count.items() if count > 1 == len(self.found[cell])]
        if not cells:
            return []
        named = f"`{design.cells[min(cells)].label}`"
        where = named if len(cells) == 1 else f"{named} and {len(cells) - 1} more"
        return [
            f"{where}: all repetitions have the same result, so their interval is meaningless; the "
            "seed determines the flows' starts: use a `jitter` above zero"
        ]
