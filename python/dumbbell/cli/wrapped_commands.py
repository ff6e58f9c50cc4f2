"""Code of the guide in a narrow terminal, whose long commands still run when they are pasted."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

__all__ = ["wrap_commands"]

#: How lines of shell begin.
COMMAND = re.compile(
    r"\s*(?:dumbbell|sudo|pip|uv|python3?|make|git|docker|openssl|time|curl|\w+=\S+) "
)
#: A word, whose quotes may have spaces.
WORD = re.compile(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+""")
#: A remark behind a command.
REMARK = re.compile(r"\s+(#\s.*)$")
INDENT = "    "


def wrap_commands(code: str, width: int) -> str:
    r"""Break commands that are wider than a terminal between words, with a backslash.

    Examples
    --------
    >>> print(wrap_commands("dumbbell run copa cubic --time 30s   # slow", 24))
    # slow
    dumbbell run copa \
        cubic --time 30s
    """
    lines: list[str] = []
    continues = False
    for line in code.split("\n"):
        is_command = continues or COMMAND.match(line) is not None
        continues = is_command and line.endswith("\\")
        lines += wrapped(line, width) if is_command and len(line) > width else [line]
    return "\n".join(lines)


def wrapped(line: str, width: int) -> Iterator[str]:
    """Yield the lines of one command."""
    remark = REMARK.search(line)
    if remark:
        yield from textwrap.wrap(remark[1], width, subsequent_indent="# ")
        line = line[: remark.start()]
    indent = line[: len(line) - len(line.lstrip())]
    words = WORD.findall(line)
    if WORD.sub("", line).strip():  # a quote that another line ends
        words = [line.lstrip()]
    current = ""
    for at, word in enumerate(words):
        room = width - (0 if at == len(words) - 1 else len(" \\"))
        if not current:
            current = indent + word
        elif word != "\\" and len(current) + 1 + len(word) > room:
            yield f"{current} \\"
            current = f"{indent}{INDENT}{word}"
        else:
            current += f" {word}"
    yield current
