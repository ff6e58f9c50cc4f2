"""What models predict about the report's findings, by the findings' own rules."""

from __future__ import annotations

from dumbbell.models import MODELS
from dumbbell.papers.kakenhi2024.findings import c4_checks, check_c1, unfairness
from dumbbell.papers.kakenhi2024.points import BUFFERS_BDP, C1_FLOWS, DEEP_BDP, MIXES, Alone, Mixed
from dumbbell.papers.paper import ModelCheck

__all__ = ["model_checks", "of_fair"]


def model_checks() -> tuple[ModelCheck, ...]:
    """Return what models predict about C1 and C4; C3 is about a model, and L3DR of C2 has none."""
    return many_bbr(), bbr_fca()


def many_bbr() -> ModelCheck:
    """Many BBR flows' buffering delay; the model's does not vary, so its mean is any percentile."""
    model = MODELS["bbr-many"]
    predicted = model.predict(Alone("bbr", C1_FLOWS, DEEP_BDP).scenario(1))
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
    scenario = point.scenario(1)
    rival = MODELS[model].predict(scenario).metric("share", 0)
    return rival / (scenario.groups[0].flows / scenario.flow_count)
