"""What models predict about C1 and C4."""

from __future__ import annotations

from dumbbell.models import MODELS
from dumbbell_studies.papers.kakenhi2024.rules import c4_checks, check_c1, unfairness
from dumbbell_studies.papers.kakenhi2024.runs import (
    BUFFERS_BDP,
    C1_FLOWS,
    DEEP_BDP,
    MIXES,
    Alone,
    Mixed,
    scenario,
)
from dumbbell_studies.papers.paper import ModelCheck

__all__ = ["model_checks"]


def model_checks() -> tuple[ModelCheck, ...]:
    """Return what models predict about C1 and C4; C3 is about a model, and L3DR of C2 has none."""
    return many_bbr(), bbr_fca()


def many_bbr() -> ModelCheck:
    """Many BBR flows' buffering delay; the model's does not vary, so its mean is any percentile."""
    model = MODELS["bbr-many"]
    predicted = model.predict(scenario(Alone("bbr", C1_FLOWS, DEEP_BDP), 1))
    delay_ms = predicted.metric("queue_delay_mean_us") / 1e3
    return ModelCheck("C1", model.label, (check_c1(delay_ms),))


def bbr_fca() -> ModelCheck:
    """BBR-FCA's share compared with BBR's, against CUBIC."""
    unfair = {
        cc: unfairness([of_fair(name, Mixed(cc, mix, b)) for mix in MIXES for b in BUFFERS_BDP])
        for name, cc in (("bbr-fca", "bbr_fca"), ("ware", "bbr"))
    }
    return ModelCheck("C4", f"{MODELS['bbr-fca'].label}; {MODELS['ware'].label}", c4_checks(unfair))


def of_fair(model: str, point: Mixed) -> float:
    """Return what a rival's flow gets by a model, over a fair share."""
    rival = MODELS[model].predict(scenario(point, 1)).metric("share", 0)
    return rival / (point.mix[0] / sum(point.mix))
