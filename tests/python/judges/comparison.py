"""Our figures beside a judge's, and what is told apart from a difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dumbbell
from tests.python.judges.flow_figures import Direction, FiguresByDirection

__all__ = ["Row", "Rule", "compare", "our_rows"]

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """A figure that both have.

    Attributes
    ----------
    name
        The judge's figure.
    ours
        The same, from a row of ours and that of the other direction.
    exact_to
        By how much they may differ: what the judge rounds to.
    known
        Where the judge counts otherwise: the difference's name in docs/analysis.md. Empty where the
        two must agree.
    """

    name: str
    ours: Callable[[Row, Row], float | None]
    exact_to: float = 0.0
    known: str = ""


def our_rows(capture: Path) -> dict[Direction, Row]:
    """Analyse a capture of one point; the last connection of a 5-tuple."""
    return {
        Direction(
            row["source"], row["source_port"], row["destination"], row["destination_port"]
        ): row
        for row in dumbbell.analyze(capture).connections.to_pylist()
    }


def compare(
    ours: Mapping[Direction, Row], theirs: FiguresByDirection, rules: Sequence[Rule]
) -> list[str]:
    """List the differences, those known left out."""
    assert set(ours) == set(theirs), "not the same connections"
    differences = []
    for direction, row in ours.items():
        other = ours.get(direction.reversed(), {})
        for rule in rules:
            mine, judged = rule.ours(row, other), theirs[direction].get(rule.name)
            if not agree(mine, judged, rule.exact_to) and not rule.known:
                differences.append(
                    f"{direction.source}:{direction.source_port} {rule.name}: ours {mine}, "
                    f"theirs {judged}"
                )
    return differences


def agree(mine: float | None, judged: float | None, exact_to: float) -> bool:
    """Whether two figures are the same; a judge that has none says 0."""
    return abs((mine or 0.0) - (judged or 0.0)) <= exact_to
