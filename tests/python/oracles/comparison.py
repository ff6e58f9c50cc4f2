"""Our figures compared with those of an oracle (another program)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dumbbell
from tests.python.oracles.flow_figures import Direction, FiguresByDirection

__all__ = ["Row", "Rule", "compare", "our_rows"]

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """A figure that both have.

    Attributes
    ----------
    name
        The oracle's figure.
    ours
        The same, from a row of ours: as the oracle counts it.
    exact_to
        By how much they may differ: what the oracle rounds to.
    most
        With it the oracle's figure lies between `ours` and this.
    applies
        Whether a direction is compared: not where the oracle is known to go wrong.
    known
        Where the oracle counts otherwise than we do: the difference's name in docs/analysis.md.
    """

    name: str
    ours: Callable[[Row], float | None]
    exact_to: float = 0.0
    most: Callable[[Row], float] | None = None
    applies: Callable[[Row], bool] = lambda _: True
    known: str = ""

    def agrees(self, row: Row, checked: float | None) -> bool:
        """Whether the oracle's figure is ours; where that is none, ours is none or 0."""
        mine, theirs = self.ours(row) or 0.0, checked
        if theirs is None:
            return mine == 0
        most = mine if self.most is None else self.most(row)
        return mine - self.exact_to <= theirs <= most + self.exact_to


def our_rows(capture: Path) -> dict[Direction, Row]:
    """Analyse a capture of one point in which each 5-tuple is one connection."""
    return {
        Direction(
            row["source"], row["source_port"], row["destination"], row["destination_port"]
        ): row
        for row in dumbbell.analyze(capture).connections.to_pylist()
    }


def compare(
    ours: Mapping[Direction, Row], theirs: FiguresByDirection, rules: Sequence[Rule]
) -> list[str]:
    """List where an oracle differs."""
    assert set(ours) == set(theirs), "not the same connections"
    return [
        f"{direction.source}:{direction.source_port} {rule.name}: ours {rule.ours(row)}, "
        f"theirs {theirs[direction][rule.name]}"
        for direction, row in ours.items()
        for rule in rules
        if rule.applies(row) and not rule.agrees(row, theirs[direction][rule.name])
    ]
