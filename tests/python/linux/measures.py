"""Figures of one run, after its slow start."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dumbbell import Run

__all__ = [
    "backlog_mean_pkts",
    "cwnd_of",
    "epochs",
    "goodput_mbps",
    "goodput_of_mbps",
    "growth_halves_pkts",
    "longest_epoch",
]

#: What is left out at the start: the slow start and what it left in the queue.
WARMUP_S = 10.0


def flows_of(run: Run, flow: int) -> pd.DataFrame:
    """Return a flow's series after the warm-up."""
    series = run.flows.to_pandas()
    late: pd.DataFrame = series[(series["flow"] == flow) & (series["time_us"] >= WARMUP_S * 1e6)]
    return late


def goodput_of_mbps(run: Run, flow: int) -> float:
    """Return a flow's mean goodput after the warm-up, Mbit/s."""
    return float(flows_of(run, flow)["goodput_bps"].mean() / 1e6)


def goodput_mbps(run: Run) -> float:
    """Return flow 0's mean goodput after the warm-up, Mbit/s."""
    return goodput_of_mbps(run, 0)


def backlog_mean_pkts(run: Run) -> float:
    """Return the mean queue after the warm-up, packets."""
    series = run.queue.to_pandas()
    return float(series["backlog_pkts"][series["time_us"] >= WARMUP_S * 1e6].mean())


def cwnd_of(run: Run, flow: int = 0) -> pd.Series:
    """Return a flow's cwnd by time in s, after the warm-up, while nothing is being recovered."""
    series = flows_of(run, flow)
    series = series[series["ca_state"].isin(["open", "disorder"])]
    return pd.Series(series["cwnd_pkts"].to_numpy(), index=series["time_us"].to_numpy() / 1e6)


def epochs(run: Run, flow: int = 0) -> list[pd.Series]:
    """Return the stretches of cwnd between reductions, at least 2 s long."""
    cwnd = cwnd_of(run, flow)
    if cwnd.empty:
        return []
    steps = cwnd.to_numpy()
    # A reduction: cwnd a tenth below what it was a sample ago.
    cuts = np.flatnonzero(steps[1:] < 0.9 * steps[:-1]) + 1
    parts = [cwnd.iloc[list(part)] for part in np.split(np.arange(len(cwnd)), cuts)]
    return [part for part in parts if len(part) > 1 and part.index[-1] - part.index[0] >= 2.0]


def longest_epoch(run: Run, flow: int = 0) -> pd.Series:
    """Return the longest stretch between two reductions, but for the last, which the end cut."""
    found = epochs(run, flow)
    return max(found[:-1] or found, key=lambda part: part.index[-1] - part.index[0])


def growth_halves_pkts(run: Run) -> tuple[float, float]:
    """Return by how many packets cwnd grew in the first and second half of the longest epoch."""
    part = longest_epoch(run)
    middle = (part.index[0] + part.index[-1]) / 2
    halfway = float(part[part.index <= middle].iloc[-1])
    return halfway - float(part.iloc[0]), float(part.iloc[-1]) - halfway
