"""Performance Envelopes: where a flow's (delay, throughput) lies, and how far two of them agree.

References
----------
Mishra, Leong: "Containing the Cambrian explosion in QUIC congestion control", IMC 2023; QUICbench.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "KEPT", "Envelope", "Points", "conformance", "deviation", "hull", "inside", "kept_points",
]  # fmt: skip

#: A row per sample: delay in ms, throughput in Mbit/s.
Points = npt.NDArray[np.float64]

#: Share of the points, those nearest the mean, that make the envelope.
KEPT = 0.95
#: Rounding errors, relative to the extent of a hull.
ROUNDING = 1e-9


def kept_points(points: Points) -> Points:
    """Return the 95 % of points nearest the mean, each axis in its standard deviations.

    Of points at the same distance the earlier ones stay.
    """
    spread = points.std(axis=0)
    from_mean = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    order = np.argsort((from_mean**2).sum(axis=1), kind="stable")
    return points[np.sort(order[: math.ceil(KEPT * len(points))])]


def hull(points: Points) -> Points:
    """Return the corners of the convex hull, counter-clockwise; one or two of points in a line.

    References
    ----------
    Andrew: "Another efficient algorithm for convex hulls in two dimensions", Inf. Proc. Letters 9,
    1979.
    """
    corners = sorted({(float(x), float(y)) for x, y in points})
    if len(corners) < 3:
        return np.array(corners)
    lower, upper = chain(corners), chain(corners[::-1])
    return np.array([*lower[:-1], *upper[:-1]])


def chain(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return one half of the hull of sorted points: those where it turns left."""
    found: list[tuple[float, float]] = []
    for x, y in points:
        while len(found) > 1:
            (x0, y0), (x1, y1) = found[-2:]
            if (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) > 0:
                break
            found.pop()
        found.append((x, y))
    return found


def inside(points: Points, corners: Points) -> npt.NDArray[np.bool_]:
    """Return which points a hull holds, its edge included."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    extent = np.where(high > low, high - low, 1.0)
    # In units of the extent, of which rounding errors are a part.
    at, ends = (points - low) / extent, (corners - low) / extent
    held = ((at >= -ROUNDING) & (at <= (high - low) / extent + ROUNDING)).all(axis=1)
    for start, end in zip(ends, np.roll(ends, -1, axis=0), strict=True):
        along, to = end - start, at - start
        held &= along[0] * to[:, 1] - along[1] * to[:, 0] >= -ROUNDING
    return np.asarray(held, dtype=np.bool_)


class Envelope(NamedTuple):
    """The points of a flow that are kept, and the corners of their hull."""

    points: Points
    corners: Points

    @classmethod
    def of(cls, points: Points) -> Envelope:
        """Return the envelope of all points of a flow."""
        kept = kept_points(points)
        return cls(kept, hull(kept))


def conformance(test: Envelope, reference: Envelope) -> float:
    """Return the share of both envelopes' points that lie in the other's hull, 0 to 1."""
    held = inside(test.points, reference.corners).sum()
    held += inside(reference.points, test.corners).sum()
    return float(held) / (len(test.points) + len(reference.points))


def deviation(test: Points, reference: Points) -> tuple[float, float]:
    """Return by how much the mean delay, ms, and throughput, Mbit/s, are above the reference's."""
    delay_ms, throughput_mbps = kept_points(test).mean(axis=0) - kept_points(reference).mean(axis=0)
    return float(delay_ms), float(throughput_mbps)
