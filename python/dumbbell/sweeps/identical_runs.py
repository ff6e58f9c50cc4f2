"""Repetitions that are no repetitions: the seed changed nothing."""

from __future__ import annotations

from collections import defaultdict

from dumbbell.runs.measures import Measures
from dumbbell.sweeps.design import Design

__all__ = ["IdenticalRuns"]


class IdenticalRuns:
    """Whether the repetitions of each cell differ in anything that was measured."""

    def __init__(self) -> None:
        self.seen: dict[int, set[int]] = defaultdict(set)
        self.count: dict[int, int] = defaultdict(int)

    def add(self, key: tuple[int, int], measures: Measures) -> None:
        """Take what was measured of a run."""
        cell, _ = key
        self.seen[cell].add(hash(tuple(value for group in measures for value in group.values())))
        self.count[cell] += 1

    def notes(self, design: Design) -> list[str]:
        """Say in which cells all repetitions are the same."""
        cells = [cell for cell, count in self.count.items() if count > 1 == len(self.seen[cell])]
        if not cells:
            return []
        named = f"`{design.cells[min(cells)].label}`"
        where = named if len(cells) == 1 else f"{named} and {len(cells) - 1} more"
        return [
            f"{where}: all repetitions have the same result, and an interval of theirs says "
            "nothing; the seed draws the flows' starts: say a `jitter` above zero"
        ]
