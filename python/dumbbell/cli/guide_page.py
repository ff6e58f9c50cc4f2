"""A page of the guide as a terminal shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import cast

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.measure import measure_renderables
from rich.table import Table

__all__ = ["GuidePage"]

#: A link of a page; a terminal shows what it says.
LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")


class WholeWords(TableElement):
    """A table that breaks lines between words where its longest words fit, and never cuts one."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out."""
        for table in cast("Iterable[Table]", super().__rich_console__(console, options)):
            parts = [[column.header, *column.cells] for column in table.columns]
            sizes = [measure_renderables(console, options, each) for each in parts]
            least, most = (sum(ends) for ends in zip(*sizes, strict=True))
            spare = options.max_width - 2 * (len(sizes) + 1) - least  # without edges and padding
            for column, (narrow, wide) in zip(table.columns, sizes, strict=True):
                column.overflow = "fold"
                if 0 <= spare < most - least:
                    column.width = narrow + spare * (wide - narrow) // (most - least)
            yield table


class GuidePage(Markdown):
    """A page; its links have no addresses."""

    elements = {**Markdown.elements, "table_open": WholeWords}

    def __init__(self, text: str) -> None:
        super().__init__(LINK.sub(r"\1", text))
