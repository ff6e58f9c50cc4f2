"""Tables that fit the terminal.

A column without a value goes. Where the rest is too wide, there go, in this order and as few as
possible: columns with one value in every row, which the line below says; columns that a table can
do without; then text and intervals are broken between words; and what is still too wide continues
below, with the first columns again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from rich import box
from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table

from dumbbell.terminal.console import out, paint, plain, print_line

__all__ = ["in_line", "print_table"]

#: In place of a value.
NO_VALUES = ("", "–", "-")
#: A name of this width is rather whole than that columns of one value are shown.
MAX_NAME = 32
#: Columns of spaces between two columns.
GAP = 2
#: Under the heads a line, and no other.
BOX = box.Box("    \n    \n ── \n    \n    \n    \n    \n    \n")
#: The end of a part of a name, `copa:mode_switching=0,inv_delta_max=5`; or an address, a whole.
PART = re.compile(r"\[[0-9a-fA-F:.]+\]|([,:])(?=[^\s\d])")


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    left: Collection[int] = (0,),
    optional: Sequence[str] = (),
    stub: int = 1,
    apart: bool = False,
) -> list[str]:
    """Print a table; no word of it is broken, however narrow the terminal is.

    Returns the heads of the columns that it could do without and has not.

    Parameters
    ----------
    columns
        Heads, in several lines where there is a unit.
    rows
        Cells, the head's verdicts in colour.
    title
        Above the table.
    left
        Indexes of the columns of text; numbers are to the right.
    optional
        Heads of columns to leave out where the terminal is too narrow, the first of them first.
    stub
        How many columns say which row it is: they never go, and are in every part of a table that
        continues below.
    apart
        Whether another table is above it, and an empty line between them.
    """
    if apart:
        print_line("")
    table = FittedTable(columns, rows, left, stub, out().width)
    same = table.leave_out_same(optional)
    absent = table.leave_out(optional)
    table.break_text()
    title = plain(title)
    for part in table.parts():
        if title:
            out().print(f"[bold]{escape(title)}[/]")
        title = ""
        console = out(table.width_of(part))
        console.print(table.drawn(part))
    if same:
        print_line(f"the same in every row: {', '.join(same)}")
    if absent:
        shown = ", ".join(map(in_line, absent))
        print_line(f"not shown in {table.width} columns: {shown}")
    return absent


class FittedTable:
    """A table, and which of its columns are shown.

    Parameters
    ----------
    columns, rows, left, stub
        As `print_table` takes them.
    width
        Of the terminal.
    """

    def __init__(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[str]],
        left: Collection[int],
        stub: int,
        width: int,
    ) -> None:
        self.heads = [plain(head) for head in columns]
        self.rows = [tuple(map(plain, row)) for row in rows]
        self.left, self.stub, self.width = left, stub, width
        self.kept = [
            i
            for i in range(len(self.heads))
            if i < stub or not self.rows or any(row[i] not in NO_VALUES for row in self.rows)
        ]
        self.least = self.least_widths(left)

    def least_widths(self, left: Collection[int]) -> list[int]:
        """Return each column's width if text is broken between words, and numbers are not."""
        return [
            max(longest_word([head]), (longest_word if i in left else longest_line)(cells))
            for i, (head, *cells) in enumerate(zip(self.heads, *self.rows, strict=True))
        ]

    def width_of(self, columns: Sequence[int]) -> int:
        """Return the least width of some columns."""
        return sum(self.least[i] for i in columns) + GAP * (len(columns) - 1)

    @property
    def is_too_wide(self) -> bool:
        """Whether the kept columns do not fit."""
        return self.width_of(self.kept) > self.width

    def leave_out_same(self, optional: Sequence[str]) -> list[str]:
        """Leave out columns with one value, until the rest fits; return these: ``flows 1``."""
        found = []
        same = [
            i
            for i in self.kept[self.stub :]
            if len(self.rows) > 1 and len({row[i] for row in self.rows}) == 1
        ]
        # Rather than that names are broken.
        whole = sum(
            max(0, min(MAX_NAME, longest_line(row[i] for row in self.rows)) - self.least[i])
            for i in range(self.stub)
        )
        for i in sorted(same, key=lambda i: self.heads[i] not in optional):
            if self.width_of(self.kept) + whole > self.width:
                self.kept.remove(i)
                found.append(f"{in_line(self.heads[i])} {self.rows[0][i]}")
        return found

    def leave_out(self, optional: Sequence[str]) -> list[str]:
        """Leave out columns that the table can do without, until it fits; return their heads."""
        found = []
        for i in [self.heads.index(head) for head in optional if head in self.heads]:
            if i in self.kept and self.is_too_wide:
                self.kept.remove(i)
                found.append(i)
        return [self.heads[i] for i in sorted(found)]

    def break_text(self) -> None:
        """Break names after their parts, and then intervals between words, where it must be."""
        if self.is_too_wide:
            self.rows = [
                tuple(in_parts(text) if i in self.left else text for i, text in at)
                for at in (list(enumerate(row)) for row in self.rows)
            ]
            self.least = self.least_widths(self.left)
        if self.is_too_wide:
            self.least = self.least_widths(range(len(self.heads)))

    def parts(self) -> list[list[int]]:
        """Return the columns of each part: one, or several with the stub in each."""
        stub = [i for i in self.kept if i < self.stub]
        parts = [list(stub)]
        for i in self.kept[len(stub) :]:
            if len(parts[-1]) > len(stub) and self.width_of([*parts[-1], i]) > self.width:
                parts.append(list(stub))
            parts[-1].append(i)
        return parts

    def drawn(self, columns: Sequence[int]) -> Table:
        """Return some columns as a table of rich's."""
        grid = Table(box=BOX, pad_edge=False, padding=(0, GAP - 1, 0, 0), show_edge=False)
        given = self.given(columns)
        for i in columns:
            justify = "left" if i in self.left else "right"
            grid.add_column(escape(self.heads[i]), justify=justify, width=self.least[i] + given[i])  # type: ignore[arg-type]
        for row in self.rows:
            grid.add_row(*(paint(row[i]) for i in columns))
        return grid

    def given(self, columns: Sequence[int]) -> dict[int, int]:
        """Return what each column gets beyond its least width, as long as there is room.

        Names get what their longest line takes; of the rest each gets as much, if it takes it.
        """
        spare = max(0, self.width - self.width_of(columns))
        wanted = {
            i: longest_line([self.heads[i], *(row[i] for row in self.rows)]) - self.least[i]
            for i in columns
        }
        found = {}
        others = sorted((i for i in columns if i >= self.stub), key=lambda i: wanted[i])
        for at, i in enumerate(order := [*(i for i in columns if i < self.stub), *others]):
            share = spare if i < self.stub else spare // (len(order) - at)
            found[i] = min(share, wanted[i])
            spare -= found[i]
        return found


def in_parts(text: str) -> str:
    """Return a name that may go on in the next line after each of its parts."""
    return PART.sub(lambda part: f"{part[0]} " if part[1] else part[0], text)


def in_line(head: str) -> str:
    """Return a head in one line."""
    return " ".join(head.split())


def longest_word(texts: Iterable[str]) -> int:
    """Return the width of the longest word."""
    return max((cell_len(word) for text in texts for word in text.split()), default=0)


def longest_line(texts: Iterable[str]) -> int:
    """Return the width of the longest line."""
    return max((cell_len(line) for text in texts for line in text.splitlines()), default=0)
