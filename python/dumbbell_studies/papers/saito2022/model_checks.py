"""What the model of Copa's equilibrium and lock-in predicts."""

from __future__ import annotations

from dumbbell.models import LOCK_IN_BDP, MODELS
from dumbbell_studies.papers.clauses import at_every
from dumbbell_studies.papers.finding import ClauseResult
from dumbbell_studies.papers.paper import ModelCheck
from dumbbell_studies.papers.saito2022.rules import MANY, ROUNDS_TO_1_GBPS
from dumbbell_studies.papers.saito2022.runs import FLOWS, PAPER_SPREAD, Point, scenario

__all__ = ["model_checks"]


def model_checks() -> tuple[ModelCheck, ...]:
    """Return what the model of Copa's equilibrium and lock-in predicts about B1 and B3.

    It does not predict how long the RTT of flows gets that lock in (B2).
    """
    model = MODELS["copa"]
    predicted = {n: model.predict(scenario(Point(n, PAPER_SPREAD), 1)) for n in FLOWS}
    totals = [each.metric("throughput_bps", 0) / 1e6 for each in predicted.values()]
    throughput = at_every(
        f"a total throughput of {ROUNDS_TO_1_GBPS:g} Mbit/s or more",
        FLOWS,
        [(total,) for total in totals],
        "{:.0f} Mbit/s",
        [total >= ROUNDS_TO_1_GBPS for total in totals],
        unit="flows",
    )
    queues = {n: each.details["start_queue_bdp"] for n, each in predicted.items()}
    locks = tuple(
        ClauseResult(
            f"{n} flows lock in competitive mode: a queue above {LOCK_IN_BDP:g} BDP at the start",
            "{:.2f} BDP",
            (queues[n],),
            queues[n] > LOCK_IN_BDP,
        )
        for n in MANY
    )
    return (
        ModelCheck("B1", model.label, (throughput,)),
        ModelCheck("B3", model.label, locks),
    )
