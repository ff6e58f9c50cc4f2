"""Ware, Mukerjee, Seshan, Sherry 2019: how much of a link BBR takes from loss-based flows.

Under competition BBR is limited not by its pacing rate but by its window: twice the product of its
estimates of bandwidth and RTT. BBR estimates the RTT in PROBE_RTT, when the competitors'
packets are still in the queue, and that estimate determines BBR's share.

Symbols: N BBR flows; q buffer, packets; c link, packets/s; l base RTT, s; X = q/(c·l); d time the
flows compete after they converged, s; p the total share of the loss-based flows, so BBR's is 1 - p.

    inflight_cap = 2 · RTT_est · Btlbw_est                                             (1)
    Btlbw_est = (1 - p)·c                                                              (2)
    RTT_est = p·q/c                          one BBR flow, q ≫ c·l                     (3)
    inflight_cap = 2·p·(1 - p)·q                                                       (4)
    inflight_cap = (1 - p)·q  ⇒  p = 1/2                                               (5)
    RTT_est = max(l, (4N - c·l)/c + l)       BBR flows alone                           (6)
    RTT_est = (p·q + 4N)/c + l               with loss-based flows                     (7)
    inflight_cap = 2·(1 - p)·c·((p·q + 4N)/c + l)                                      (8)
    p = max(0, 1/2 - 1/(2X) - 4N/q)          from inflight_cap = (1 - p)·(q + c·l)     (9)
    BBR's fraction = (1 - p)·(d - Probe_time)/d                                        (10)
    Probe_time = (q/c + 0.2 + l)·d/10                                                  (11)

Linux adds room for bursts to each window, k = 3·tso_segs packets and rounding, which (8) leaves
out. With it, (9) becomes the root of a quadratic equation (`burst_pkts`; derived here; 0 gives the
paper's model).

Assumptions: BBR version 1, CUBIC or Reno, unlimited data, one base RTT, packets of one size, a
queue that is always full (so that throughput is shared like the queue), and flows that start,
probe and lose together. The number of loss-based flows does not matter. d cancels: (10) and (11)
give (1 - p)·(1 - (q/c + 0.2 + l)/10).

Source: "Modeling BBR's Interactions with Loss-Based Congestion Control", IMC 2019.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dumbbell.models.bottleneck import Bottleneck
from dumbbell.models.calculation import Calculation, Column, Factor
from dumbbell.models.does_not_apply import DoesNotApply
from dumbbell.models.model import LONG_FLOWS, PUBLISHED, Headline, Model
from dumbbell.models.prediction import Prediction, algorithm, predict_rates
from dumbbell.scenario import Scenario

__all__ = ["MODEL", "Ware2019", "solve"]

#: Packets that a flow keeps in flight in PROBE_RTT (BBRMinPipeCwnd).
PROBE_RTT_PKTS = 4
#: Duration of PROBE_RTT, and the interval between two, s.
PROBE_RTT_S = 0.2
PROBE_RTT_INTERVAL_S = 10.0

LOSS_BASED = frozenset({"cubic", "reno"})


@dataclass(frozen=True)
class Ware2019:
    """The model's solution.

    Attributes
    ----------
    loss_based_share
        p of equation 9: the queue's share of the loss-based flows.
    rtt_est_ms
        RTT_est of equation 7: BBR's estimate of the base RTT.
    inflight_cap_pkts
        Equation 8, of all BBR flows.
    probe_time_share
        Probe_time / d of equation 11.
    bbr_share
        BBR's fraction of the link, equation 10, of all BBR flows.
    """

    loss_based_share: float
    rtt_est_ms: float
    inflight_cap_pkts: float
    probe_time_share: float
    bbr_share: float


def solve(bottleneck: Bottleneck, bbr_flows: int, burst_pkts: float = 0) -> Ware2019:
    """Solve the extended model for BBR flows against one or more loss-based ones.

    Parameters
    ----------
    bottleneck
        c, l and q.
    bbr_flows
        N.
    burst_pkts
        k: packets that each BBR window has beyond twice its BDP; the paper's model has none.

    Examples
    --------
    A deep buffer, without PROBE_RTT: one flow tends to one half (equation 5).

    >>> deep = solve(Bottleneck.of("10mbit", "40ms", "1000000pkt"), 1)
    >>> round(deep.loss_based_share, 3)
    0.5
    """
    c, l, q = bottleneck.link_pkts_per_s, bottleneck.base_rtt_s, bottleneck.buffer_pkts  # noqa: E741
    probing_pkts = PROBE_RTT_PKTS * bbr_flows
    # Equation 9; with bursts the root of 2·q·(1-p)² - (q + c·l + 8N)·(1-p) - N·k = 0.
    linear = q + c * l + 2 * probing_pkts
    root = linear + math.sqrt(linear**2 + 8 * q * bbr_flows * burst_pkts)
    p = max(0.0, 1 - root / (4 * q))
    rtt_est_s = (p * q + probing_pkts) / c + l
    probe_time_share = min(1.0, (q / c + PROBE_RTT_S + l) / PROBE_RTT_INTERVAL_S)
    return Ware2019(
        loss_based_share=p,
        rtt_est_ms=1e3 * rtt_est_s,
        inflight_cap_pkts=2 * (1 - p) * c * rtt_est_s + bbr_flows * burst_pkts,
        probe_time_share=probe_time_share,
        bbr_share=(1 - p) * (1 - probe_time_share),
    )


def predict(scenario: Scenario) -> Prediction:
    """Predict the shares of BBR and loss-based flows.

    The share of each kind is split evenly over its flows.
    """
    kinds = [algorithm(group) for group in scenario.groups]
    if not set(kinds) <= LOSS_BASED | {"bbr"}:
        raise DoesNotApply("it covers BBR (version 1) against CUBIC or Reno")
    bbr_flows = count(scenario, kinds, {"bbr"})
    loss_based_flows = count(scenario, kinds, LOSS_BASED)
    if not bbr_flows or not loss_based_flows:
        raise DoesNotApply("it needs both BBR and loss-based flows")
    if len(set(kinds) & LOSS_BASED) > 1:
        raise DoesNotApply("it does not distinguish CUBIC from Reno")
    bottleneck = Bottleneck.from_scenario(scenario)
    solution = solve(bottleneck, bbr_flows)
    parts = [
        group.flows
        * (
            solution.bbr_share / bbr_flows
            if kind == "bbr"
            else (1 - solution.bbr_share) / loss_based_flows
        )
        for group, kind in zip(scenario.groups, kinds, strict=True)
    ]
    return Prediction(
        groups=predict_rates(scenario, bottleneck, parts),
        details=vars(solution),
    )


def count(scenario: Scenario, kinds: list[str], wanted: frozenset[str] | set[str]) -> int:
    """Count the flows of some congestion control algorithms."""
    return sum(
        group.flows for group, kind in zip(scenario.groups, kinds, strict=True) if kind in wanted
    )


def row(bottleneck: Bottleneck, bbr_flows: int, burst_pkts: float) -> dict[str, float]:
    """Return the solution, with shares in percent."""
    solution = vars(solve(bottleneck, bbr_flows, burst_pkts))
    return {
        **solution,
        "bbr_share_pct": 100 * solution["bbr_share"],
        "probe_time_pct": 100 * solution["probe_time_share"],
    }


MODEL = Model(
    name="ware",
    label="Ware et al. 2019",
    title="BBR's share against loss-based flows",
    source="Ware, Mukerjee, Seshan, Sherry: Modeling BBR's Interactions with Loss-Based "
    "Congestion Control, IMC 2019, equations 1-11",
    status=PUBLISHED,
    help="BBR flows (--flows) against loss-based ones: Ware et al. 2019.",
    calculations=(
        Calculation(
            {"rate": "10mbit", "rtt": "40ms", "buffer": "1..64bdp", "flows": "1"},
            (
                Column("bbr_share_pct", "BBR's share\n%", "{:.1f}"),
                Column("loss_based_share", "p", "{:.3f}"),
                Column("rtt_est_ms", "RTT_est\nms", "{:.1f}"),
                Column("inflight_cap_pkts", "inflight cap\npkts", "{:.0f}"),
                Column("probe_time_pct", "PROBE_RTT\n% of time", "{:.1f}"),
            ),
            row,
            (
                Factor(
                    "burst_pkts",
                    0,
                    "Packets that each BBR window has beyond twice its BDP: 3 and more in Linux, "
                    "none in the paper.",
                    0,
                    1e6,
                ),
            ),
        ),
    ),
    of_scenario=predict,
    covers=LONG_FLOWS,
    headline=Headline("share", 0, "BBR's share", "%", 100, is_relative=False),
)
