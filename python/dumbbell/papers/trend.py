"""What "grows with the buffer" means, for every paper."""

from __future__ import annotations

from collections.abc import Sequence

from dumbbell.papers.paper import Check
from dumbbell.statistics import spearman

__all__ = ["falls", "grows"]

#: Critical values of Spearman's rank correlation, one-sided at 5 %, by the number of values (Zar,
#: "Biostatistical Analysis", table B.20). A value grows when its correlation is at or above this.
CRITICAL = {
    4: 1.0, 5: 0.9, 6: 0.829, 7: 0.714, 8: 0.643, 9: 0.6, 10: 0.564, 11: 0.536, 12: 0.503,
    13: 0.484, 14: 0.464, 15: 0.446, 16: 0.429, 17: 0.414, 18: 0.401,
}  # fmt: skip


def grows(
    what: str, at: Sequence[float], values: Sequence[float], form: str, unit: str = "BDP"
) -> Check:
    """Check that a value grows along an axis.

    Parameters
    ----------
    what
        Its name: ``RTT``.
    at, values
        The axis, and the value at each of its points.
    form
        How a value is written: ``{:.0f} ms``.
    unit
        Of the axis.
    """
    return trend(what, "grows", at, values, form, unit)


def falls(
    what: str, at: Sequence[float], values: Sequence[float], form: str, unit: str = "BDP"
) -> Check:
    """Check that a value falls along an axis; the parameters are those of `grows`."""
    return trend(what, "falls", at, values, form, unit)


def trend(
    what: str, verb: str, at: Sequence[float], values: Sequence[float], form: str, unit: str
) -> Check:
    """Check that a value grows or falls."""
    sign = 1 if verb == "grows" else -1
    correlation = spearman(at, values)
    critical = CRITICAL[len(at)]
    first, last = form.format(values[0]), form.format(values[-1])
    relation = f"≥ {critical:g}" if sign > 0 else f"≤ -{critical:g}"
    holds = sign * correlation >= critical
    does = verb if holds else "goes"
    text = (
        f"{what} {does} from {first} at {at[0]:g} {unit} to {last} at {at[-1]:g} {unit} "
        f"(rank correlation {correlation:.2f}, {'' if holds else 'not '}{relation})"
    )
    return Check(text, holds)
