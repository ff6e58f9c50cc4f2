"""Values of a scenario that have no unit: counts, names and flags."""

from __future__ import annotations

from typing import Any

from dumbbell.errors import ScenarioError

__all__ = ["check_count", "check_flag", "check_name", "to_plain"]


def to_plain(value: Any) -> str | int | bool:
    """Write a field as a scenario file has it."""
    return value if type(value) in (bool, int, str) else str(value)


def check_count(value: Any, what: str, maximum: int, minimum: int = 1) -> int:
    """Refuse what is no whole number in the range."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ScenarioError(f"{what} `{value}` is not a whole number", key=what)
    if not minimum <= value <= maximum:
        raise ScenarioError(f"{what} is {value}; say {minimum} to {maximum}", key=what)
    return value


def check_name(value: Any) -> str:
    """Refuse a name that is no text."""
    if not isinstance(value, str):
        raise ScenarioError(f"name is `{value}`, which is not text", key="name")
    return value


def check_flag(value: Any, what: str) -> bool:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise ScenarioError(f"{what} is `{value}`; say true or false", key=what)
    return value
