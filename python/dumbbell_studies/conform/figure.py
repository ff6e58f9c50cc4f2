"""Performance Envelopes as figures: points and hulls of the test and of its reference."""

from __future__ import annotations

import numpy as np

from dumbbell.figures import Curve, Figure
from dumbbell_studies.conform.conform import CellConformance, Conformance, shown
from dumbbell_studies.conform.envelope import Points, hull, kept_points

__all__ = ["envelope_figures"]

#: From Okabe and Ito's palette, which colour-blind readers can distinguish.
TEST_COLOR, REFERENCE_COLOR = "#d55e00", "#0072b2"


def envelope_figures(result: Conformance) -> list[Figure]:
    """Return a figure for each path."""
    return [figure_of(result, number, cell) for number, cell in enumerate(result.cells)]


def figure_of(result: Conformance, number: int, cell: CellConformance) -> Figure:
    """Return the figure of a path."""
    curves = [
        *curves_of(result.reference, np.concatenate(cell.reference), REFERENCE_COLOR, "s"),
        *curves_of(result.test, np.concatenate(cell.test), TEST_COLOR, "o"),
    ]
    return Figure(
        name=f"envelope-{number}",
        title=f"{cell.label}: conformance {shown(cell.conformance)}",
        x_label="RTT (ms)",
        y_label="goodput (Mbit/s)",
        curves=tuple(curves),
    )


def curves_of(cc: str, points: Points, color: str, marker: str) -> list[Curve]:
    """Return the points that are kept, and their hull."""
    kept = kept_points(points)
    corners = hull(kept)
    edge = np.concatenate([corners, corners[:1]])
    return [
        Curve(cc, kept[:, 0], kept[:, 1], color, marker, shape="points", hollow=True),
        Curve("", edge[:, 0], edge[:, 1], color),
    ]
