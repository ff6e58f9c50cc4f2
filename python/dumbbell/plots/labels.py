"""What groups are called in a figure, and how they look: a name as papers write it, a colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dumbbell.base.errors import ResultError
from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.figures.style import OWN, Style, distinct_colors, style_of
from dumbbell.scenario.group_labels import group_labels as labels_of

if TYPE_CHECKING:
    from dumbbell.scenario import Scenario
    from dumbbell.scenario.group_labels import Varied
    from dumbbell.sweeps.design import Design

__all__ = ["check_labels", "design_labels", "group_colors", "group_labels", "group_styles"]


def check_labels(
    labels: Sequence[str], count: int, what: str, *, all_of_them: bool = False
) -> None:
    """Refuse more labels than there are things to name, or fewer: ``4 labels for 3 groups``."""
    if len(labels) > count or (all_of_them and len(labels) < count):
        times = f"{'' if all_of_them else 'at most '}{'once' if count == 1 else f'{count} times'}"
        said = f"{pluralize(len(labels), 'label')} for {pluralize(count, what)}"
        raise ResultError(f"{said}: use `--label` {times}")


def group_labels(scenario: Scenario, varied: Varied | None = None) -> tuple[str, ...]:
    """Return the labels of a scenario's groups, ``CUBIC ×4``, without what axes change."""
    return labels_of(scenario, varied, spelled)


def design_labels(design: Design) -> tuple[str, ...]:
    """Return the labels of a sweep's groups, right in every cell: ``("CUBIC", "BBR / Copa")``."""
    return group_labels(design.scenario, design.varied)


def spelled(cc: str) -> str:
    """Return a congestion control algorithm as papers write it."""
    return style_of(cc).label


def group_styles(scenario: Scenario) -> list[Style]:
    """Return how each group looks: as its algorithm, or as what is the user's own."""
    return [style_of(group.cc.name) if group.client is None else OWN for group in scenario.groups]


def group_colors(scenario: Scenario) -> list[str]:
    """Return a colour per group, no two alike as long as there are any."""
    return distinct_colors(group_styles(scenario))
