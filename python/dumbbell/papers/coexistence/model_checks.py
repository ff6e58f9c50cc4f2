"""What models predict about the experiment's findings, by the findings' own rules."""

from __future__ import annotations

from dumbbell.models import MODELS
from dumbbell.papers.coexistence.findings import d1, d2
from dumbbell.papers.coexistence.points import BUFFERS_BDP, Point
from dumbbell.papers.paper import ModelCheck

__all__ = ["model_checks"]


def model_checks() -> tuple[ModelCheck, ...]:
    """Return what models predict about D1 and D2; none predicts the timeouts of D3."""
    alone = [mbps("bbr-many", Point(with_cubic=False, buffer_bdp=b), 0) for b in BUFFERS_BDP]
    points = [Point(with_cubic=True, buffer_bdp=buffer) for buffer in BUFFERS_BDP]
    bbr, cubic = ([mbps("ware", point, group) for point in points] for group in (0, 1))
    ware = MODELS["ware"].label
    return (
        ModelCheck("D1", f"{MODELS['bbr-many'].label}; {ware}", d1(BUFFERS_BDP, alone, bbr)),
        ModelCheck("D2", ware, d2(BUFFERS_BDP, bbr, cubic)),
    )


def mbps(model: str, point: Point, group: int) -> float:
    """Return a group's goodput by a model."""
    return MODELS[model].predict(point.scenario(1)).metric("goodput_bps", group) / 1e6
