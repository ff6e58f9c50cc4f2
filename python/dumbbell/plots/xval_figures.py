"""A case's time series, the simulator's over the kernel's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dumbbell.compare.xval import Case
from dumbbell.plots import Curve, Figure, group_colors, style_of
from dumbbell.run import Run

if TYPE_CHECKING:
    import pandas as pd

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


def draw_case(case: Case) -> list[Figure]:
    """Draw goodput, RTT and inflight of each group and the backlog, of each engine's first run."""
    kernel, simulator = case.believed[:1] or case.kernel[:1], case.simulator[:1]
    runs = [(run, "kernel", False) for run in kernel] + [(r, "simulator", True) for r in simulator]
    if case.scenario.sample == 0 or not runs:
        return []
    return [*draw_flows(case, runs), draw_backlog(case, runs)]


def draw_flows(case: Case, runs: Iterable[tuple[Run, str, bool]]) -> list[Figure]:
    """Draw what each group's flows did."""
    ccs = [group.cc.name for group in case.scenario.groups]
    colors = group_colors(ccs)
    curves: dict[str, list[Curve]] = {column: [] for column, *_ in SERIES}
    for run, engine, dashed in runs:
        frame = flow_means(run, [column for column, *_ in SERIES])
        for group, (cc, color) in enumerate(zip(ccs, colors, strict=True)):
            rows = frame[frame["group"] == group].groupby("part")
            for column, adds_up, _, scale in SERIES:
                values = rows[column].sum(min_count=1) if adds_up else rows[column].mean()
                label = f"{style_of(cc).label}, {engine}"
                curves[column].append(
                    curve(run, values.dropna(), scale, label, color, dashed=dashed)
                )
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


def flow_means(run: Run, columns: list[str]) -> pd.DataFrame:
    """Return each flow's means over the parts of a run."""
    group_of = {flow["flow"]: flow["group"] for flow in run.summary["flows"]}
    frame = run.flows.select(["time_us", "flow", *columns]).to_pandas()
    frame["part"] = part_of(run, frame["time_us"])
    means: pd.DataFrame = frame.groupby(["flow", "part"])[columns].mean().reset_index()
    means["group"] = means["flow"].map(group_of)
    return means


def draw_backlog(case: Case, runs: Iterable[tuple[Run, str, bool]]) -> Figure:
    """Draw the bottleneck's queue."""
    curves = []
    for run, engine, dashed in runs:
        frame = run.queue.select(["time_us", "backlog_bytes"]).to_pandas()
        means = frame.groupby(part_of(run, frame["time_us"]))["backlog_bytes"].mean()
        curves.append(curve(run, means, 1e-3, f"queue, {engine}", BACKLOG_COLOR, dashed=dashed))
    return Figure(
        name=f"{case.name}-backlog",
        title=f"Backlog, {case.name}",
        x_label="time (s)",
        y_label="backlog (kB)",
        curves=tuple(curves),
        caption=f"The bottleneck's queue; its limit is {case.scenario.buffer}.",
    )


def part_of(run: Run, time_us: pd.Series) -> pd.Series:
    """Return which part of the run each sample is in."""
    duration_us = run.summary["duration_ns"] / 1000
    parts: pd.Series = (time_us * PARTS / duration_us).astype(int).clip(upper=PARTS - 1)
    return parts.rename("part")


def curve(
    run: Run, values: pd.Series, scale: float, label: str, color: str, *, dashed: bool
) -> Curve:
    """Return a curve, a point in the middle of each part."""
    part_s = run.summary["duration_ns"] / 1e9 / PARTS
    x: FloatArray = (values.index.to_numpy(dtype=np.float64) + 0.5) * part_s
    y: FloatArray = values.to_numpy(dtype=np.float64) * scale
    return Curve(label, x, y, color, dashed=dashed)
