"""A metric over two axes as colours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from dumbbell.base.errors import ResultError
from dumbbell.figures.figure import Figure, Grid
from dumbbell.plots.arrange import given_labels, other_axes
from dumbbell.plots.kinds.request import Request
from dumbbell.plots.sweep_layout import axis_label, chosen_axis, panel_title, tick_label
from dumbbell.plots.tidy import Source, names_of_groups
from dumbbell.scenario.group_labels import ALTERNATIVES
from dumbbell.sweeps import Axis
from dumbbell.sweeps.design import label_of

__all__ = ["draw_heat"]


def draw_heat(request: Request, name: str) -> list[Figure]:
    """Draw the means of a metric over two axes: a figure per group and value of further axes."""
    quantity = request.quantity(name)
    figures: list[Figure] = []
    for number, source in enumerate(request.sources):
        across, up = two_axes(source, request)
        found: dict[tuple[str, int], dict[tuple[int, int], list[float]]] = {}
        shown_in: dict[tuple[str, int], set[int]] = {}
        columns, rows = ([label_of(v) for v in axis.values] for axis in (across, up))
        further = other_axes(source, across) & other_axes(source, up)
        for each in request.values(name):
            if each.source != number:
                continue
            cell = source.cells[each.cell].values
            others = [axis for axis in source.axes if axis.name in further]
            rest = panel_title(others, source.cells[each.cell], source.swept, source.group_count)
            at = rows.index(label_of(cell[up.name])), columns.index(label_of(cell[across.name]))
            found.setdefault((rest, each.group), {}).setdefault(at, []).append(each.mean)
            shown_in.setdefault((rest, each.group), set()).add(each.cell)
        several = len({group for _, group in found}) > 1
        for (rest, group), cells in found.items():
            values = np.full((len(rows), len(columns)), np.nan)
            for at, means in cells.items():
                values[at] = np.mean(means)
            name_of_source = source.name if len(request.sources) > 1 else ""
            whose = group_name(request, source, group, shown_in[rest, group]) if several else ""
            of_group = f" of {whose}" if several else ""
            shown = replace(quantity, title=quantity.title + of_group)
            figures.append(
                Figure(
                    name=f"{name}-heat" + (f"-{len(figures)}" if figures else ""),
                    title=", ".join(filter(None, (name_of_source, whose, rest))),
                    x_label=axis_label(across, names_of_groups(source)),
                    y_label=axis_label(up, names_of_groups(source)),
                    curves=(),
                    grid=Grid(values, shown.label),
                    x_names=tuple(tick_label(across, label) for label in columns),
                    y_names=tuple(tick_label(up, label) for label in rows),
                )
            )
    known = [figure.grid.values for figure in figures if figure.grid is not None]
    every = np.concatenate([values[np.isfinite(values)] for values in known])
    if not every.size or every.min() == every.max():
        return figures
    scale = float(every.min()), float(every.max())  # one for all: they may stand side by side
    return [replace(figure, y_range=scale) for figure in figures]


def group_name(request: Request, source: Source, group: int, cells: Iterable[int]) -> str:
    """Return a group's name in some cells: the reader's, or its own; of several CCAs all."""
    given = given_labels(source, request.labels) if len(request.sources) == 1 else {}
    found = {
        cc: given.get((group, cc)) or source.group_label(group, cell)
        for cell in sorted(cells)
        for cc in [source.algorithm(group, cell)]
    }
    return ALTERNATIVES.join(found.values())


def two_axes(source: Source, request: Request) -> tuple[Axis, Axis]:
    """Return the axes along x and y: those asked for, or the two longest.

    Raises
    ------
    ResultError
        The result has fewer than two that are crossed.
    """
    if len(source.axes) < 2:
        have = f"only `{source.axes[0].name}`" if source.axes else "none"
        raise ResultError(
            f"{source.name}: a heat map needs a sweep of two axes, like `--buffer 1..8bdp --rtt "
            f"10..80ms`; it has {have}"
        )
    across = chosen_axis(source.axes, request.x)
    if request.y == across.name:
        another = next(axis.name for axis in source.axes if axis.name != across.name)
        raise ResultError(f"--x and --y are both `{across.name}`; use `--y {another}`")
    crossed = other_axes(source, across)
    others = [axis for axis in source.axes if axis.name in crossed]
    together = [axis.name for axis in source.axes if axis.name not in {*crossed, across.name}]
    if not others or request.y in together:
        with_it = request.y if request.y in together else together[0]
        instead = f"use `--y {others[0].name}`" if others else "cross them by two `--axis`"
        raise ResultError(
            f"{source.name}: a heat map needs two axes that are crossed, but `{across.name}` and "
            f"`{with_it}` change together; {instead}"
        )
    return across, chosen_axis(others, request.y)
