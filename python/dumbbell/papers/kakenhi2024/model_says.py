"""What models say to the report's findings, by the findings' own rules."""

from __future__ import annotations

from dumbbell.models import MODELS
from dumbbell.papers.kakenhi2024.findings import MODEL_CORRELATION, SEVERAL_HUNDRED_MS, unfairness
from dumbbell.papers.kakenhi2024.points import (
    BUFFERS_BDP,
    DEEP_BDP,
    FLOW_COUNTS,
    MIXES,
    Alone,
    Mixed,
)
from dumbbell.papers.paper import Check, ModelSays
from dumbbell.statistics import spearman

__all__ = ["model_says", "of_fair"]


def model_says() -> tuple[ModelSays, ...]:
    """Return what models say to C1 and C4; C3 is of a model itself, and L3DR of C2 has none."""
    return many_bbr(), bbr_fca()


def many_bbr() -> ModelSays:
    """Many BBR flows' buffering delay."""
    model = MODELS["bbr-many"]
    delays = [
        model.predict(Alone("bbr", n, DEEP_BDP).scenario(1)).metric("queue_delay_mean_us") / 1e3
        for n in FLOW_COUNTS
    ]
    return ModelSays(
        "C1",
        model.label,
        (
            Check(
                f"{FLOW_COUNTS[-1]} flows in {DEEP_BDP:g} BDP: mean queueing {delays[-1]:.0f} ms "
                f"≥ {SEVERAL_HUNDRED_MS:.0f} ms",
                delays[-1] >= SEVERAL_HUNDRED_MS,
            ),
            Check(
                f"{delays[0]:.0f} ms with {FLOW_COUNTS[0]} flow, and more with more flows",
                spearman(FLOW_COUNTS, delays) >= MODEL_CORRELATION,
            ),
        ),
    )


def bbr_fca() -> ModelSays:
    """BBR-FCA's share beside BBR's, against CUBIC."""
    ours, bbr = (
        unfairness([of_fair(name, Mixed(cc, mix, b)) for mix in MIXES for b in BUFFERS_BDP])
        for name, cc in (("bbr-fca", "bbr_fca"), ("ware", "bbr"))
    )
    return ModelSays(
        "C4",
        f"{MODELS['bbr-fca'].label}; {MODELS['ware'].label}",
        (
            Check(
                f"a BBR-FCA flow's share is off a fair one by a factor {ours:.2f}, less than the "
                f"{bbr:.2f} of BBR",
                ours < bbr,
            ),
        ),
    )


def of_fair(model: str, point: Mixed) -> float:
    """Return what a rival's flow gets by a model, over a fair share."""
    scenario = point.scenario(1)
    rival = MODELS[model].predict(scenario).metric("share", 0)
    return rival / (scenario.groups[0].flows / scenario.flow_count)
