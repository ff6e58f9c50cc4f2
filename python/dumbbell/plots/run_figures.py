"""A run over time: goodput, cwnd, RTT, the queue, and the CCAs' own state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.base.errors import ResultError, nearest
from dumbbell.figures.figure import MAX_POINTS, Curve, Figure, FloatArray, Mark
from dumbbell.figures.floats import to_floats
from dumbbell.figures.style import shades
from dumbbell.metrics.metric import AT
from dumbbell.plots.capacity import CAPACITY_COLOR, capacity_mbps, peaks_above
from dumbbell.plots.labels import group_colors, group_labels
from dumbbell.plots.mode_marks import mode_marks
from dumbbell.plots.quantities import (
    SERIES,
    USUAL_SERIES,
    Drawable,
    dashes_of,
    figure_of,
    has_values,
    state_unit,
)
from dumbbell.plots.queue_figures import (
    drawn_links,
    queue_by_group,
    queue_series,
    statistics_series,
)
from dumbbell.plots.state_values import first_state, state_values
from dumbbell.plots.time_grid import TimeGrid, mean_at_each_sample
from dumbbell.plots.transfer_figures import draw_transfers
from dumbbell.run import Run
from dumbbell.run.columns import BY_GROUP
from dumbbell.run.directions import payload_link
from dumbbell.run.links import queue_rows

__all__ = ["MAX_FLOW_LINES", "draw_run", "draw_series", "drawables", "usual_series"]

#: Points of a goodput curve; of a run with more samples, half as many means.
RATE_POINTS = 200
#: Flows of a run that have a curve each; with more flows, each group has one.
MAX_FLOW_LINES = 8
#: State series of a congestion control algorithm, in the order in which it declares them.
MAX_STATES = 8


@dataclass(frozen=True)
class Line:
    """A curve's name, colour and dashes, and the numbers of the flows that it is the mean of."""

    label: str
    color: str
    flows: tuple[int, ...]
    dashed: int


def draw_run(run: Run, max_points: int = MAX_POINTS) -> list[Figure]:
    """Draw a run's transfers, then every series that has values.

    Parameters
    ----------
    run
        The run.
    max_points
        Of a curve.
    """
    return [each.draw() for each in drawables(run, max_points)]


def drawables(run: Run, max_points: int = MAX_POINTS) -> list[Drawable]:
    """Return what `draw_run` draws, to draw some of it; transfers are drawn already."""

    def drawn(figure: Figure) -> Drawable:
        return Drawable(figure.name, figure.title, lambda: figure)

    return [*map(drawn, draw_transfers(run, max_points)), *over_time(run, max_points)]


def over_time(run: Run, max_points: int) -> list[Drawable]:
    """Return every time series that has values; nothing if the run recorded none."""
    if run.scenario.sample == 0 or "flows" not in run.tables:
        return []
    grid = TimeGrid(run.summary["duration_ns"] / 1e9, run.scenario.sample.seconds, max_points)
    lines = flow_lines(run)
    flows, queue = run.flows, run.queues  # each access reads a file
    found = [
        Drawable(name, quantity.title, partial(draw_quantity, run, flows, grid, lines, name))
        for name, quantity in SERIES.items()
        if quantity.table == "flows" and has_values(flows[quantity.column])
    ]
    # Once for all: names depend on all groups, and each access reads a file.
    looks = list(zip(group_labels(run.scenario), group_colors(run.scenario), strict=True))
    by_group = run.queue_by_group if BY_GROUP in run.tables else None
    for link in drawn_links(run):
        rows = queue_rows(queue, link)
        found += queue_series(run, rows, grid, link)
        waiting = None if by_group is None else queue_rows(by_group, link)
        if waiting is not None and waiting.num_rows:
            found.append(queue_by_group(run, waiting, grid, link, looks))
        found += statistics_series(run, rows, grid, link)
    marks = mode_marks(run)
    found = [replace(each, draw=partial(marked, each.draw, marks)) for each in found]
    for group, look in enumerate(looks):
        found += state_series(run, grid, group, look)
    return found


def marked(draw: Callable[[], Figure], marks: Sequence[Mark]) -> Figure:
    """Draw a figure with marks."""
    return replace(draw(), marks=tuple(marks))


def draw_series(run: Run, names: Sequence[str], max_points: int = MAX_POINTS) -> list[Figure]:
    """Draw some series of a run.

    Parameters
    ----------
    run
        The run.
    names
        Of `SERIES`, of its transfers (``fct``, ``slowdown``, ``latency``, ``page-load-time``), or
        of the congestion control algorithms' state series: ``mode``; or of its queue disciplines:
        ``prob``. Of several links, these, ``queue`` and ``sojourn`` are of each of them, and
        ``queue@access`` of one.
    max_points
        Of a curve.

    Raises
    ------
    ResultError
        The run has no such series.
    """
    drawn = drawables(run, max_points)
    if not drawn:
        raise ResultError(
            "the run recorded no time series; run it with a sample interval, like `10ms`"
        )
    unread = {
        state_unit(each.name, each.unit)[0]
        for group in range(len(run.scenario.groups))
        if run.lacks_state(group)
        for each in run.series(group)
    }
    known = list(dict.fromkeys(name for each in drawn for name in names_of(each.name)))
    for name in names:
        if name in unread - {*known}:
            why = "the kernel let no state be read; see `dumbbell doctor`"
            raise ResultError(f"the run has no series `{name}`: {why}")
        if name not in known:
            hint = nearest(name, known) or f": it has {', '.join(known)}"
            raise ResultError(f"the run has no series `{name}`{hint}")
    return [each.draw() for name in names for each in drawn if name in names_of(each.name)]


def usual_series(run: Run) -> list[str]:
    """Return what is drawn of a run unless other series are chosen, as far as it has them."""
    has = {name for each in drawables(run) for name in names_of(each.name)}
    # A run without any is refused by the first.
    return [name for name in USUAL_SERIES if name in has] or [USUAL_SERIES[0]]


def names_of(figure: str) -> tuple[str, ...]:
    """Return what the series of a figure is called: ``mode``; ``queue`` and ``queue@access``."""
    name = figure.rpartition(".")[2]
    series, at, _ = name.partition(AT)
    return (series, name) if at else (name,)


def flow_lines(run: Run) -> list[Line]:
    """Return a line per flow; with many flows, one per group."""
    flows = run.summary["flows"]
    labels = group_labels(run.scenario)
    colors = group_colors(run.scenario)
    members = [
        tuple(flow["flow"] for flow in flows if flow["group"] == group)
        for group in range(len(labels))
    ]
    if len(flows) > MAX_FLOW_LINES:
        return [
            Line(label if len(numbers) == 1 else f"{label}, mean of the flows", color, numbers,
                 dashes_of(group))
            for group, (label, color, numbers) in enumerate(
                zip(labels, colors, members, strict=True)
            )
        ]  # fmt: skip
    return [
        Line(label if len(numbers) == 1 else f"{label}, flow {flow}", shade, (flow,),
             dashes_of(group if len(labels) > 1 else at))
        for group, (label, color, numbers) in enumerate(zip(labels, colors, members, strict=True))
        for at, (flow, shade) in enumerate(
            zip(numbers, shades(color, len(numbers)), strict=True)
        )
    ]  # fmt: skip


def draw_quantity(
    run: Run, table: pa.Table, grid: TimeGrid, lines: Sequence[Line], name: str
) -> Figure:
    """Draw a column of the flows."""
    quantity = SERIES[name]
    curves = []
    # Extremes of a rate are single bursts: its points are means, of a base RTT or longer.
    rtt_s = max((flow["base_rtt_us"] for flow in run.summary["flows"]), default=0) / 1e6
    bin_s = max(run.scenario.sample.seconds, rtt_s)
    rates = TimeGrid(run.summary["duration_ns"] / 1e9, bin_s, RATE_POINTS)
    for line in lines:
        time_s, values = column_of(table, line.flows, quantity.column)
        if len(line.flows) > 1:
            time_s, values = mean_at_each_sample(time_s, values)
        if name == "goodput":
            x, y = rates.middles_s, rates.means(time_s, quantity.scale * values)
        else:
            x, y = grid.time_s, grid.extremes(time_s, quantity.scale * values)
        curves.append(Curve(line.label, x, y, line.color, dashed=line.dashed))
    # A legend has no name of a group that has no value.
    curves = [curve for curve in curves if np.isfinite(curve.y).any()] or curves
    drawn = figure_of(run, name, quantity.title, quantity.title, quantity.unit, curves)
    if name != "goodput":
        return drawn
    capacity = draw_capacity(run, rates)
    link_mbps = (run.link(payload_link(run))["link_rate_bps"] or 0) / 1e6
    caption = peaks_above(curves, link_mbps or None, capacity)
    return replace(drawn, curves=(*capacity, *curves), caption=caption)


def draw_capacity(run: Run, grid: TimeGrid) -> list[Curve]:
    """Draw what the payload's link can carry, behind that; nothing where it is constant."""
    bins = grid.bin_s * np.arange(grid.bins + 1, dtype=np.float64)
    mbps = capacity_mbps(run.scenario, payload_link(run), bins)
    if mbps is None:
        return []
    return [Curve("capacity", bins, np.append(mbps, mbps[-1:]), CAPACITY_COLOR, shape="area")]


def column_of(
    table: pa.Table, numbers: Sequence[int], column: str
) -> tuple[FloatArray, FloatArray]:
    """Return time in s and a column of some flows, of all samples of each."""
    table = table.select(["time_us", "flow", column])
    wanted = pa.array(numbers, table.schema.field("flow").type)
    table = table.filter(pc.is_in(table["flow"], wanted))
    return to_floats(table["time_us"]) / 1e6, to_floats(table[column])


def state_series(run: Run, grid: TimeGrid, group: int, look: tuple[str, str]) -> list[Drawable]:
    """Return the state of a group's first flow, by its name; nothing if its CCA records none."""
    table = first_state(run, group)
    if table is None:
        return []
    declared = {series.name: series.unit for series in run.series(group)}
    found = []
    for column in [name for name in table.column_names if name not in ("time_us", "flow")]:
        if not has_values(table[column]):
            continue
        title, unit, scale = state_unit(column, declared.get(column, ""))
        draw = partial(draw_state, run, table, grid, group, look, column, (title, unit, scale))
        found.append(Drawable(f"state-{group}.{title}", f"{title} · {look[0]}", draw))
    return found[:MAX_STATES]


def draw_state(
    run: Run,
    table: pa.Table,
    grid: TimeGrid,
    group: int,
    look: tuple[str, str],
    column: str,
    of: tuple[str, str, float],
) -> Figure:
    """Draw a column of a group's state: of its title, unit and scale."""
    (label, color), (title, unit, scale) = look, of
    values, names = state_values(table[column])
    drawn = grid.extremes(to_floats(table["time_us"]) / 1e6, scale * values)
    curve = Curve(label, grid.time_s, drawn, color, dashed=dashes_of(group))
    # Of several groups each has a panel, whose legend is that of all.
    y_label = f"{title} of {label}" if len(run.scenario.groups) > 1 else title
    name = f"state-{group}.{title}"
    return figure_of(run, name, f"{title} · {label}", y_label, unit, [curve], names)
