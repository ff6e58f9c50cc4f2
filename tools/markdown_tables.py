"""Tables in the pages of this directory, which scripts write between marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["markdown_table", "replace_some", "replace_tables"]

#: Between these lines of a page stands a table.
TABLES = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- /table -->\n)", re.DOTALL)


def markdown_table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def replace_tables(page: str, table_of: Callable[[str], str]) -> str:
    """Return a page with the table between each pair of marks that its name in them gives."""
    return TABLES.sub(lambda found: f"{found[1]}{table_of(found[2])}{found[3]}", page)


def replace_some(page: str, tables: Mapping[str, str]) -> str:
    """Return a page with those of its tables that are given, and the others as they are."""

    def made(found: re.Match[str]) -> str:
        table = tables.get(found[2])
        return found[0] if table is None else f"{found[1]}\n{table}\n{found[3]}"

    return TABLES.sub(made, page)
