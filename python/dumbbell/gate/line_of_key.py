"""Where a file of nested tables sets a key."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["line_of_key"]


def line_of_key(text: str, key: str, headers: Sequence[tuple[str, int]]) -> int | None:
    """Return the line, from 1, on which a key is set.

    Parameters
    ----------
    text
        The file.
    key
        The key; empty for the innermost table itself.
    headers
        The tables that it is in, the outermost first: ``("category", 2)`` is the third
        ``[[category]]``. A key that the innermost does not set may be of an outer one.
    """
    lines = text.splitlines()
    marks = [line.replace(" ", "").partition("#")[0] for line in lines]
    spans = [(0, len(lines))]
    for name, index in headers:
        start, end = spans[-1]
        places = [at for at in range(start, end) if marks[at] == f"[[{name}]]"]
        if index >= len(places):
            break
        spans.append((places[index], [*places, end][index + 1]))
    # `others.share` is written whole, in quotes, or in a table `[case.judge.others]`.
    names = f"{re.escape(key)}|{re.escape(key.rpartition('.')[2])}"
    word = re.compile(rf"""(?<![\w.-])["']?(?:{names})["']?\s*[=\]]""")
    for depth, (start, end) in reversed(list(enumerate(spans if key else []))):
        for at in range(start, end):
            # Of an outer table only what comes before the tables in it.
            if depth < len(spans) - 1 and at > start and marks[at].startswith("[["):
                break
            if word.search(lines[at]):
                return at + 1
    return spans[-1][0] + 1 if len(spans) > 1 else None
