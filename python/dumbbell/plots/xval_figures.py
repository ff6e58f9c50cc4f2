"""A case's time series, the simulator's over the kernel's."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.compare.xval import XvalCase
from dumbbell.plots import Curve, Figure, group_colors, style_of
from dumbbell.run import Run

__all__ = ["draw_case"]

FloatArray = npt.NDArray[np.float64]

#: Points of a curve: means over so many equal parts of the run. Two engines' samples are never at
#: the same instants, and their bursts hide each other.
PARTS = 300
BACKLOG_COLOR = "#6c6c6c"

#: Column of the `flows` table, whether a group's flows add up, label of the axis, scale.
SERIES = (
    ("goodput_bps", True, "goodput (Mbit/s)", 1e-6),
    ("rtt_us", False, "RTT (ms)", 1e-3),
    ("inflight_pkts", True, "inflight (packets)", 1.0),
)


def draw_case(case: XvalCase) -> list[Figure]:
    """Draw goodput, RTT and inflight of each group and the backlog, of each engine's first run."""
    kernel, simulator = case.valid[:1] or case.kernel[:1], case.simulator[:1]
    runs = [(run, "kernel", False) for run in kernel] + [(r, "simulator", True) for r in simulator]
    if case.scenario.sample == 0 or not runs:
        return []
    return [*draw_flows(case, runs), draw_backlog(case, runs)]


def draw_flows(case: XvalCase, runs: Iterable[tuple[Run, str, bool]]) -> list[Figure]:
    """Draw what each group's flows did."""
    ccs = [group.cc.name for group in case.scenario.groups]
    colors = group_colors(ccs)
    curves: dict[str, list[Curve]] = {column: [] for column, *_ in SERIES}
    for run, engine, dashed in runs:
        means = flow_means(run, [column for column, *_ in SERIES])
        for group, (cc, color) in enumerate(zip(ccs, colors, strict=True)):
            rows = means.filter(pc.field("group") == group)
            for column, adds_up, _, scale in SERIES:
                values = by_part(rows, f"{column}_mean", "sum" if adds_up else "mean")
                label = f"{style_of(cc).label}, {engine}"
                curves[column].append(curve(run, values, scale, label, color, dashed=dashed))
    return [
        Figure(
            name=f"{case.name}-{column}",
            title=f"{label.partition(' (')[0].capitalize() if label[1].islower() else 'RTT'}, "
            f"{case.name}",
            x_label="time (s)",
            y_label=label,
            curves=tuple(curves[column]),
            caption="Sum over the group's flows." if adds_up else "Mean over the group's flows.",
        )
        for column, adds_up, label, _ in SERIES
    ]


def flow_means(run: Run, columns: list[str]) -> pa.Table:
    """Return each flow's means over the parts of a run: `goodput_bps_mean` and so on."""
    group_of = {flow["flow"]: flow["group"] for flow in run.summary["flows"]}
    samples = with_part(run, run.flows.select(["time_us", "flow", *columns]))
    means = samples.group_by(["flow", "part"]).aggregate([(column, "mean") for column in columns])
    groups = pa.array([group_of[flow] for flow in means["flow"].to_pylist()], type=pa.int64())
    return means.append_column("group", groups)


def draw_backlog(case: XvalCase, runs: Iterable[tuple[Run, str, bool]]) -> Figure:
    """Draw the bottleneck's queue."""
    curves = []
    for run, engine, dashed in runs:
        samples = with_part(run, run.queue.select(["time_us", "backlog_bytes"]))
        means = by_part(samples, "backlog_bytes", "mean")
        curves.append(curve(run, means, 1e-3, f"queue, {engine}", BACKLOG_COLOR, dashed=dashed))
    return Figure(
        name=f"{case.name}-backlog",
        title=f"Backlog, {case.name}",
        x_label="time (s)",
        y_label="backlog (kB)",
        curves=tuple(curves),
        caption=f"The bottleneck's queue; its limit is {case.scenario.buffer}.",
    )


def with_part(run: Run, samples: pa.Table) -> pa.Table:
    """Add the column `part`: which part of the run each sample is in."""
    duration_us = run.summary["duration_ns"] / 1000
    part = (samples["time_us"].to_numpy() * PARTS / duration_us).astype(np.int64)
    return samples.append_column("part", pa.array(part.clip(max=PARTS - 1)))


def by_part(rows: pa.Table, column: str, function: str) -> pa.Table:
    """Return the sum or mean of a column in each part that has values, in order."""
    values = rows.select(["part", column]).drop_null().group_by("part")
    return values.aggregate([(column, function)]).rename_columns(["part", "y"]).sort_by("part")


def curve(
    run: Run, values: pa.Table, scale: float, label: str, color: str, *, dashed: bool
) -> Curve:
    """Return a curve, a point in the middle of each part."""
    part_s = run.summary["duration_ns"] / 1e9 / PARTS
    x: FloatArray = (values["part"].to_numpy() + 0.5) * part_s
    y: FloatArray = values["y"].to_numpy().astype(np.float64) * scale
    return Curve(label, x, y, color, dashed=dashed)
