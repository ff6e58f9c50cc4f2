"""BBR-FCA's reconstruction against CUBIC: the fixed point, and when the iteration is stable.

A BBR-FCA flow measures the time T between losses and moves to the mean window of a CUBIC flow with
that T, W_avg(T) (`cubic_interval`):

    w ← (1 - θ)·w + θ·W_avg(T)          once per loss event

Symbols: N_B BBR-FCA flows of window w; N_C synchronised CUBIC flows; Q = c·l + q, the packets
that pipe and buffer hold; a = W_avg/W_max of CUBIC: 0.925, or 0.85 in the Reno-friendly region.
CUBIC fills what is left, and loses at

    W_max = (Q - N_B·w)/N_C

    fixed point    w* = a·Q/(N_C + a·N_B) = a·W_max: CUBIC's mean window, for any buffer
    slope          dW_avg/dw = -a·N_B/N_C: undamped (θ = 1) it diverges for N_B > N_C/a
    contraction    1 - θ·(1 + a·N_B/N_C) per loss event; stable for θ < 2/(1 + a·N_B/N_C)

An error ε of T becomes (1 + ε)³ - 1 of the window: +20 % becomes +73 %.

Assumptions: synchronised losses that both kinds see; a queue that depends only on the windows;
no PROBE_RTT, no up-phase. Derived here: a reconstruction of Utsumi and Hasegawa's BBR-FCA (IFIP
Networking 2022), whose formulas are in no text we have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dumbbell.models import cubic_interval
from dumbbell.models.bottleneck import Bottleneck
from dumbbell.models.calculation import Calculation, Column, Factor
from dumbbell.models.does_not_apply import DoesNotApply
from dumbbell.models.model import DERIVED, LONG_FLOWS, Headline, Model
from dumbbell.models.prediction import Prediction, algorithm, predict_rates
from dumbbell.scenario import Scenario

__all__ = ["MODEL", "BbrFca", "fixed_point_pkts", "iterate", "solve", "theta_limit"]

#: W_avg/W_max: of the cubic curve, and in the Reno-friendly region (`cubic_interval`).
CUBIC_MEAN = (3 + cubic_interval.BETA) / 4
FRIENDLY_MEAN = (1 + cubic_interval.BETA) / 2
#: A weight of the reconstruction that is stable up to 16 times as many BBR-FCA as CUBIC flows.
DEFAULT_THETA = 0.125


@dataclass(frozen=True)
class BbrFca:
    """The model's solution.

    Attributes
    ----------
    window_pkts
        w*: the window of a BBR-FCA flow at the fixed point.
    cubic_peak_pkts
        W_max of a CUBIC flow there.
    loss_interval_s
        T there.
    reno_friendly
        Whether CUBIC is in its Reno-friendly region.
    share
        Of the BBR-FCA flows together.
    contraction
        The remaining part of a deviation after a loss event; beyond -1 it grows.
    theta_limit
        Weights below this are stable.
    stable
        Whether θ is stable.
    """

    window_pkts: float
    cubic_peak_pkts: float
    loss_interval_s: float
    reno_friendly: bool
    share: float
    contraction: float
    theta_limit: float
    stable: bool


def fixed_point_pkts(
    capacity_pkts: float, bbr_flows: int, cubic_flows: int, mean: float = CUBIC_MEAN
) -> float:
    """Return w*: the window that is CUBIC's mean when both fill Q.

    Examples
    --------
    One flow each, Q = 385 packets: 0.925·385/1.925.

    >>> round(fixed_point_pkts(385, 1, 1), 6)
    185.0
    """
    return mean * capacity_pkts / (cubic_flows + mean * bbr_flows)


def theta_limit(bbr_flows: int, cubic_flows: int, mean: float = CUBIC_MEAN) -> float:
    """Return the weight from which on the iteration no longer converges."""
    return 2 / (1 + mean * bbr_flows / cubic_flows)


def iterate(
    window_pkts: float,
    capacity_pkts: float,
    bbr_flows: int,
    cubic_flows: int,
    theta: float = DEFAULT_THETA,
) -> float:
    """Return the window after a loss event: one step of the iteration, CUBIC's own curve."""
    peak = max(0.0, capacity_pkts - bbr_flows * window_pkts) / cubic_flows
    return (1 - theta) * window_pkts + theta * CUBIC_MEAN * peak


def solve(
    bottleneck: Bottleneck, bbr_flows: int, cubic_flows: int, theta: float = DEFAULT_THETA
) -> BbrFca:
    """Solve the model.

    Parameters
    ----------
    bottleneck
        c, l and q.
    bbr_flows, cubic_flows
        N_B and N_C.
    theta
        θ: the weight of the latest loss event.
    """
    capacity = bottleneck.capacity_pkts
    rtt_s = bottleneck.rtt_s(capacity)
    for mean in (CUBIC_MEAN, FRIENDLY_MEAN):
        window = fixed_point_pkts(capacity, bbr_flows, cubic_flows, mean)
        peak = window / mean
        cubic_s = math.cbrt((1 - cubic_interval.BETA) * peak / cubic_interval.C)
        friendly_s = (1 - cubic_interval.BETA) * peak * rtt_s / cubic_interval.ALPHA
        if cubic_s <= friendly_s:
            break
    ratio = mean * bbr_flows / cubic_flows
    contraction = 1 - theta * (1 + ratio)
    return BbrFca(
        window_pkts=window,
        cubic_peak_pkts=peak,
        loss_interval_s=min(cubic_s, friendly_s),
        reno_friendly=mean == FRIENDLY_MEAN,
        share=bbr_flows / (bbr_flows + cubic_flows),
        contraction=contraction,
        theta_limit=2 / (1 + ratio),
        stable=abs(contraction) < 1,
    )


def predict(scenario: Scenario) -> Prediction:
    """Predict BBR-FCA against CUBIC at the fixed point, where all flows get the same share."""
    kinds = [algorithm(group) for group in scenario.groups]
    if set(kinds) != {"bbr_fca", "cubic"}:
        raise DoesNotApply("it covers BBR-FCA against CUBIC")
    bottleneck = Bottleneck.from_scenario(scenario)
    flows = {
        name: sum(g.flows for g, kind in zip(scenario.groups, kinds, strict=True) if kind == name)
        for name in ("bbr_fca", "cubic")
    }
    solution = solve(bottleneck, flows["bbr_fca"], flows["cubic"])
    parts = [group.flows for group in scenario.groups]
    details = {key: float(value) for key, value in vars(solution).items()}
    return Prediction(predict_rates(scenario, bottleneck, parts), details=details)


MODEL = Model(
    name="bbr-fca",
    label="BBR-FCA fixed point",
    title="The window that makes BBR-FCA fair to CUBIC, and the weight up to which it is stable",
    source="derived; reconstruction of Utsumi and Hasegawa's BBR-FCA, IFIP Networking 2022",
    status=DERIVED,
    help="BBR-FCA (--flows) against CUBIC (--rivals): fixed point, stability (derived).",
    calculations=(
        Calculation(
            {
                "rate": "50mbit",
                "rtt": "40ms",
                "buffer": "1..32bdp",
                "flows": "1,4",
                "rivals": "1,4",
            },
            (
                Column("rivals", "CUBIC\nflows"),
                Column("window_pkts", "window\npkts", "{:.1f}"),
                Column("cubic_peak_pkts", "CUBIC's W_max\npkts", "{:.1f}"),
                Column("loss_interval_s", "T\ns", "{:.2f}"),
                Column("reno_friendly", "Reno-friendly"),
                Column("contraction", "left of a\ndeviation", "{:.2f}"),
                Column("theta_limit", "θ below", "{:.3f}"),
                Column("stable", "stable"),
            ),
            lambda bottleneck, flows, rivals, theta: vars(solve(bottleneck, flows, rivals, theta)),
            (Factor("theta", DEFAULT_THETA, "θ: the latest loss event's weight.", 0, 1),),
        ),
    ),
    of_scenario=predict,
    covers=LONG_FLOWS,
    headline=Headline("share", 0, "BBR-FCA's share", "%", 100, is_relative=False),
)
