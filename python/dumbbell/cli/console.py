"""What goes to the terminal: results to stdout; progress and errors to stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

if TYPE_CHECKING:
    from dumbbell.runs.cache import Cache

__all__ = ["error", "note", "note_cache", "out", "print_json", "progress_bar", "table"]

#: Width of tables that go into a file or pipe.
FILE_WIDTH = 120


def out() -> Console:
    """Return the console of stdout; colour only on a terminal, and never with NO_COLOR."""
    return Console(width=None if sys.stdout.isatty() else FILE_WIDTH, highlight=False)


def err() -> Console:
    """Return the console of stderr."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def error(message: str) -> None:
    """Print ``error: …`` to stderr."""
    err().print(f"[bold red]error:[/] {escape(message)}")


def note(message: str) -> None:
    """Print ``note: …`` to stderr."""
    err().print(f"[bold]note:[/] {escape(message)}")


def note_cache(cache: Cache | None) -> None:
    """Print what went wrong with a cache, if anything did."""
    for line in [] if cache is None else cache.notes:
        note(line)


def print_json(text: str) -> None:
    """Print JSON, and nothing else, to stdout."""
    sys.stdout.write(text + "\n")


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Lay out a table; what is in its first column is text, the rest are numbers."""
    grid = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for index, column in enumerate(columns):
        grid.add_column(escape(column), justify="right" if index else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(paint(cell) for cell in row))
    return grid


def paint(cell: str) -> str:
    """Colour a verdict; its word says the same without."""
    colors = {"OK": "green", "WARN": "yellow", "INVALID": "bold red", "FAILED": "bold red"}
    return f"[{colors[cell]}]{cell}[/]" if cell in colors else escape(cell)


@contextmanager
def progress_bar(label: str) -> Iterator[ProgressBar]:
    """Show a bar with the time left, while on a terminal."""
    console = err()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        yield ProgressBar(bar, label)


class ProgressBar:
    """A bar that is told the share done.

    Parameters
    ----------
    bar
        rich's.
    label
        What is under way.
    """

    def __init__(self, bar: Progress, label: str) -> None:
        self.bar = bar
        self.task = bar.add_task(label, total=1.0)

    def at(self, share: float, label: str | None = None) -> None:
        """Show the share done, 0 to 1."""
        self.bar.update(self.task, completed=share, description=label)
