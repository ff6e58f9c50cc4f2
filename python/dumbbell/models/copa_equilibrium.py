"""Copa flows alone: their equilibrium, its swing, and when they lock each other in.

Symbols: N flows; 1/δ_i the packets that flow i wants in the queue; A = Σ 1/δ_i; c link, packets/s;
l base RTT, s; BDP = c·l.

**Equilibrium.** Each flow's target is λ_i = 1/(δ_i·d_q). When the flows fill the link, Σ λ_i = c:

    d_q = A/c,  queue = A packets,  λ_i = c·(1/δ_i)/A
    utilisation A/(1 + A): 2N/(2N + 1) with δ = 0.5      (M/M/1, Copa §3.1)

**Swing.** With an RTT near the base RTT the queue goes from 0 to 2.5·A packets in 5 RTT (Copa
§3.2).

**Lock-in.** A flow leaves competitive mode when it sees a nearly empty queue, and in competitive
mode 1/δ grows with each RTT without loss. The swing around A gets smaller as queue over window
grows: from A/(BDP + A) of about 0.3 on the queue is never empty, no flow leaves, and 1/δ goes on
growing:

    A > κ·BDP locks, κ about 0.4 (edges observed at 0.36 to 0.58)
    N_crit = κ·BDP/D_start

D_start is 1/δ at the end of the start. ccp_copa starts in competitive mode for 20 base RTTs and
ends that with a 1/δ of about 20 (measured once, 40 ms, 1 Gbit/s); it counts reports, not RTTs.
While nothing is lost, locked flows raise the queue no faster than

    (l + d_q)·dd_q = 2·N/c·dt,  so  d_q(t) = √(l² + 4·N·t/c) - l

Source: equilibrium, swing and utilisation: Arun and Balakrishnan, "Copa: Practical Delay-Based
Congestion Control for the Internet", NSDI 2018, §3. Lock-in and its constants: derived here,
from an unpublished study of a single queue. docs/models.md compares them with dumbbell's simulator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dumbbell.models.bottleneck import Bottleneck
from dumbbell.models.calculation import Calculation, Column, Factor
from dumbbell.models.does_not_apply import DoesNotApply
from dumbbell.models.model import DERIVED, LONG_FLOWS, Headline, Model
from dumbbell.models.prediction import Prediction, algorithm, predict_rates
from dumbbell.scenario import Group, Scenario

__all__ = [
    "DEFAULT_INV_DELTA",
    "LOCK_IN_BDP",
    "LOCK_IN_EDGES_BDP",
    "MODEL",
    "START_INV_DELTA",
    "CopaEquilibrium",
    "critical_flows",
    "locked_queue_delay_s",
    "solve",
]

#: 1/δ in default mode, packets: δ = 0.5.
DEFAULT_INV_DELTA = 2.0
#: The queue's swing over A (Copa §3.2), and its period in RTTs.
SWING = 2.5
PERIOD_RTTS = 5
#: κ, and the smallest and the largest edge that was observed, BDP.
LOCK_IN_BDP = 0.4
LOCK_IN_EDGES_BDP = (0.36, 0.58)
#: 1/δ at the end of ccp_copa's competitive start.
START_INV_DELTA = 20.0


@dataclass(frozen=True)
class CopaEquilibrium:
    """The model's solution.

    Attributes
    ----------
    queue_pkts
        A: the mean queue in default mode.
    queue_delay_ms
        Delay of the mean queue.
    swing_ms
        The queue's largest delay in a cycle.
    period_ms
        Duration of a cycle.
    utilization
        Of the link.
    start_queue_bdp
        The queue that the flows want at the end of a competitive start, N·D_start, over the BDP.
    lock_in
        ``no``, ``likely``, or, between the edges that were observed, ``unclear``.
    """

    queue_pkts: float
    queue_delay_ms: float
    swing_ms: float
    period_ms: float
    utilization: float
    start_queue_bdp: float
    lock_in: str


def solve(
    bottleneck: Bottleneck,
    flows: int,
    inv_delta: float = DEFAULT_INV_DELTA,
    start_inv_delta: float = START_INV_DELTA,
) -> CopaEquilibrium:
    """Return the equilibrium of equal flows, and whether they reach it.

    Parameters
    ----------
    bottleneck
        c and l; the buffer must hold the swing.
    flows
        N.
    inv_delta
        1/δ in default mode, packets.
    start_inv_delta
        D_start: 1/δ when the competitive start ends.
    """
    total = flows * inv_delta
    delay_s = bottleneck.queue_delay_s(total)
    start_bdp = flows * start_inv_delta / bottleneck.bdp_pkts
    low, high = LOCK_IN_EDGES_BDP
    return CopaEquilibrium(
        queue_pkts=total,
        queue_delay_ms=1e3 * delay_s,
        swing_ms=1e3 * SWING * delay_s,
        period_ms=1e3 * PERIOD_RTTS * (bottleneck.base_rtt_s + delay_s),
        utilization=total / (1 + total),
        start_queue_bdp=start_bdp,
        lock_in="no" if start_bdp < low else "likely" if start_bdp > high else "unclear",
    )


def critical_flows(
    bottleneck: Bottleneck,
    start_inv_delta: float = START_INV_DELTA,
    lock_in_bdp: float = LOCK_IN_BDP,
) -> float:
    """Return N_crit: more flows than this lock in.

    Examples
    --------
    >>> round(critical_flows(Bottleneck.of("1gbit", "40ms", "64bdp")))
    66
    """
    return lock_in_bdp * bottleneck.bdp_pkts / start_inv_delta


def locked_queue_delay_s(bottleneck: Bottleneck, flows: int, time_s: float) -> float:
    """Return an upper bound of the queueing delay after a time locked in without loss."""
    base_s = bottleneck.base_rtt_s
    return math.sqrt(base_s**2 + 4 * flows * time_s / bottleneck.link_pkts_per_s) - base_s


def default_inv_delta(group: Group) -> float:
    """Return a group's 1/δ in default mode."""
    return float(group.cc.params.get("default_inv_delta", DEFAULT_INV_DELTA))


def predict(scenario: Scenario) -> Prediction:
    """Predict Copa flows alone in default mode."""
    if {algorithm(group) for group in scenario.groups} != {"copa"}:
        raise DoesNotApply("it covers Copa alone")
    bottleneck = Bottleneck.from_scenario(scenario)
    parts = [group.flows * default_inv_delta(group) for group in scenario.groups]
    mean_inv_delta = sum(parts) / scenario.flow_count
    solution = solve(bottleneck, scenario.flow_count, mean_inv_delta)
    if SWING * solution.queue_pkts > bottleneck.buffer_pkts:
        raise DoesNotApply("the buffer does not hold the queue's swing")
    rtt_mean_us = 1e6 * bottleneck.base_rtt_s + 1e3 * solution.queue_delay_ms
    rates = predict_rates(scenario, bottleneck, parts, solution.utilization)
    details = {key: value for key, value in vars(solution).items() if key != "lock_in"}
    return Prediction(
        tuple({**rate, "rtt_mean_us": rtt_mean_us} for rate in rates),
        {
            "utilization": solution.utilization,
            "queue_delay_mean_us": 1e3 * solution.queue_delay_ms,
        },
        details,
    )


MODEL = Model(
    name="copa",
    label="Copa's equilibrium",
    title="Copa's queue in default mode, its swing, and when flows lock in",
    source="Arun, Balakrishnan: Copa, NSDI 2018, §3; lock-in derived",
    status=DERIVED,
    help="Copa's equilibrium and swing in default mode; lock-in (derived).",
    calculations=(
        Calculation(
            {"rate": "1gbit", "rtt": "40ms", "flows": "16..128"},
            (
                Column("queue_pkts", "mean queue\npkts", "{:.0f}"),
                Column("queue_delay_ms", "queueing delay\nmean ms", "{:.2f}"),
                Column("swing_ms", "largest\nms", "{:.2f}"),
                Column("period_ms", "period\nms", "{:.0f}"),
                Column("utilization", "utilisation", "{:.4f}"),
                Column("start_queue_bdp", "start wants\nBDP", "{:.2f}"),
                Column("lock_in", "locks in"),
                Column("critical_flows", "N_crit", "{:.0f}"),
            ),
            lambda bottleneck, flows, inv_delta, start_inv_delta: {
                **vars(solve(bottleneck, flows, inv_delta, start_inv_delta)),
                "critical_flows": critical_flows(bottleneck, start_inv_delta),
            },
            (
                Factor("inv_delta", DEFAULT_INV_DELTA, "1/δ in default mode, packets.", 0.01, 1e6),
                Factor(
                    "start_inv_delta",
                    START_INV_DELTA,
                    "1/δ when the competitive start ends.",
                    0.01,
                    1e6,
                ),
            ),
            fixed={"buffer": "64bdp"},
        ),
    ),
    of_scenario=predict,
    covers=LONG_FLOWS,
    headline=Headline(
        "queue_delay_mean_us", None, "mean queueing delay", "ms", 1e-3, is_relative=True
    ),
)
