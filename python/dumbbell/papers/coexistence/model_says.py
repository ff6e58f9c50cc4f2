"""What models say to the experiment's findings, by the findings' own rules."""

from __future__ import annotations

from dumbbell.models import MODELS
from dumbbell.papers.coexistence.findings import HIGH_MBPS
from dumbbell.papers.coexistence.points import BUFFERS_BDP, Point
from dumbbell.papers.paper import Check, ModelSays
from dumbbell.papers.trend import falls

__all__ = ["model_says"]


def model_says() -> tuple[ModelSays, ...]:
    """Return what models say to D1 and D2; none knows of the timeouts of D3."""
    return alone(), against_cubic()


def alone() -> ModelSays:
    """BBR alone."""
    model = MODELS["bbr-many"]
    least = min(mbps(model.name, Point(with_cubic=False, buffer_bdp=b), 0) for b in BUFFERS_BDP)
    text = f"BBR alone: {least:.2f} Mbit/s ≥ {HIGH_MBPS:g}"
    return ModelSays("D1", model.label, (Check(text, least >= HIGH_MBPS),))


def against_cubic() -> ModelSays:
    """BBR against CUBIC."""
    points = [Point(with_cubic=True, buffer_bdp=buffer) for buffer in BUFFERS_BDP]
    bbr, cubic = ([mbps("ware", point, group) for point in points] for group in (0, 1))
    small, large = BUFFERS_BDP[0], BUFFERS_BDP[-1]
    return ModelSays(
        "D2",
        MODELS["ware"].label,
        (
            Check(
                f"{small:g} BDP: BBR {bbr[0]:.2f} > CUBIC {cubic[0]:.2f} Mbit/s", bbr[0] > cubic[0]
            ),
            falls("BBR", BUFFERS_BDP, bbr, "{:.2f} Mbit/s"),
            Check(
                f"{large:g} BDP: CUBIC {cubic[-1]:.2f} > BBR {bbr[-1]:.2f} Mbit/s",
                cubic[-1] > bbr[-1],
            ),
        ),
    )


def mbps(model: str, point: Point, group: int) -> float:
    """Return a group's goodput by a model."""
    return MODELS[model].predict(point.scenario(1)).metric("goodput_bps", group) / 1e6
