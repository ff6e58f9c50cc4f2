"""When congestion control algorithms changed their mode, as marks in the figures of a run."""

from __future__ import annotations

import numpy as np

from dumbbell.figures.figure import Mark
from dumbbell.figures.floats import to_floats
from dumbbell.plots.labels import group_colors, group_labels
from dumbbell.plots.state_values import first_state, state_values
from dumbbell.run import Run

__all__ = ["MAX_MARKS", "MODES", "mode_marks", "modes_of"]

#: A group with more changes has no marks: they would hide the curves, and its state has a figure.
MAX_MARKS = 40
#: What congestion control algorithms call their mode.
MODES = ("mode", "state")


def mode_marks(run: Run) -> tuple[Mark, ...]:
    """Return a mark for each change of each group's mode, that of its first flow.

    The mode is the state of that name, with labels; `cubic`, for example, has none.
    """
    colors = group_colors(run.scenario)
    labels = group_labels(run.scenario)
    marks = []
    for group, (label, color) in enumerate(zip(labels, colors, strict=True)):
        changes = modes_of(run, group)[1:]
        if len(changes) <= MAX_MARKS:
            marks += [Mark(time_s, f"{label}: {mode}", color) for time_s, mode in changes]
    return tuple(sorted(marks, key=lambda mark: mark.x))


def modes_of(run: Run, group: int) -> list[tuple[float, str]]:
    """Return the times, s, from which a group's first flow had each of its modes, and these.

    The first is its mode at the first sample; nothing without a mode.
    """
    table = first_state(run, group)
    if table is None:
        return []
    for column in [name for name in MODES if name in table.column_names]:
        values, names = state_values(table[column])
        if names and values.size:
            at = np.append(0, 1 + np.flatnonzero(np.diff(values)))
            times_s = to_floats(table["time_us"])[at] / 1e6
            modes = values[at].astype(np.intp)
            return [(float(t), names[mode]) for t, mode in zip(times_s, modes, strict=True)]
    return []
