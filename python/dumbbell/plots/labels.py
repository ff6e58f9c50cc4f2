"""Names of a scenario's groups in a figure."""

from __future__ import annotations

from dumbbell.figures.style import cc_label
from dumbbell.scenario import Scenario

__all__ = ["group_labels"]


def group_labels(scenario: Scenario) -> list[str]:
    """Return the groups' names in a figure: the styles' names where these are distinct."""
    return [
        cc_label(label) if label == str(group.cc) else label
        for group, label in zip(scenario.groups, scenario.group_labels, strict=True)
    ]
