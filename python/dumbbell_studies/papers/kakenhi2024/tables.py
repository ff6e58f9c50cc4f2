"""C2, C3 and C4 in numbers, and C5's devices."""

from __future__ import annotations

import numpy as np

from dumbbell.figures import style_of
from dumbbell_studies.papers.kakenhi2024.alone_metrics import ALONE_METRICS
from dumbbell_studies.papers.kakenhi2024.by_kind import (
    alone_of,
    buffers,
    flow_counts,
    flows_of,
    intervals_of,
    mixed_of,
    mixes,
)
from dumbbell_studies.papers.kakenhi2024.devices import DEVICES, SOURCES
from dumbbell_studies.papers.kakenhi2024.measurements import (
    AloneMeasured,
    IntervalMeasured,
    Measured,
)
from dumbbell_studies.papers.kakenhi2024.runs import (
    ALONE_CCS,
    RIVALS,
    Alone,
    Interval,
    Mixed,
    Point,
)
from dumbbell_studies.papers.paper import ResultTable
from dumbbell_studies.papers.results import Results

__all__ = ["devices_table", "make_tables"]


def make_tables(results: Results[Point, Measured]) -> list[ResultTable]:
    """Tabulate C2, C3 and C4, and C5's devices."""
    alone, mixed = alone_of(results), mixed_of(results)
    return [
        *(alone_table(alone, buffer) for buffer in (10.0, 1.0)),
        interval_table(intervals_of(results)),
        *(mixed_table(mixed, mix) for mix in mixes(mixed)),
        devices_table(),
    ]


def alone_table(alone: Results[Alone, AloneMeasured], buffer: float) -> ResultTable:
    """Tabulate all of C2's metrics in one buffer."""
    rows = []
    for n in flow_counts(alone):
        cells = [
            " / ".join(form.format(alone.mean(Alone(cc, n, buffer), what)) for cc in ALONE_CCS)
            for _, _, form, what in ALONE_METRICS
        ]
        verdict = alone.verdict(*(Alone(cc, n, buffer) for cc in ALONE_CCS))
        rows.append((str(n), *cells, verdict))
    names = " / ".join(style_of(cc).label for cc in ALONE_CCS)
    return ResultTable(
        title=f"Flows of one kind, 100 Mbit/s, {buffer:g} BDP: {names}",
        columns=("flows", *(heading for _, heading, _, _ in ALONE_METRICS), "verdict"),
        rows=tuple(rows),
    )


def interval_table(intervals: Results[Interval, list[IntervalMeasured]]) -> ResultTable:
    """Tabulate C3: means over the flows of each point."""
    rows = []
    for point in intervals.measured:
        flows = flows_of(intervals, point)
        if not flows:
            rows.append((point.rtt, str(point.flows), f"{point.buffer_bdp:g}", "–", "–", "–", "–"))
            continue
        seen = float(np.mean([flow.rate_pkts_per_s for flow in flows]))
        model = float(np.mean([flow.predict_pkts_per_s() for flow in flows]))
        interval = float(np.mean([flow.interval_s for flow in flows]))
        rows.append(
            (
                point.rtt, str(point.flows), f"{point.buffer_bdp:g}", f"{interval:.2f}",
                f"{seen:.0f}", f"{model:.0f}", f"{model / seen - 1:+.0%}",
            )
        )  # fmt: skip
    return ResultTable(
        title="CUBIC alone, 50 Mbit/s: throughput from the loss interval",
        columns=(
            "base RTT", "flows", "buffer (BDP)", "interval (s)", "simulated (packets/s)",
            "model (packets/s)", "model off by",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def mixed_table(mixed: Results[Mixed, float], mix: tuple[int, int]) -> ResultTable:
    """Tabulate C4's shares of one mix."""
    rows = []
    for buffer in buffers(mixed):
        points = [Mixed(cc, mix, buffer) for cc in RIVALS]
        rows.append(
            (
                f"{buffer:g}",
                *(f"{mixed.mean(point, float):.2f}" for point in points),
                mixed.verdict(*points),
            )
        )
    rival, cubic = mix
    return ResultTable(
        title=f"Goodput over a fair share, {rival} to {cubic} CUBIC",
        columns=("buffer (BDP)", *(style_of(cc).label for cc in RIVALS), "verdict"),
        rows=tuple(rows),
    )


def devices_table() -> ResultTable:
    """Tabulate the devices, shortest delay first."""
    return ResultTable(
        title="Figure 1: maximum buffering delay of real devices (not measured: buffer / capacity)",
        columns=("device", "buffer (MB)", "port (Gbit/s)", "delay (ms)", "buffer stated in"),
        rows=tuple(
            (
                device.name,
                f"{device.buffer_bytes / 1e6:g}",
                f"{device.link_rate_bps / 1e9:g}",
                f"{device.delay_ms:.3g}" if device.delay_ms < 1000 else f"{device.delay_ms:.0f}",
                SOURCES + device.source,
            )
            for device in sorted(DEVICES, key=lambda device: device.delay_ms)
        ),
    )
