"""Messages of the engine about settings, in the user's words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dumbbell.scenario.parameter import ElementParameter

__all__ = ["in_user_words"]

#: A field in a message of the engine.
FIELD = re.compile(r"`(\w+)`")
NUMBER = re.compile(r"\b\d+\b(?! times)")


def in_user_words(message: str, parameters: Iterable[ElementParameter]) -> str:
    """Return a message with the parameters' names, and values as a user writes them.

    Numbers are in base units of the first parameter that the message names.
    """
    fields = {each.field: each for each in parameters}
    named = [fields[name] for name in FIELD.findall(message) if name in fields]
    if named:
        message = NUMBER.sub(lambda found: named[0].show(int(found[0])), message)
    return FIELD.sub(
        lambda found: f"`{fields[found[1]].name}`" if found[1] in fields else found[0], message
    )
