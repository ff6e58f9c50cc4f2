"""What a model says to the paper's findings, by the findings' own rules."""

from __future__ import annotations

from dumbbell.models import MODELS
from dumbbell.models.copa_equilibrium import LOCK_IN_BDP
from dumbbell.papers.paper import Check, ModelSays
from dumbbell.papers.saito2022.findings import CLOSE_MBPS, FEW, MANY
from dumbbell.papers.saito2022.points import FLOWS, PAPER_SPREAD, Point

__all__ = ["model_says"]


def model_says() -> tuple[ModelSays, ...]:
    """Return what the model of Copa's equilibrium and lock-in says to B1 and B3.

    How long the RTT of flows gets that lock in (B2), it does not say.
    """
    model = MODELS["copa"]
    said = {n: model.predict(Point(n, PAPER_SPREAD).scenario(1)) for n in FLOWS}
    totals = {n: each.metric("goodput_bps", 0) / 1e6 for n, each in said.items()}
    queues = {n: each.details["start_queue_bdp"] for n, each in said.items()}
    return (
        ModelSays(
            "B1",
            model.label,
            tuple(
                Check(f"{n} flows: {total:.0f} ≥ {CLOSE_MBPS:.0f} Mbit/s", total >= CLOSE_MBPS)
                for n, total in totals.items()
            ),
        ),
        ModelSays(
            "B3",
            model.label,
            tuple(lock_in(n, queues[n], wanted=n in MANY) for n in (*FEW, *MANY)),
        ),
    )


def lock_in(flows: int, queue_bdp: float, *, wanted: bool) -> Check:
    """Check whether flows lock in competitive mode."""
    locks = queue_bdp > LOCK_IN_BDP
    relation = ">" if locks else "≤"
    return Check(
        f"{flows} flows {'lock' if locks else 'do not lock'} in competitive mode: they start with "
        f"a queue of {queue_bdp:.2f} {relation} {LOCK_IN_BDP:g} BDP",
        locks == wanted,
    )
