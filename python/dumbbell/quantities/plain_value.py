"""Values without a unit: counts, names and flags."""

from __future__ import annotations

from typing import Any

from dumbbell.errors import ScenarioError

__all__ = ["check_count", "check_flag", "check_text", "to_plain"]


def to_plain(value: Any) -> str | int | bool:
    """Return a field's value as in a scenario file."""
    return value if type(value) in (bool, int, str) else str(value)


def check_count(value: Any, what: str, maximum: int, minimum: int = 1) -> int:
    """Refuse anything but a whole number in the range."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ScenarioError(f"{what} `{value}` is not a whole number", key=what)
    if not minimum <= value <= maximum:
        raise ScenarioError(f"{what} is {value}; use {minimum} to {maximum}", key=what)
    return value


def check_text(value: Any, what: str) -> str:
    """Refuse anything but a string."""
    if not isinstance(value, str):
        raise ScenarioError(f"{what} must be a string, not `{value}`", key=what)
    return value


def check_flag(value: Any, what: str) -> bool:
    """Refuse anything but true or false."""
    if not isinstance(value, bool):
        raise ScenarioError(f"{what} must be true or false, not `{value}`", key=what)
    return value
