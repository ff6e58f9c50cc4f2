"""The delay between two points over time, and the packets lost between them."""

from __future__ import annotations

import numpy as np

from dumbbell.capture_analysis.matching import Match
from dumbbell.figures import Curve, Figure
from dumbbell.figures.floats import to_floats

__all__ = ["draw_delay"]

DELAY_COLOR, LOST_COLOR = "#0072b2", "#d55e00"


def draw_delay(match: Match) -> Figure:
    """Draw each packet's delay, and where packets were lost."""
    time_s = to_floats(match.packets["time_us"]) / 1e6
    delay_ms = to_floats(match.packets["delay_us"]) / 1e3
    arrived = np.isfinite(delay_ms)
    curves = []
    if arrived.any():
        curves.append(Curve("delay", time_s[arrived], delay_ms[arrived], DELAY_COLOR))
    lost_s = time_s[~arrived]
    if lost_s.size:
        # At the delay of neighbouring packets.
        around = (
            np.interp(lost_s, time_s[arrived], delay_ms[arrived])
            if arrived.any()
            else np.zeros(lost_s.size)
        )
        curves.append(Curve("dropped", lost_s, around, LOST_COLOR, marker="v", shape="points"))
    return Figure(
        name="delay",
        title="Delay between the two points",
        x_label="time (s)",
        y_label="delay (ms)",
        curves=tuple(curves),
        caption="Of packets seen at both points; triangles are packets seen only at the first.",
    )
