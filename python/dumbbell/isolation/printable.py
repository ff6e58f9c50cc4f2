"""Text from a congestion control, made safe for a terminal."""

from __future__ import annotations

import unicodedata

__all__ = ["MESSAGE_BYTES", "printable"]

#: Longest message of a congestion control that is shown.
MESSAGE_BYTES = 2048
#: Unicode categories that move the cursor, change direction or are invisible: control and format
#: characters, lone surrogates, separators of lines and paragraphs.
UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def printable(text: str | bytes, *, lines: bool = False, limit_bytes: int = MESSAGE_BYTES) -> str:
    r"""Escape what a terminal would act on, and cut what is too long.

    Parameters
    ----------
    text
        From outside; bytes that are not UTF-8 are escaped too.
    lines
        Whether line ends stay, as in a compiler's message; else they are escaped.
    limit_bytes
        Length of what is kept, in UTF-8.

    Examples
    --------
    >>> printable("\x1b[2Jall is well\n")
    '\\x1b[2Jall is well\\n'
    """
    if isinstance(text, str):
        text = text.encode("utf-8", "backslashreplace")
    cut = len(text) > limit_bytes
    decoded = text[:limit_bytes].decode("utf-8", "backslashreplace")
    kept = "\n\t" if lines else ""
    escaped = "".join(
        char if char in kept or unicodedata.category(char) not in UNSAFE else escape(char)
        for char in decoded
    )
    return f"{escaped} … (cut at {limit_bytes // 1024} kB)" if cut else escaped


def escape(char: str) -> str:
    """Return a character as Python writes it."""
    return char.encode("unicode_escape").decode("ascii")
