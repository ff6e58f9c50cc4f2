"""The queues of a run over time: their length, what waits of each group, and their statistics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.figures.figure import Curve, Figure
from dumbbell.figures.floats import to_floats
from dumbbell.figures.style import UNKNOWN_COLOR
from dumbbell.metrics.metric import AT
from dumbbell.plots.quantities import (
    SERIES,
    Drawable,
    Quantity,
    dashes_of,
    figure_of,
    has_values,
    state_unit,
)
from dumbbell.plots.time_grid import TimeGrid
from dumbbell.run import Run

__all__ = ["drawn_links", "queue_by_group", "queue_series", "statistics_series"]

#: Links of a run whose queues are drawn, the most used ones; more do not fit a page.
MAX_LINKS = 8


def queue_series(run: Run, rows: pa.Table, grid: TimeGrid, link: str) -> list[Drawable]:
    """Return the columns of a link's queue; if there are several links, each is named."""
    several = len(run.links) > 1
    found = []
    for name, quantity in SERIES.items():
        if quantity.table != "queue" or not has_values(rows[quantity.column]):
            continue
        title = label = quantity.title
        if several:
            name, title, label = f"{name}{AT}{link}", f"{title} · {link}", f"{label} at {link}"
        draw = partial(draw_queue, run, rows, grid, quantity, (name, title, label))
        found.append(Drawable(name, title, draw))
    return found


def draw_queue(
    run: Run, rows: pa.Table, grid: TimeGrid, quantity: Quantity, words: tuple[str, str, str]
) -> Figure:
    """Draw a column of a link's queue, by its name, title and label."""
    time_s, values = to_floats(rows["time_us"]) / 1e6, to_floats(rows[quantity.column])
    drawn = grid.extremes(time_s, quantity.scale * values)
    return figure_of(run, *words, quantity.unit, [Curve("", grid.time_s, drawn, UNKNOWN_COLOR)])


def queue_by_group(
    run: Run, rows: pa.Table, grid: TimeGrid, link: str, looks: Sequence[tuple[str, str]]
) -> Drawable:
    """Return what waits of each group in a link's queue, each with its name and colour."""
    several = len(run.links) > 1
    name = f"queue-by-group{AT}{link}" if several else "queue-by-group"
    title = f"queue by group · {link}" if several else "queue by group"
    y_label = f"queue at {link} by group" if several else "queue by group"
    draw = partial(draw_by_group, run, rows, grid, (name, title, y_label), looks)
    return Drawable(name, title, draw)


def draw_by_group(
    run: Run,
    rows: pa.Table,
    grid: TimeGrid,
    words: tuple[str, str, str],
    looks: Sequence[tuple[str, str]],
) -> Figure:
    """Draw what waits of each group, by the figure's name, title and label."""
    curves = []
    for group in pc.unique(rows["group"]).to_pylist():
        mine = rows.filter(pc.equal(rows["group"], group))
        time_s, bytes_ = to_floats(mine["time_us"]) / 1e6, to_floats(mine["backlog_bytes"])
        drawn = grid.extremes(time_s, 1e-3 * bytes_)
        label, color = looks[group]
        curves.append(Curve(label, grid.time_s, drawn, color, dashed=dashes_of(group)))
    return figure_of(run, *words, "kB", curves)


def statistics_series(run: Run, rows: pa.Table, grid: TimeGrid, link: str) -> list[Drawable]:
    """Return what a link's queue discipline declares as series, in the units of state series."""
    several = len(run.links) > 1
    where = f" at {link}" if several else ""
    found = []
    names = rows.column_names
    for column in names[1 + names.index("link") :] if has_link(rows) else []:
        if not has_values(rows[column]):
            continue
        title, unit, scale = state_unit(column, "")
        name = f"{title}{AT}{link}" if several else title
        heading = f"{title} · {run.link(link).get('queue', link)}{where}"
        quantity = Quantity(column, heading, unit, scale, "queue")
        words = (name, heading, f"{title}{where}")
        found.append(Drawable(name, heading, partial(draw_queue, run, rows, grid, quantity, words)))
    return found


def has_link(rows: pa.Table) -> bool:
    """Whether a table `queue` names its links; it does not in results of earlier versions."""
    return "link" in rows.column_names


def drawn_links(run: Run) -> list[str]:
    """Return the links whose queues are drawn, in the result's order."""
    used = sorted(run.links, key=lambda link: -link["utilization"])[:MAX_LINKS]
    names = {link["name"] for link in used}
    return [link["name"] for link in run.links if link["name"] in names]
