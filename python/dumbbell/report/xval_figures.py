"""A scenario's time series in both engines."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.compare.xval import XvalCase
from dumbbell.figures import Curve, Figure
from dumbbell.plots import group_colors, group_labels
from dumbbell.run import Run

__all__ = ["draw_case"]

FloatArray = npt.NDArray[np.float64]

#: Points of a curve: means over equal parts of the run. The engines sample at different times, and
#: short bins would show single bursts.
PARTS = 300
#: Points of a goodput curve. In-order delivery comes in bursts, so its bins are wider.
GOODPUT_PARTS = 100
BACKLOG_COLOR = "#6c6c6c"

#: Column of the `flows` table, title, label of the axis, scale, parts, caption.
SERIES = (
    (
        "goodput_bps", "Goodput", "goodput (Mbit/s)", 1e-6, GOODPUT_PARTS,
        "Sum over the group's flows, means over a hundredth of the run. Goodput counts data when "
        "it is delivered in order: a bin in which a gap is filled can exceed the link rate.",
    ),
    ("rtt_us", "RTT", "RTT (ms)", 1e-3, PARTS, "Mean over the group's flows."),
    ("inflight_pkts", "Inflight", "inflight (packets)", 1.0, PARTS, "Sum over the group's flows."),
)  # fmt: skip


def draw_case(case: XvalCase) -> list[Figure]:
    """Draw goodput, RTT and inflight of each group and the backlog, of each engine's first run."""
    kernel, simulator = case.valid[:1] or case.kernel[:1], case.simulator[:1]
    runs = [(run, "kernel", False) for run in kernel] + [(r, "simulator", True) for r in simulator]
    if case.scenario.sample == 0 or not runs:
        return []
    return [*draw_flows(case, runs), draw_backlog(case, runs)]


def draw_flows(case: XvalCase, runs: Iterable[tuple[Run, str, bool]]) -> list[Figure]:
    """Draw each group's goodput, RTT and inflight."""
    names = group_labels(case.scenario)
    colors = group_colors(case.scenario)
    curves: dict[str, list[Curve]] = {column: [] for column, *_ in SERIES}
    for run, engine, dashed in runs:
        for column, _, _, scale, parts, _ in SERIES:
            means = flow_means(run, column, parts)
            for group, (name, color) in enumerate(zip(names, colors, strict=True)):
                rows = means.filter(pc.field("group") == group)
                values = by_part(rows, f"{column}_mean", "mean" if column == "rtt_us" else "sum")
                label = f"{name}, {engine}"
                curves[column].append(curve(run, values, scale, label, color, parts, dashed=dashed))
    return [
        Figure(
            name=f"{case.name}-{column}",
            title=title,
            x_label="time (s)",
            y_label=label,
            curves=tuple(curves[column]),
            caption=caption,
        )
        for column, title, label, _, _, caption in SERIES
    ]


def flow_means(run: Run, column: str, parts: int) -> pa.Table:
    """Return each flow's mean of a column over the parts of a run."""
    group_of = {flow["flow"]: flow["group"] for flow in run.summary["flows"]}
    samples = with_part(run, run.flows.select(["time_us", "flow", column]), parts)
    means = samples.group_by(["flow", "part"]).aggregate([(column, "mean")])
    groups = pa.array([group_of[flow] for flow in means["flow"].to_pylist()], type=pa.int64())
    return means.append_column("group", groups)


def draw_backlog(case: XvalCase, runs: Iterable[tuple[Run, str, bool]]) -> Figure:
    """Draw the bottleneck's queue."""
    curves = []
    for run, engine, dashed in runs:
        samples = with_part(run, run.queue.select(["time_us", "backlog_bytes"]), PARTS)
        means = by_part(samples, "backlog_bytes", "mean")
        label = f"queue, {engine}"
        curves.append(curve(run, means, 1e-3, label, BACKLOG_COLOR, PARTS, dashed=dashed))
    return Figure(
        name=f"{case.name}-backlog",
        title="Backlog",
        x_label="time (s)",
        y_label="backlog (kB)",
        curves=tuple(curves),
        caption="The bottleneck's queue.",
    )


def with_part(run: Run, samples: pa.Table, parts: int) -> pa.Table:
    """Add the column `part`: which part of the run each sample is in."""
    duration_us = run.summary["duration_ns"] / 1000
    part = (samples["time_us"].to_numpy() * parts / duration_us).astype(np.int64)
    return samples.append_column("part", pa.array(part.clip(max=parts - 1)))


def by_part(rows: pa.Table, column: str, function: str) -> pa.Table:
    """Return the sum or mean of a column in each part that has values, in order."""
    values = rows.select(["part", column]).drop_null().group_by("part")
    return values.aggregate([(column, function)]).rename_columns(["part", "y"]).sort_by("part")


def curve(
    run: Run, values: pa.Table, scale: float, label: str, color: str, parts: int, *, dashed: bool
) -> Curve:
    """Return a curve, a point in the middle of each part."""
    part_s = run.summary["duration_ns"] / 1e9 / parts
    x: FloatArray = (values["part"].to_numpy() + 0.5) * part_s
    y: FloatArray = values["y"].to_numpy().astype(np.float64) * scale
    return Curve(label, x, y, color, dashed=dashed)
