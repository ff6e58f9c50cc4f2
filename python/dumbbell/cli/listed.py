"""The entries of a list that a word stands for."""

from __future__ import annotations

from collections.abc import Iterable

from dumbbell.base.errors import ScenarioError, nearest

__all__ = ["listed"]


def listed(word: str | None, known: Iterable[str], what: str) -> list[str]:
    """Return the entry of this name, or those that contain it; all where there is no word.

    Raises
    ------
    ScenarioError
        Nothing contains it; the message calls it `what`.
    """
    names = list(known)
    if word is None:
        return names
    if word in names:
        return [word]
    found = [name for name in names if word and word.lower() in name.lower()]
    if not found:
        raise ScenarioError(f"unknown {what} `{word}`{nearest(word, names)}")
    return found
