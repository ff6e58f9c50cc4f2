"""Many BBR flows alone: why they over-estimate the bandwidth, and the queue that follows.

BBR takes the largest delivery rate of ten round trips. In a full pipe a flow that probes at 1.25
times its rate gets more than its share:

    r_up = 1.25/(N + 0.25)·c,  M(N) = r_up/(c/N) = 1.25·N/(N + 0.25)

N flows; c link, packets/s; l base RTT, s; q buffer, packets. For one flow the estimate is
right, M(1) = 1; from two flows on the sum of the estimates exceeds c, so the queue grows until the
windows limit it:

    RTT_est = max(l, 4N/c)                     Ware et al. 2019, eq. 6: 4 packets each in PROBE_RTT
    cwnd = ⌈2·c/N·RTT_est⌉ + 3·tso_segs, then even     Linux's bbr_quantization_budget
    tso_segs = max(payload rate >> 10 over the payload of a packet, 1 below 1.2 Mbit/s else 2)
    queue = min(q, N·cwnd - c·l)               0 for N = 1

This holds if all flows are in PROBE_RTT together. If not, a flow measures the others' packets:

    RTT_est' = ((N - 1)/N·W + 4)/c,  W' = 2·c·RTT_est' = 2·(N - 1)/N·W + 8

whose factor is 1 or more from two flows on: each PROBE_RTT raises the windows' sum W, until the
buffer is full. The truth is between the two. Flows do synchronise, because a drained queue
gives all of them a new smallest RTT.

Left out: the spread of the bandwidth estimates when windows limit flows, the term for aggregated
ACKs (from Linux 5.1 on), and the 2 packets that are added while probing. Equation 6 is Ware et
al.'s; the rest is derived here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dumbbell.models.bottleneck import Bottleneck
from dumbbell.models.calculation import Calculation, Column
from dumbbell.models.does_not_apply import DoesNotApply
from dumbbell.models.model import DERIVED, LONG_FLOWS, Headline, Model
from dumbbell.models.prediction import Prediction, algorithm, predict_rates
from dumbbell.models.ware2019 import PROBE_RTT_PKTS
from dumbbell.scenario import Scenario

__all__ = ["MODEL", "BbrManyFlows", "max_filter_bias", "solve"]

#: PROBE_BW's pacing gain while probing.
UP_GAIN = 1.25
CWND_GAIN = 2
#: Linux: bbr_quantization_budget, bbr_min_tso_segs (bit/s), bbr_tso_segs_goal.
QUANTA = 3
MIN_TSO_RATE_BPS = 1_200_000
MAX_TSO_SEGS = 0x7F


@dataclass(frozen=True)
class BbrManyFlows:
    """The model's solution.

    Attributes
    ----------
    bias
        M: a flow's largest delivery rate over its share.
    rtt_est_ms
        The flows' estimate of the base RTT.
    cwnd_pkts
        Each flow's window.
    queue_delay_ms
        Delay of the standing queue if PROBE_RTT is synchronised.
    queue_delay_unsynchronised_ms
        The delay if it is not: that of a full buffer, from two flows on.
    rtt_ms
        Base RTT and `queue_delay_ms`.
    overflows
        Whether the windows exceed pipe and buffer.
    """

    bias: float
    rtt_est_ms: float
    cwnd_pkts: float
    queue_delay_ms: float
    queue_delay_unsynchronised_ms: float
    rtt_ms: float
    overflows: bool


def max_filter_bias(flows: int) -> float:
    """Return M(N): the over-estimate of a flow's share by its largest delivery rate.

    Examples
    --------
    >>> [round(max_filter_bias(n), 3) for n in (1, 2, 10, 128)]
    [1.0, 1.111, 1.22, 1.248]
    """
    return UP_GAIN * flows / (flows + UP_GAIN - 1)


def tso_segs(payload_rate_bps: float, payload_bytes: int) -> int:
    """Return the packets of a burst as Linux sizes it for BBR: about 1 ms of the rate."""
    least = 1 if payload_rate_bps < MIN_TSO_RATE_BPS else 2
    segs = int(payload_rate_bps / 8) // 1024 // payload_bytes
    return min(max(segs, least), MAX_TSO_SEGS)


def window_pkts(bottleneck: Bottleneck, flows: int, rtt_est_s: float) -> int:
    """Return a flow's window: twice its estimate of the BDP plus room for bursts."""
    pkts_per_s = bottleneck.link_pkts_per_s / flows
    segs = tso_segs(8 * pkts_per_s * bottleneck.payload_bytes, bottleneck.payload_bytes)
    # Rounded first, because the last bit of a float could otherwise change the ceiling.
    target = math.ceil(round(CWND_GAIN * pkts_per_s * rtt_est_s, 9)) + QUANTA * segs
    return target + target % 2


def solve(bottleneck: Bottleneck, flows: int) -> BbrManyFlows:
    """Solve the model for N BBR flows that start from an empty queue."""
    c = bottleneck.link_pkts_per_s
    rtt_est_s = max(bottleneck.base_rtt_s, PROBE_RTT_PKTS * flows / c)
    cwnd = window_pkts(bottleneck, flows, rtt_est_s)
    alone = flows == 1
    wanted = 0.0 if alone else max(0.0, flows * cwnd - bottleneck.bdp_pkts)
    delay_s = bottleneck.queue_delay_s(min(wanted, bottleneck.buffer_pkts))
    full_s = bottleneck.queue_delay_s(0.0 if alone else bottleneck.buffer_pkts)
    return BbrManyFlows(
        bias=max_filter_bias(flows),
        rtt_est_ms=1e3 * rtt_est_s,
        cwnd_pkts=cwnd,
        queue_delay_ms=1e3 * delay_s,
        queue_delay_unsynchronised_ms=1e3 * full_s,
        rtt_ms=1e3 * (bottleneck.base_rtt_s + delay_s),
        overflows=wanted > bottleneck.buffer_pkts,
    )


def predict(scenario: Scenario) -> Prediction:
    """Predict BBR flows alone, PROBE_RTT synchronised."""
    if {algorithm(group) for group in scenario.groups} != {"bbr"}:
        raise DoesNotApply("it covers BBR (version 1) alone")
    bottleneck = Bottleneck.from_scenario(scenario)
    solution = solve(bottleneck, scenario.flow_count)
    rates = predict_rates(scenario, bottleneck, [group.flows for group in scenario.groups])
    groups = tuple({**rate, "rtt_mean_us": 1e3 * solution.rtt_ms} for rate in rates)
    link = {"queue_delay_mean_us": 1e3 * solution.queue_delay_ms}
    return Prediction(groups, link, vars(solution))


MODEL = Model(
    name="bbr-many",
    label="BBR windows, PROBE_RTT together",
    title="The queue of many BBR flows",
    source="derived from BBR's rules and Ware et al. 2019, equation 6",
    status=DERIVED,
    help="Queue of many BBR flows (derived).",
    calculations=(
        Calculation(
            {"rate": "100mbit", "rtt": "40ms", "buffer": "10bdp", "flows": "1..128"},
            (
                Column("bias", "largest rate\nover share", "{:.3f}"),
                Column("rtt_est_ms", "RTT_est\nms", "{:.1f}"),
                Column("cwnd_pkts", "cwnd\npkts", "{:.0f}"),
                Column("queue_delay_ms", "queueing delay, ms:\ntogether", "{:.1f}"),
                Column("queue_delay_unsynchronised_ms", "not\ntogether", "{:.1f}"),
                Column("overflows", "overflows"),
            ),
            lambda bottleneck, flows: vars(solve(bottleneck, flows)),
        ),
    ),
    of_scenario=predict,
    covers=LONG_FLOWS,
    headline=Headline(
        "queue_delay_mean_us", None, "mean queueing delay", "ms", 1e-3, is_relative=True
    ),
)
