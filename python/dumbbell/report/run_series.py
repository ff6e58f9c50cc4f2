"""A run's time series as the report's page draws them: few points, compressed, in a script."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.congestion_control import congestion_controls
from dumbbell.plots import group_colors, group_labels
from dumbbell.report.envelope import FloatArray, TimeGrid, rounded
from dumbbell.run import Run
from dumbbell.run.series import to_floats

__all__ = ["MAX_FLOW_LINES", "pack", "run_series"]

#: A line's name, its group, and the numbers of its flows.
Line = tuple[str, int, list[int]]

#: Points of a line of goodput, or half as many means when the run has more samples.
RATE_POINTS = 200
#: Flows of a run that have lines of their own; of more, each group has one.
MAX_FLOW_LINES = 8
#: Of a congestion control's own state, in the order in which it declares them.
MAX_STATES = 8


#: Units at the end of a state's name, and what they are drawn in.
STATE_UNITS = (
    ("_bps", "Mbit/s", 1e-6), ("_us", "ms", 1e-3), ("_ms", "ms", 1.0), ("_ns", "ms", 1e-6),
    ("_pkts", "packets", 1.0), ("_bytes", "bytes", 1.0), ("_pct", "%", 1.0),
)  # fmt: skip


@dataclass(frozen=True)
class Quantity:
    """A column of a table that the page draws.

    Attributes
    ----------
    column
        Its name.
    title, unit
        On the page.
    scale
        What the column is multiplied by for that.
    """

    column: str
    title: str
    unit: str
    scale: float = 1.0


OF_FLOWS = (
    Quantity("inflight_pkts", "inflight", "packets"),
    Quantity("rtt_us", "RTT", "ms", 1e-3),
)
OF_QUEUE = (
    Quantity("backlog_pkts", "queue", "packets"),
    Quantity("sojourn_us", "time in the queue", "ms", 1e-3),
)


def run_series(run: Run, max_points: int) -> dict[str, Any] | None:
    """Return a run's charts for the page's script; None when it recorded no time series.

    Parameters
    ----------
    run
        The run.
    max_points
        Of each line.

    Returns
    -------
    dict
        ``until`` (s), ``time`` (s) and ``charts``: each with ``title``, ``unit``, ``lines``
        (``name``, ``color``, ``values``), a ``time`` of its own if it has one, and, for a state,
        the ``of`` whose it is and the ``names`` of its values.
    """
    if run.scenario.sample == 0 or not run.tables:
        return None
    duration_s, sample_s = run.summary["duration_ns"] / 1e9, run.scenario.sample.seconds
    grid = TimeGrid(duration_s, sample_s, max_points)
    ccs = [group.cc for group in run.scenario.groups]
    labels = group_labels(run.scenario)
    colors = group_colors([cc.name for cc in ccs])
    lines = flow_lines(run, labels)
    flows, queue = run.flows, run.queue
    charts = [goodput_chart(TimeGrid(duration_s, sample_s, RATE_POINTS), flows, lines, colors)]
    charts += [flow_chart(grid, flows, lines, colors, quantity) for quantity in OF_FLOWS]
    charts += [queue_chart(grid, queue, quantity) for quantity in OF_QUEUE]
    for group, label in enumerate(labels):
        charts += state_charts(grid, run, group, label, colors[group])
    return {
        "until": duration_s,
        "time": rounded(grid.time_s),
        "charts": [chart for chart in charts if has_values(chart)],
    }


def flow_lines(run: Run, labels: Sequence[str]) -> list[Line]:
    """Return each line's name, group and flows: one per flow, or of many flows one per group."""
    flows = run.summary["flows"]
    if len(flows) <= MAX_FLOW_LINES:
        alone = len(flows) == len(labels)
        return [
            (
                labels[flow["group"]] + ("" if alone else f", flow {flow['flow']}"),
                flow["group"],
                [flow["flow"]],
            )
            for flow in flows
        ]
    return [
        (
            f"{label}, mean of the flows",
            group,
            [flow["flow"] for flow in flows if flow["group"] == group],
        )
        for group, label in enumerate(labels)
    ]


def goodput_chart(
    grid: TimeGrid, flows: pa.Table, lines: Sequence[Line], colors: Sequence[str]
) -> dict[str, Any]:
    """Return the chart of goodput, whose points are means and lie at times of their own."""
    drawn = []
    for name, group, numbers in lines:
        values = grid.means(*column_of(flows, numbers, "goodput_bps"))
        drawn.append({"name": name, "color": colors[group], "values": rounded(1e-6 * values)})
    time_s = rounded(grid.middles_s)
    return {"title": "goodput", "unit": "Mbit/s", "time": time_s, "lines": drawn}


def flow_chart(
    grid: TimeGrid,
    flows: pa.Table,
    lines: Sequence[Line],
    colors: Sequence[str],
    quantity: Quantity,
) -> dict[str, Any]:
    """Return a chart of a column of the flows."""
    drawn = []
    for name, group, numbers in lines:
        time_s, values = column_of(flows, numbers, quantity.column)
        values = grid.extremes(time_s, quantity.scale * values)
        drawn.append({"name": name, "color": colors[group], "values": rounded(values)})
    return {"title": quantity.title, "unit": quantity.unit, "lines": drawn}


def column_of(
    table: pa.Table, numbers: Sequence[int], column: str
) -> tuple[FloatArray, FloatArray]:
    """Return time in s and a column of a flow, or its mean over several flows at each sample."""
    table = table.select(["time_us", "flow", column])
    wanted = pa.array(numbers, table.schema.field("flow").type)
    table = table.filter(pc.is_in(table["flow"], wanted))
    time_s, values = to_floats(table["time_us"]) / 1e6, to_floats(table[column])
    return mean_at_each_instant(time_s, values) if len(numbers) > 1 else (time_s, values)


def mean_at_each_instant(time_s: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean of the flows that have a value at an instant."""
    known = np.isfinite(values)
    instants, which = np.unique(time_s[known], return_inverse=True)
    sums = np.bincount(which, weights=values[known], minlength=instants.size)
    return instants, sums / np.bincount(which, minlength=instants.size)


def queue_chart(grid: TimeGrid, table: pa.Table, quantity: Quantity) -> dict[str, Any]:
    """Return a chart of the bottleneck's queue."""
    values = grid.extremes(
        to_floats(table["time_us"]) / 1e6, quantity.scale * to_floats(table[quantity.column])
    )
    line = {"name": "bottleneck", "color": "", "values": rounded(values)}
    return {"title": quantity.title, "unit": quantity.unit, "lines": [line]}


def state_charts(
    grid: TimeGrid, run: Run, group: int, label: str, color: str
) -> list[dict[str, Any]]:
    """Return charts of the state of a group's first flow; none if its control records none."""
    try:
        table = run.state(group)
    except KeyError:
        return []
    first = pc.min(table["flow"])
    table = table.filter(pc.equal(table["flow"], first))
    time_s = to_floats(table["time_us"]) / 1e6
    charts = []
    declared = declared_units(run.scenario.groups[group].cc.name)
    for name in [name for name in table.column_names if name not in ("time_us", "flow")]:
        values, names = state_values(table[name])
        title, unit, scale = state_unit(name, declared.get(name, ""))
        drawn = rounded(grid.extremes(time_s, scale * values))
        line = {"name": title, "color": color, "values": drawn}
        charts.append({"title": title, "unit": unit, "of": label, "names": names, "lines": [line]})
    return charts[:MAX_STATES]


def declared_units(cc: str) -> dict[str, str]:
    """Return the units that a congestion control declares for its states; none of a file's."""
    known = congestion_controls().get(cc)
    return {} if known is None else {each.name: each.unit for each in known.series}


def state_unit(name: str, declared: str) -> tuple[str, str, float]:
    """Return a state's name without its unit, the unit it is drawn in, and the factor for that.

    What is declared in parts of one, like BBR's gains in ``/256``, is drawn in ones.
    """
    for suffix, unit, scale in STATE_UNITS:
        if name.endswith(suffix):
            return name.removesuffix(suffix), unit, scale
    if declared.startswith("/") and declared[1:].isdigit():
        return name, "", 1 / int(declared[1:])
    return name, "", 1.0


def state_values(column: pa.ChunkedArray) -> tuple[FloatArray, list[str]]:
    """Return a state as numbers, and the names of 0, 1, … if it has names."""
    values = column.combine_chunks()
    if pa.types.is_string(values.type):
        values = values.dictionary_encode()
    if pa.types.is_dictionary(values.type):
        return to_floats(values.indices), values.dictionary.to_pylist()
    return to_floats(values), []


def has_values(chart: dict[str, Any]) -> bool:
    """Whether there is anything to draw."""
    return any(value is not None for line in chart["lines"] for value in line["values"])


def pack(document: dict[str, Any]) -> str:
    """Return a document as base64 of gzip, the same text of the same document."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=9, mtime=0)).decode()
