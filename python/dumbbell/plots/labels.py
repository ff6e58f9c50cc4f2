"""What groups are called in a figure, and how they look: a name as papers write it, a colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.figures.style import OWN, Style, distinct_colors, style_of
from dumbbell.scenario.group_labels import group_labels as labels_of

if TYPE_CHECKING:
    from dumbbell.scenario import Scenario
    from dumbbell.sweeps.design import Design

__all__ = ["design_labels", "group_colors", "group_labels", "group_styles"]


def group_labels(scenario: Scenario) -> tuple[str, ...]:
    """Return the labels of a scenario's groups: ``("Thesis", "CUBIC ×4")``."""
    return labels_of(scenario, spell=spelled)


def design_labels(design: Design) -> tuple[str, ...]:
    """Return the labels of a sweep's groups, right in every cell: ``("CUBIC", "BBR / Copa")``."""
    return labels_of(design.scenario, design.varied, spelled)


def spelled(cc: str) -> str:
    """Return a congestion control algorithm as papers write it."""
    return style_of(cc).label


def group_styles(scenario: Scenario) -> list[Style]:
    """Return how each group looks: as its algorithm, or as what is the user's own."""
    return [style_of(group.cc.name) if group.client is None else OWN for group in scenario.groups]


def group_colors(scenario: Scenario) -> list[str]:
    """Return a colour per group, no two alike as long as there are any."""
    return distinct_colors(group_styles(scenario))
