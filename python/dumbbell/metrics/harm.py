"""What competition costs flows, compared with having the bottleneck to themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from dumbbell.base.errors import ResultError
from dumbbell.metrics.metric import METRICS
from dumbbell.metrics.registry import measure
from dumbbell.metrics.warmup import Warmup

if TYPE_CHECKING:
    from dumbbell.run import Run

__all__ = ["harm", "harm_of"]

#: Metrics of a group that one way is better of: harm is done to these.
HARMED = tuple(
    name for name, metric in METRICS.items() if metric.per == "group" and metric.better is not None
)


def harm_of(
    solo: float | None, competing: float | None, better: Literal["higher", "lower"]
) -> float | None:
    """Harm in one metric: the part of the solo performance that competing takes away.

    With x alone and y among others: (x - y) / x where more is better, (y - x) / y where less is.
    0 is no harm and 1 a total loss; below 0, competing helped.

    Returns
    -------
    float or None
        None where a value is not known; 0 where both are 0.

    References
    ----------
    Ware, Mukerjee, Seshan, Sherry: "Beyond Jain's fairness index: setting the bar for the
    deployment of congestion control algorithms", HotNets 2019.
    """
    if solo is None or competing is None:
        return None
    base = solo if better == "higher" else competing
    loss = solo - competing if better == "higher" else competing - solo
    if base == 0:
        return 0.0 if loss == 0 else None
    return loss / base


def harm(run: Run, solo: Run, warmup: Warmup | None = None) -> list[dict[str, Any]]:
    """Return the harm that a run does to the flows of another in which they were alone.

    Parameters
    ----------
    run
        The run with competition.
    solo
        A run of one of its groups alone, at the same bottleneck: as many flows of the same
        congestion control.
    warmup
        What to leave out of the start of both runs.

    Returns
    -------
    list of dict
        A row for each of the run's groups that equals the one of `solo`: ``group``, ``cc``, and the
        harm in every group metric for which one way is better, by `harm_of`.

    Raises
    ------
    ResultError
        `solo` has several groups, or none of the run's groups equals its one.

    Examples
    --------
    >>> import dumbbell
    >>> from dumbbell.metrics import harm
    >>> alone = dumbbell.run(dumbbell.Scenario(["cubic"], time="2s"))
    >>> with_bbr = dumbbell.run(dumbbell.Scenario(["bbr", "cubic"], time="2s"))
    >>> [(row["group"], row["goodput_bps"] > 0) for row in harm(with_bbr, alone)]
    [(1, True)]
    """
    reference, *others = measure(solo, warmup)
    if others:
        raise ResultError(
            f"harm needs a run of one group alone, but this one has {1 + len(others)}: "
            f"{', '.join(solo.scenario.group_labels)}"
        )
    rows = [
        harm_row(row, reference)
        for row in measure(run, warmup)
        if (row["cc"], row["flows"]) == (reference["cc"], reference["flows"])
    ]
    if not rows:
        raise ResultError(
            f"the run with competition has no group of {reference['flows']} × "
            f"`{reference['cc']}` like the run of that group alone"
        )
    return rows


def harm_row(competing: Mapping[str, Any], solo: Mapping[str, Any]) -> dict[str, Any]:
    """Return the harm in each metric, of two rows of `measure`."""
    harms = {
        name: harm_of(solo[name], competing[name], better)
        for name in HARMED
        if (better := METRICS[name].better) is not None
    }
    return {"group": competing["group"], "cc": competing["cc"], **harms}
