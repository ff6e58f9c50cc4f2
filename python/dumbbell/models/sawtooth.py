"""The sawtooth of loss-based flows at a drop-tail bottleneck.

n synchronised flows grow together until pipe and buffer are full. Then each loses once and keeps
the share β of its window:

    W = (c·l + q)/n                                peak of one flow's window, packets
    RTT(w) = max(l, n·w/c)                         a queue builds when n·w > c·l
    queue(w) = max(0, n·w - c·l)
    rate(w) = min(c, n·w/l)                        the link idles when n·w < c·l

A law of growth gives the time t(w) at which the window reaches w, from β·W at t = 0. Every mean is
over that time. Derived here, with Reno's law from Mathis et al. (1997) and CUBIC's from RFC 9438.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dumbbell.models.bottleneck import Bottleneck
from dumbbell.models.calculation import Calculation, Column
from dumbbell.models.does_not_apply import DoesNotApply
from dumbbell.models.prediction import Prediction, algorithm, predict_rates
from dumbbell.scenario import Scenario

__all__ = [
    "FloatArray",
    "Law",
    "Sawtooth",
    "calculate_sawtooth",
    "linear_law",
    "predict_alone",
    "sawtooth",
]

FloatArray = npt.NDArray[np.float64]

#: Steps of a sawtooth's period: enough for five correct digits in the means.
STEPS = 4000


@dataclass(frozen=True)
class Sawtooth:
    """A sawtooth, and the means over its period.

    Attributes
    ----------
    peak_pkts
        W: one flow's window when it loses.
    loss_interval_s
        Time between two losses of a flow.
    window_mean_pkts
        One flow's mean window.
    rtt_mean_ms
        Mean RTT.
    queue_delay_mean_ms
        Mean time in the queue.
    utilization
        Mean part of the link that is used.
    """

    peak_pkts: float
    loss_interval_s: float
    window_mean_pkts: float
    rtt_mean_ms: float
    queue_delay_mean_ms: float
    utilization: float


#: The time, s, at which a flow reaches each of its windows, which rise from the smallest.
Law = Callable[[FloatArray], FloatArray]


def sawtooth(
    bottleneck: Bottleneck, flows: int, beta: float, law: Callable[[float], Law]
) -> Sawtooth:
    """Return the sawtooth of flows that share a drop-tail bottleneck.

    Parameters
    ----------
    bottleneck
        c, l and q.
    flows
        n, which all lose together.
    beta
        Share of the window that remains after a loss.
    law
        Returns the law of growth for a peak.
    """
    peak = bottleneck.capacity_pkts / flows
    window = np.linspace(beta * peak, peak, STEPS + 1)
    time_s = law(peak)(window)
    spent_s = np.diff(time_s)
    total = flows * (window[1:] + window[:-1]) / 2
    queue = np.maximum(0.0, total - bottleneck.bdp_pkts)
    used = np.minimum(1.0, total / bottleneck.bdp_pkts)
    duration_s = float(np.sum(spent_s))
    means = [float(np.sum(values * spent_s)) / duration_s for values in (total, queue, used)]
    delay_s = bottleneck.queue_delay_s(means[1])
    return Sawtooth(
        peak_pkts=peak,
        loss_interval_s=duration_s,
        window_mean_pkts=means[0] / flows,
        rtt_mean_ms=1e3 * (bottleneck.base_rtt_s + delay_s),
        queue_delay_mean_ms=1e3 * delay_s,
        utilization=means[2],
    )


def linear_law(bottleneck: Bottleneck, flows: int, alpha: float) -> Law:
    """Return the law of growth by alpha packets per RTT.

    dt = RTT(w)/alpha · dw: the longer the queue, the slower the growth.
    """

    def time_s(window: FloatArray) -> FloatArray:
        middle = (window[1:] + window[:-1]) / 2
        rtt_s = np.maximum(bottleneck.base_rtt_s, flows * middle / bottleneck.link_pkts_per_s)
        steps = np.diff(window) * rtt_s / alpha
        return np.concatenate([[0.0], np.cumsum(steps)])

    return time_s


def predict_alone(
    scenario: Scenario, cc: str, solve: Callable[[Bottleneck, int], Sawtooth]
) -> Prediction:
    """Predict a run of flows of one loss-based congestion control from their sawtooth."""
    if {algorithm(group) for group in scenario.groups} != {cc}:
        raise DoesNotApply(f"it covers {cc} alone")
    bottleneck = Bottleneck.from_scenario(scenario)
    tooth = solve(bottleneck, scenario.flow_count)
    rates = predict_rates(
        scenario, bottleneck, [group.flows for group in scenario.groups], tooth.utilization
    )
    groups = tuple(
        {
            **rate,
            "rtt_mean_us": 1e3 * tooth.rtt_mean_ms,
            "inflight_mean_pkts": group.flows * tooth.window_mean_pkts,
        }
        for rate, group in zip(rates, scenario.groups, strict=True)
    )
    link = {
        "utilization": tooth.utilization,
        "queue_delay_mean_us": 1e3 * tooth.queue_delay_mean_ms,
    }
    return Prediction(groups, link, vars(tooth))


def calculate_sawtooth(solve: Callable[[Bottleneck, int], Sawtooth]) -> Calculation:
    """Return the calculation of loss-based flows that fill a drop-tail buffer."""
    return Calculation(
        {"rate": "10mbit", "rtt": "40ms", "buffer": "1..64bdp", "flows": "1"},
        (
            Column("peak_pkts", "W\npkts", "{:.1f}"),
            Column("window_mean_pkts", "mean window\npkts", "{:.1f}"),
            Column("loss_interval_s", "loss every\ns", "{:.2f}"),
            Column("queue_delay_mean_ms", "queueing delay\nmean ms", "{:.1f}"),
            Column("rtt_mean_ms", "RTT\nmean ms", "{:.1f}"),
            Column("utilization", "utilisation", "{:.3f}"),
        ),
        lambda bottleneck, flows: vars(solve(bottleneck, flows)),
    )
