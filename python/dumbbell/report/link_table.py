"""The links of a sweep's runs, or of one run, as a table: means and intervals of each cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.metrics import METRICS, Metric
from dumbbell.metrics.metric import AT
from dumbbell.models.reference_goodputs import reference_goodputs
from dumbbell.plots.result_figures import SweepView
from dumbbell.plots.sweep_layout import Layout
from dumbbell.report.summary_table import digits_of, write_fine
from dumbbell.run.links import write_statistic
from dumbbell.statistics.format import MIN_INTERVAL

__all__ = [
    "LINK_METRICS", "LinkCell", "LinkRow", "QueueRow", "ReferenceRow", "link_table", "of_links",
    "queue_statistics", "reference_rows",
]  # fmt: skip

#: What the table has of each link, where the runs have it.
LINK_METRICS = (
    "utilization", "queue_delay_mean_us", "queue_delay_p95_us", "backlog_mean_bytes", "drop_rate",
    "mark_rate",
)  # fmt: skip


@dataclass(frozen=True)
class LinkRow:
    """A link of a cell: its name and metrics."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class LinkCell:
    """A cell, and its links, a row each."""

    cell: int
    label: str
    links: tuple[LinkRow, ...]


@dataclass(frozen=True)
class QueueRow:
    """A link of a run, its queue discipline, and that discipline's own statistics."""

    link: str
    discipline: str
    reported: tuple[str, ...]


@dataclass(frozen=True)
class ReferenceRow:
    """A group's goodput per flow, Mbit/s: measured, and by each rule of sharing."""

    label: str
    color: str
    values: tuple[str, ...]


def reference_rows(view: SweepView) -> tuple[tuple[str, ...], tuple[ReferenceRow, ...]]:
    """Return the rules' names and a row per group of one run with several links; else nothing."""
    result = view.result
    if result.axes or len(result.runs) != 1:
        return (), ()
    (run,) = result.runs.values()
    references = reference_goodputs(run.scenario)
    rows = []
    for index, group in enumerate(run.groups if references else []):
        goodputs_bps = (group["goodput_per_flow_bps"], *(r[index] for r in references.values()))
        values = tuple(f"{value / 1e6:.2f}" for value in goodputs_bps)
        rows.append(ReferenceRow(view.labels[index], view.colors[index], values))
    return tuple(rule.title for rule in references), tuple(rows)


def queue_statistics(view: SweepView) -> tuple[QueueRow, ...]:
    """Return a row per link of one run whose queue discipline has statistics."""
    result = view.result
    if result.axes or len(result.runs) != 1:
        return ()
    (run,) = result.runs.values()
    return tuple(
        QueueRow(
            link["name"],
            str(link.get("queue", "")),
            tuple(write_statistic(name, value) for name, value in link.statistics.items()),
        )
        for link in run.links
        if link.statistics
    )


def of_links(views: Sequence[SweepView]) -> tuple[Metric, ...]:
    """Return the tables' metrics; none of runs without several links."""
    known = {name.partition(AT)[0] for view in views for name in link_columns(view)}
    return tuple(METRICS[name] for name in LINK_METRICS if name in known)


def link_columns(view: SweepView) -> list[str]:
    """Return the metrics of single links that have values, in the rows' order."""
    return [metric.name for metric in view.values.metrics if metric.link]


def link_table(
    view: SweepView, layout: Layout, metrics: Sequence[Metric], max_cells: int
) -> tuple[LinkCell, ...]:
    """Tabulate the links of a sweep's first cells; nothing of runs without several links.

    Parameters
    ----------
    view
        The sweep, or another one beside it.
    layout
        Of the first: its cells give rows their names.
    metrics
        The columns.
    max_cells
        Rows, at most.
    """
    columns = link_columns(view)
    links = list(dict.fromkeys(name.partition(AT)[2] for name in columns))
    places = [cell for facet in layout.facets for cell in facet.cells if cell.index in view.cells]
    places = sorted(places, key=lambda cell: cell.index)[:max_cells] if links else []
    digits = {
        metric.name: digits_of(
            [
                view.values.interval(name, view.cells[place.index], 0)
                for name in columns
                if name.partition(AT)[0] == metric.name
                for place in places
            ]
        )
        for metric in metrics
    }
    return tuple(
        LinkCell(
            place.index,
            layout.name_of(place),
            tuple(
                LinkRow(
                    link,
                    values_of(view, metrics, digits, view.cells[place.index], link, columns),
                )
                for link in links
            ),
        )
        for place in places
    )


def values_of(
    view: SweepView, metrics: Sequence[Metric], digits: dict[str, int], cell: int,
    link: str, columns: Sequence[str],
) -> tuple[str, ...]:  # fmt: skip
    """Write a link's metrics in a cell."""
    written = []
    for metric in metrics:
        name = f"{metric.name}{AT}{link}"
        if name not in columns:
            written.append("–")
            continue
        interval = view.values.interval(name, cell, 0)
        if math.isnan(interval.mean):
            written.append("–")
        elif interval.n < MIN_INTERVAL:
            written.append(f"{interval.mean:.{digits[metric.name]}f}")
        else:
            written.append(write_fine(interval, digits[metric.name]))
    return tuple(written)
