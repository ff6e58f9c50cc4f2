"""Values without a unit: counts, names and flags."""

from __future__ import annotations

from typing import Any

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt, first_control

__all__ = ["check_count", "check_flag", "check_printable", "check_text", "to_plain"]

#: Most characters of a title.
MAX_TEXT = 1000


def to_plain(value: Any) -> str | int | bool:
    """Return a field's value as in a scenario file."""
    return value if type(value) in (bool, int, str) else str(value)


def check_count(value: Any, what: str, maximum: int, minimum: int = 1) -> int:
    """Refuse anything but a whole number in the range."""
    if not isinstance(value, int) or isinstance(value, bool):
        if isinstance(value, str) and value.isascii() and value.isdecimal():
            message = f"{what} `{excerpt(value)}` is text, not a whole number; remove the quotes"
            raise ScenarioError(message, key=what)
        raise ScenarioError(f"{what} `{excerpt(value)}` is not a whole number", key=what)
    if not minimum <= value <= maximum:
        raise ScenarioError(f"{what} is {excerpt(value)}; use {minimum} to {maximum}", key=what)
    return value


def check_text(value: Any, what: str) -> str:
    """Refuse anything but a string in one line."""
    if not isinstance(value, str):
        raise ScenarioError(f"{what} must be a string, not `{excerpt(value)}`", key=what)
    if len(value) > MAX_TEXT:
        message = f"{what} has {len(value):,} characters; use at most {MAX_TEXT:,}"
        raise ScenarioError(message, key=what)
    return check_printable(value, what)


def check_printable(text: str, what: str, key: str = "") -> str:
    """Refuse text with control characters, and bytes that are not UTF-8."""
    control = first_control(text)
    if control is not None:
        kind = "is not UTF-8" if control.startswith("\\ud") else f"has the character `{control}`"
        message = f"{what} `{excerpt(text)}` {kind}; use printable text"
        raise ScenarioError(message, key=key or what)
    return text


def check_flag(value: Any, what: str) -> bool:
    """Refuse anything but true or false."""
    if not isinstance(value, bool):
        said = f"`{excerpt(value)}`"
        if value in ("true", "false"):
            said = f"the text {said}; remove the quotes"
        raise ScenarioError(f"{what} must be true or false, not {said}", key=what)
    return value
