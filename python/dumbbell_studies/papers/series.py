"""Time series from a run's tables, as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dumbbell.figures import to_floats
from dumbbell.run import Run

__all__ = ["first_flow", "flow_series", "share_of_time", "state_labels"]

FloatArray = npt.NDArray[np.float64]


def first_flow(run: Run, group: int) -> int:
    """Return the number of a group's first flow."""
    return sum(before.flows for before in run.scenario.groups[:group])


def flow_series(run: Run, flow: int, *columns: str) -> tuple[FloatArray, ...]:
    """Return the time in seconds and columns of the `flows` table for one flow.

    Parameters
    ----------
    run
        The run.
    flow
        Number of the flow.
    columns
        Names of columns; missing values become NaN.
    """
    import pyarrow.compute as pc

    table = run.flows.select(["flow", *dict.fromkeys(["time_us", *columns])])
    rows = table.filter(pc.equal(table["flow"], flow))
    time_s = to_floats(rows["time_us"]) / 1e6
    return (time_s, *(to_floats(rows[column]) for column in columns))


def share_of_time(run: Run, group: int, column: str, label: str) -> float:
    """Return the share of the samples of all the group's flows in a state.

    Parameters
    ----------
    run
        The run.
    group
        Index of the group.
    column
        A state series with labels: Copa's ``mode``.
    label
        One of them: ``default``.
    """
    values = state_labels(run, group, column)
    return float(np.mean(values == label)) if values.size else 0.0


def state_labels(run: Run, group: int, column: str) -> npt.NDArray[Any]:
    """Return a state series as its labels: ``default``, ``competitive``, …"""
    values = run.state(group)[column].combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_string(values.type):
        # A Python string for each sample would take longer than the run.
        encoded = values.dictionary_encode(null_encoding="encode")
        names, numbers = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
    else:
        series = {entry.name: entry for entry in run.series(group)}
        names, numbers = series[column].labels, to_floats(values).astype(int)
    labels: npt.NDArray[Any] = np.asarray(names, dtype=str)[numbers]
    return labels
