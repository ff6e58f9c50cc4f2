"""Numbers with a few significant digits, without an exponent."""

from __future__ import annotations

from decimal import Decimal

__all__ = ["DIGITS", "significant"]

#: Significant digits, by default.
DIGITS = 3


def significant(value: float, digits: int = DIGITS, spec: str = "") -> str:
    """Write a number with some significant digits, or as a whole one.

    Parameters
    ----------
    value
        The number.
    digits
        How many.
    spec
        ``+`` for a sign, ``,`` between thousands.

    Examples
    --------
    >>> significant(1751.2, spec="+"), significant(0.00123456)
    ('+1751', '0.00123')
    """
    if abs(value) >= 10**digits - 0.5:
        return f"{value:{spec}.0f}"
    return f"{Decimal(f'{value:.{digits}g}'):{spec}f}"
