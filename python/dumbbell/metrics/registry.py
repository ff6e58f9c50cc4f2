"""Every metric by its name, and all of them of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dumbbell.metrics import fairness, throughput
from dumbbell.metrics.metric import Metric
from dumbbell.metrics.observation import Observation
from dumbbell.metrics.warmup import Warmup

if TYPE_CHECKING:
    from dumbbell.run import Run

__all__ = ["METRICS", "measure"]

_ALL = (
    Metric(
        "goodput_bps", "bit/s", "goodput", "higher", "group",
        throughput.goodput_bps, "Mbit/s", 1e-6,
    ),
    Metric("share", "1", "share of goodput", None, "group", throughput.goodput_share, "%", 100),
    Metric("jain", "1", "Jain's index", "higher", "run", fairness.jain_of_flows),
)  # fmt: skip

#: Every metric by its name, in the order of tables.
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _ALL}


def measure(run: Run, warmup: Warmup | None = None) -> list[dict[str, Any]]:
    """Return every metric of a run, a row per group.

    Parameters
    ----------
    run
        The run.
    warmup
        What to leave out of its beginning; see `Metric.of`.

    Returns
    -------
    list of dict
        By group: ``group`` (its index), ``cc``, ``flows``, ``verdict`` (the run's status), and
        every metric of `METRICS` by its name, a number or None. A run's metric is in each row.

    Raises
    ------
    ResultError
        There is a warm-up, and the run has no time series or is not longer than that.
    """
    seen = Observation(run, warmup)
    rows = [
        {
            "group": group["group"],
            "cc": group["cc"],
            "flows": group["flows"],
            "verdict": run.verdict.status,
        }
        for group in seen.groups
    ]
    for metric in METRICS.values():
        value = metric.formula(seen)
        values = value if isinstance(value, list) else [value] * len(rows)
        for row, of_group in zip(rows, values, strict=True):
            row[metric.name] = of_group
    return rows
