"""Where a flow of a run lies, in delay and throughput: the points of its envelope."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from dumbbell.run import Run
from dumbbell_studies.conform.envelope import Points

__all__ = ["column", "points_of"]

#: Base RTTs between two points of an envelope, as QUICbench has them.
POINT_RTTS = 10
#: Share of a run that is left out: slow start.
WARMUP = 1 / 6


def points_of(run: Run, *, by_queue: bool = False) -> Points:
    """Return the first flow's delay and throughput, a point for every 10 base RTTs.

    Parameters
    ----------
    run
        With its time series.
    by_queue
        Take for the delay the base RTT and what the last packet waited in the bottleneck's queue:
        of a program's flow no RTT is known.
    """
    table = run.flows
    mine = column(table, "flow") == 0
    time_us, rtt_us, goodput_bps = (
        column(table, name)[mine] for name in ("time_us", "rtt_us", "goodput_bps")
    )
    base_rtt_us = run.summary["flows"][0]["base_rtt_us"]
    if by_queue:
        queue = run.queue_of(run.summary["bottleneck"]["name"])
        waited_us = np.interp(time_us, column(queue, "time_us"), column(queue, "sojourn_us"))
        rtt_us = base_rtt_us + waited_us
    end_us = run.scenario.time.seconds * 1e6
    step_us = POINT_RTTS * base_rtt_us
    edges = np.arange(WARMUP * end_us, end_us + step_us / 2, step_us)
    places = np.searchsorted(time_us, edges)
    points = [
        (float(np.nanmean(rtt_us[a:b])) / 1e3, float(goodput_bps[a:b].mean()) / 1e6)
        for a, b in pairwise(places)
        if b > a and not np.isnan(rtt_us[a:b]).all()
    ]
    return np.array(points)


def column(table: Any, name: str) -> Points:
    """Return a column as floats, with NaN where it has no value."""
    return np.asarray(table.column(name).to_numpy(zero_copy_only=False), dtype=np.float64)
