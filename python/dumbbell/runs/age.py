"""How long ago: ``30d``, ``12h``, and the units of a time."""

from __future__ import annotations

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.quantity import Time

__all__ = ["parse_age"]

#: Longer units than those of a scenario's times, s.
LONG_UNITS = {"d": 86_400, "h": 3_600, "w": 7 * 86_400}


def parse_age(text: str) -> float:
    """Read an age, s: ``30d``, ``12h``, ``2w``, ``90min``.

    Raises
    ------
    ScenarioError
        It is none.
    """
    number, unit = text[:-1], text[-1:]
    if unit in LONG_UNITS and number.isascii() and number.replace(".", "", 1).isdecimal():
        return float(number) * LONG_UNITS[unit]
    try:
        return Time.parse(text, "older-than").seconds
    except ScenarioError:
        raise ScenarioError(
            f"invalid older-than `{text}`: use `30d`, `12h` or `90min`", key="older_than"
        ) from None
