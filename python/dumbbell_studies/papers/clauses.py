"""Clauses that several papers' rules share: orders at every point, and tendencies."""

from __future__ import annotations

from collections.abc import Sequence

from dumbbell.statistics import spearman
from dumbbell_studies.papers.finding import ClauseResult

__all__ = ["at_every", "falls", "grows"]

#: Critical values of Spearman's rank correlation, one-sided at 5 %, by the number of values (Zar,
#: "Biostatistical Analysis", table B.20). A correlation at or above it is significant.
CRITICAL = {
    4: 1.0, 5: 0.9, 6: 0.829, 7: 0.714, 8: 0.643, 9: 0.6, 10: 0.564, 11: 0.536, 12: 0.503,
    13: 0.484, 14: 0.464, 15: 0.446, 16: 0.429, 17: 0.414, 18: 0.401,
}  # fmt: skip


def grows(
    what: str, at: Sequence[float], values: Sequence[float], form: str, *, complete: bool = True
) -> ClauseResult:
    """Check that a quantity tends to grow with the buffer.

    A tendency is a rank correlation (Spearman's) with the buffer that is significantly above 0,
    one-sided at 5 %. It need not be a step up at every buffer.

    Parameters
    ----------
    what
        The quantity: ``RTT``.
    at, values
        Buffers in BDP, and the quantity at each.
    form
        Format of a value: ``{:.0f} ms``.
    complete
        Whether these are all of the paper's buffers; otherwise nothing is decided.
    """
    return trend(what, 1, at, values, form, complete=complete)


def falls(
    what: str, at: Sequence[float], values: Sequence[float], form: str, *, complete: bool = True
) -> ClauseResult:
    """Check that a quantity tends to fall as the buffer grows; see `grows`."""
    return trend(what, -1, at, values, form, complete=complete)


def trend(
    what: str, sign: int, at: Sequence[float], values: Sequence[float], form: str, *, complete: bool
) -> ClauseResult:
    """Check that a quantity tends to grow or fall."""
    correlation = spearman(at, values)
    critical = CRITICAL.get(len(at), float("inf"))
    direction = "grow" if sign > 0 else "fall"
    bound = f"≥ {critical:g}" if sign > 0 else f"≤ -{critical:g}"
    return ClauseResult(
        f"{what} tends to {direction} with the buffer: rank correlation {bound}",
        f"{{:.2f}}, from {form} at {at[0]:g} BDP to {form} at {at[-1]:g} BDP",
        (correlation, values[0], values[-1]),
        sign * correlation >= critical if complete else None,
    )


def at_every(
    expected: str,
    at: Sequence[float],
    values: Sequence[Sequence[float]],
    form: str,
    holds: Sequence[bool],
    *,
    complete: bool = True,
    unit: str = "BDP",
) -> ClauseResult:
    """Check an order at every point of a range.

    One point that violates it decides; where points are missing, the others cannot confirm it.

    Parameters
    ----------
    expected
        What must hold at every point.
    at, values
        The points, and the numbers compared at each.
    form
        Format of one point's numbers.
    holds
        Whether the order holds at each point.
    complete
        Whether these are all of the points that the finding is about.
    unit
        Of the points.
    """
    result = all(holds) and bool(holds)
    return ClauseResult(
        expected,
        ", ".join(f"{form} at {point:g} {unit}" for point in at) or "nothing",
        tuple(value for point in values for value in point),
        result if complete or (holds and not result) else None,
    )
