"""A page of the guide as a terminal shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from textwrap import indent
from typing import cast

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Markdown, TableElement
from rich.measure import measure_renderables
from rich.syntax import Syntax
from rich.table import Table

from dumbbell.cli.wrapped_commands import wrap_commands

__all__ = ["GuidePage"]

#: What code begins with.
MARGIN = "  "
#: A link of a page; a terminal shows what it says.
LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")
#: One that is all there is in parentheses: a reference.
REFERENCE = re.compile(r"\(\[[^\]]+\]\(([\w-]+)\.md[^)\s]*\)\)")
#: One to a laboratory note, which an installation does not have; a page may have its name.
NOTE = re.compile(r"\(\[[^\]]+\]\((notes/[\w-]+\.md)[^)\s]*\)\)")
#: A picture, which a terminal does not show.
PICTURE = re.compile(r"!\[[^\]]*\]\([^)\s]+\)\n*")


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


class Commands(CodeBlock):
    """Code, whose commands can be pasted, and of which nothing is cut."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out without spaces at ends of lines, where they would spoil a backslash."""
        code = wrap_commands(str(self.text).rstrip(), options.max_width - len(MARGIN))
        syntax = Syntax(code, self.lexer_name, theme=self.theme, background_color="default")
        text = syntax.highlight(indent(code, MARGIN))
        text.rstrip()
        # What cannot be broken is longer than the terminal's lines, rather than cut.
        text.no_wrap, text.overflow = True, "ignore"
        yield text


class GuidePage(Markdown):
    """A page; its links have no addresses, and references say how to show the page."""

    elements = {
        **Markdown.elements,
        "table_open": WholeWords,
        "fence": Commands,
        "code_block": Commands,
    }

    def __init__(self, text: str) -> None:
        text = NOTE.sub(r"(`docs/\1` in the sources)", PICTURE.sub("", text))
        super().__init__(LINK.sub(r"\1", REFERENCE.sub(r"(`dumbbell help \1`)", text)))
