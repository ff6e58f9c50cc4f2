"""What is measured of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dumbbell.base.quantities import Time
from dumbbell.run import Run
from dumbbell_studies.papers.results import group_values
from dumbbell_studies.papers.saito2022.runs import CAUSE_TIME, Point
from dumbbell_studies.papers.series import flow_series, state_labels

__all__ = ["Means", "Measured", "measure"]

#: How long the runs are that switch a cause off.
EARLY_S = Time.parse(CAUSE_TIME, "time").seconds


class Means(NamedTuple):
    """Means of flow 1 over some of its time.

    Attributes
    ----------
    rtt_ms, inflight_pkts
        Mean RTT and inflight.
    """

    rtt_ms: float
    inflight_pkts: float


@dataclass(frozen=True)
class Measured:
    """One run. Flow 1 is the first.

    Attributes
    ----------
    total_mbps
        Payload that all receivers got, over the whole run.
    rtt_mean_ms
        Of flow 1, over the whole run.
    link_mbps
        What crossed the bottleneck, headers included.
    competitive, default, whole
        Of flow 1, means over its time in either mode (None without any), and over the whole run.
    competitive_share
        Of flow 1's time in competitive mode.
    competitive_late
        The same over the second half of the run.
    all_competitive_at_end
        Of all flows' time over the last quarter of the run.
    all_competitive_early
        Of all flows' time over the last quarter of the first 60 s, which every run has.
    """

    total_mbps: float
    rtt_mean_ms: float
    link_mbps: float
    competitive: Means | None
    default: Means | None
    whole: Means
    competitive_share: float
    competitive_late: float
    all_competitive_at_end: float
    all_competitive_early: float

    @property
    def is_locked(self) -> bool:
        """Whether the flows are in competitive mode for most of the last quarter."""
        return self.all_competitive_at_end > 0.5

    @property
    def is_locked_early(self) -> bool:
        """The same of the first 60 s: what runs of different lengths can be compared by."""
        return self.all_competitive_early > 0.5


def measure(_point: Point, run: Run) -> Measured:
    """Measure a run."""
    time_s, rtt_us, inflight = flow_series(run, 0, "rtt_us", "inflight_pkts")
    end_s = run.scenario.time.seconds
    groups = range(len(run.scenario.groups))
    modes = np.concatenate([state_labels(run, group, "mode") for group in groups]) == "competitive"
    state_s, flow = (
        np.concatenate([np.asarray(run.state(group)[name].to_numpy()) for group in groups])
        for name in ("time_us", "flow")
    )
    state_s = state_s / 1e6
    late = state_s > 0.75 * end_s
    early = (state_s > 0.75 * EARLY_S) & (state_s <= EARLY_S)
    first = flow == 0
    # Both tables are sampled at the same times.
    competitive = np.isin(np.rint(1e6 * time_s), np.rint(1e6 * state_s[first & modes]))
    flows, metric = run.summary["flows"], group_values(run)
    return Measured(
        total_mbps=8 * sum(flow["received_bytes"] for flow in flows) / end_s / 1e6,
        rtt_mean_ms=flows[0]["rtt_mean_us"] / 1e3,
        link_mbps=metric("utilization") * int(run.scenario.rate) / 1e6,
        competitive=means(rtt_us, inflight, competitive),
        default=means(rtt_us, inflight, ~competitive),
        whole=Means(float(np.nanmean(rtt_us)) / 1e3, float(np.nanmean(inflight))),
        competitive_share=share(modes[first]),
        competitive_late=share(modes[first & (state_s > 0.5 * end_s)]),
        all_competitive_at_end=share(modes[late]),
        all_competitive_early=share(modes[early]),
    )


def means(rtt_us: np.ndarray, inflight: np.ndarray, when: np.ndarray) -> Means | None:
    """Return the means over some samples; None where none of them has an RTT."""
    when = when & np.isfinite(rtt_us)
    if not when.any():
        return None
    return Means(float(np.mean(rtt_us[when])) / 1e3, float(np.mean(inflight[when])))


def share(flags: np.ndarray) -> float:
    """Return the share that is set."""
    return float(np.mean(flags)) if flags.size else 0.0
