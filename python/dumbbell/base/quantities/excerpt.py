"""Values in messages."""

from __future__ import annotations

import unicodedata
from typing import Any

__all__ = ["MAX_CHARACTERS", "UNSAFE", "escaped", "excerpt", "first_control", "visible"]

#: A longer value is cut.
MAX_CHARACTERS = 80
#: Unicode categories that move the cursor, change direction or are invisible: control and format
#: characters, lone surrogates, separators of lines and paragraphs.
UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
#: They change the order of what follows.
DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def excerpt(value: Any) -> str:
    """Return a value for a message: in one line, cut, without control characters.

    Examples
    --------
    >>> excerpt("5" * 1000 + "mbit")
    '55555555555555555555555555555555555555555555555555…5555555555555555555555555mbit'
    """
    try:
        text = str(value).lower() if isinstance(value, bool) else str(value)
    except ValueError:  # Python refuses to write an integer of thousands of digits
        return f"a number of {value.bit_length():,} bits"
    if len(text) > MAX_CHARACTERS:
        text = f"{text[: MAX_CHARACTERS - 30]}…{text[-29:]}"
    return visible(text)


def visible(text: str) -> str:
    """Return text with the characters escaped that a terminal would act on."""
    if text.isprintable():
        return text
    return "".join(escaped(each) if unicodedata.category(each) in UNSAFE else each for each in text)


def escaped(character: str) -> str:
    r"""Return ``\x1b`` for the character of that code."""
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def first_control(text: str) -> str | None:
    """Return the first control character of a text, escaped; None if it has none.

    Format characters are none, except those that change the direction: emoji are joined by them.
    """
    if text.isprintable():
        return None
    controls = UNSAFE - {"Cf"}
    found = (each for each in text if unicodedata.category(each) in controls or each in DIRECTIONS)
    return next((escaped(each) for each in found), None)
