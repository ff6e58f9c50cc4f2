"""What groups are called in one cell: by its algorithm where an axis changes that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from dumbbell.scenario import Scenario
from dumbbell.sweeps.design import Cell, Design, label_of, swept_ccs

__all__ = ["algorithm_names", "labels_in"]


def labels_in(
    labels: Sequence[str], given: Mapping[int, str], scenario: Scenario
) -> tuple[str, ...]:
    """Return what groups are called where axes give some an algorithm; no two are alike.

    Parameters
    ----------
    labels
        Of the groups, right in every cell.
    given
        The names of the algorithms that axes give, by index of the group.
    scenario
        What no axis changes.
    """
    found = [given.get(index, label) for index, label in enumerate(labels)]
    counts = Counter(found)
    return tuple(
        name if index not in given or counts[name] == 1
        else f"{name} ({scenario.groups[index].name or f'group {index}'})"
        for index, name in enumerate(found)
    )  # fmt: skip


def algorithm_names(design: Design) -> Callable[[Cell], tuple[str, ...]]:
    """Return what says how tables call the groups in a cell: ``("Thesis", "bbr")``."""
    labels = design.group_labels
    swept = {index: (axis.name, axis.shown) for index, axis in swept_ccs(design).items()}

    def of(cell: Cell) -> tuple[str, ...]:
        given = {
            index: shown[label_of(cell.values[name])] for index, (name, shown) in swept.items()
        }
        return labels_in(labels, given, design.scenario)

    return of
