"""Text from a congestion control algorithm, made safe for a terminal."""

from __future__ import annotations

import unicodedata

from dumbbell.base.quantities.excerpt import UNSAFE, escaped

__all__ = ["MESSAGE_BYTES", "printable"]

#: Longest message of a congestion control algorithm that is shown.
MESSAGE_BYTES = 2048


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
        if text.isascii() and text.isprintable() and len(text) <= limit_bytes:
            return text
        text = text.encode("utf-8", "backslashreplace")
    cut = len(text) > limit_bytes
    decoded = text[:limit_bytes].decode("utf-8", "backslashreplace")
    kept = "\n\t" if lines else ""
    shown = "".join(
        char if char in kept or unicodedata.category(char) not in UNSAFE else escaped(char)
        for char in decoded
    )
    return f"{shown} … (cut at {limit_bytes // 1024} kB)" if cut else shown
