"""Axes that change together, as one axis of names: each of its places is a tuple of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dumbbell.sweeps import Axis, Cell, SweepResult
from dumbbell.sweeps.design import label_of

__all__ = ["COMMA", "folded", "needs_tuples", "tuples_of"]

#: Between the names of axes, and between their values.
COMMA = ", "


def needs_tuples(axes: Sequence[Axis]) -> bool:
    """Whether none of axes that change together says by itself which tuple a value is of."""
    return len(axes) > 1 and all(len(set(axis.labels)) < len(axis.labels) for axis in axes)


def tuples_of(axes: Sequence[Axis]) -> list[tuple[str, ...]]:
    """Return the values that axes have together, in the order given."""
    return list(dict.fromkeys(zip(*(axis.labels for axis in axes), strict=True)))


def folded(result: SweepResult) -> tuple[list[Axis], list[Cell]]:
    """Return a sweep's axes of more than one value, and its cells with their values.

    Axes of which none says by itself which tuple a value is of are one: three paths of 12 Mbit/s,
    with different RTTs, have three places.
    """
    varied = [axis for axis in result.axes if len(set(axis.labels)) > 1]
    axes, cells = list(varied), list(result.cells)
    for names in result.design.dims:
        together = [axis for axis in varied if axis.name in names]
        if not needs_tuples(together):
            continue
        at = axes.index(together[0])
        name = COMMA.join(axis.name for axis in together)
        values = tuple(COMMA.join(each) for each in tuples_of(together))
        axes = [axis for axis in axes if axis not in together]
        axes.insert(at, Axis(name, None, values))
        own = [COMMA.join(label_of(cell.values[axis.name]) for axis in together) for cell in cells]
        cells = [
            replace(cell, values={**cell.values, name: value})
            for cell, value in zip(cells, own, strict=True)
        ]
    return axes, cells
