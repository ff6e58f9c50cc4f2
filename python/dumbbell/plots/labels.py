"""What groups are called in a figure: algorithms are written as papers write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.figures.style import style_of
from dumbbell.scenario.group_labels import group_labels as labels_of

if TYPE_CHECKING:
    from dumbbell.scenario import Scenario
    from dumbbell.sweeps.design import Design

__all__ = ["design_labels", "group_labels"]


def group_labels(scenario: Scenario) -> tuple[str, ...]:
    """Return the labels of a scenario's groups: ``("Thesis", "CUBIC ×4")``."""
    return labels_of(scenario, spell=spelled)


def design_labels(design: Design) -> tuple[str, ...]:
    """Return the labels of a sweep's groups, right in every cell: ``("CUBIC", "BBR / Copa")``."""
    return labels_of(design.scenario, design.varied, spelled)


def spelled(cc: str) -> str:
    """Return a congestion control algorithm as papers write it."""
    return style_of(cc).label
