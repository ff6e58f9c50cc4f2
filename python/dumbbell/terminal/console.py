"""What goes to the terminal: results to stdout; progress and errors to stderr."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape

from dumbbell.base.quantities.json_text import json_text
from dumbbell.base.quantities.printable import printable

if TYPE_CHECKING:
    from rich.progress import Progress

    from dumbbell.runs.cache import Cache
    from dumbbell.runs.progress import Progress as RunProgress

__all__ = [
    "error", "note", "note_cache", "open_page", "out", "print_files", "print_json", "print_line",
    "progress_bar", "show_page",
]  # fmt: skip

#: Width of tables that go into a file or pipe.
FILE_WIDTH = 120
#: After this long a pace is known, s; what takes longer than that is said.
PACE_S, LONG_S = 0.8, 30
#: Most characters of a line of an error.
MAX_LINE = 1000
#: What a line begins with before its text: `bottleneck   50mbit`, or spaces.
LABEL = re.compile(r"\S.{0,30}? {2,}| *")


class PlainConsole(Console):
    """A console on which names, messages and documents of others are only text.

    Characters on which a terminal acts are escaped.

    Attributes
    ----------
    wraps
        Whether lines of text end between words.
    """

    wraps = False

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as rich does; with `soft_wrap` a word is whole, however long it is."""
        texts = [plain(each) if isinstance(each, str) else each for each in objects]
        if self.wraps and options.get("soft_wrap"):
            texts = [wrapped(each, self.width) if isinstance(each, str) else each for each in texts]
        super().print(*texts, **options)


def wrapped(text: str, width: int) -> str:
    """Break lines between words, with what follows below what follows the line's label."""
    return "\n".join(part for line in text.split("\n") for part in broken(line, width))


def broken(line: str, width: int) -> list[str]:
    """Break a line between words."""
    label = LABEL.match(line)
    indent = " " * len(label[0]) if label else ""
    parts, gap = [""], ""
    for word in re.split(r"( +)", line):
        if not word.strip():
            gap = word
        elif parts[-1].strip() and cell_len(parts[-1] + gap + word) > width:
            parts.append(indent + word)
        else:
            parts[-1] += gap + word
    return parts


def plain(text: str) -> str:
    """Return text with control characters escaped, except line ends."""
    return printable(text, lines=True, limit_bytes=sys.maxsize)


def out(least_width: int = 0) -> Console:
    """Return the console of stdout; colour only on a terminal, and never with NO_COLOR."""
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = PlainConsole(width=None if has_width else FILE_WIDTH, highlight=False, emoji=False)
    console.wraps = has_width
    console.width = max(console.width, least_width)
    return console


def err() -> Console:
    """Return the console of stderr."""
    return PlainConsole(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def error(message: str) -> None:
    """Print ``error: …`` to stderr."""
    print_to_stderr("[bold red]error:[/]", message)


def note(message: str) -> None:
    """Print ``note: …`` to stderr."""
    print_to_stderr("[bold]note:[/]", message)


def print_to_stderr(label: str, message: str) -> None:
    """Print a message whose parts may be anybody's; a line keeps its beginning and its end."""
    text = "\n".join(
        line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 301]}…{line[-300:]}"
        for line in message.split("\n")
    )
    try:
        err().print(f"{label} {escape(text)}")
    except OSError:
        # It has no reader; the exit code says it too. Python would fail once more when it leaves.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def note_missing_figures() -> None:
    """Note that no figure files are written, if the package that draws them is missing."""
    from dumbbell.figures.frame import can_draw  # numpy: too slow to import for `--help`

    if not can_draw():
        note("no figure files without matplotlib: `pip install 'dumbbell[plot]'`; pages have them")


def note_cache(cache: Cache | None) -> None:
    """Print what went wrong with a cache, if anything did."""
    for line in [] if cache is None else cache.notes:
        note(line)


def print_json(document: Any) -> None:
    """Print a document as JSON, and nothing else, to stdout."""
    text = json_text(document)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:  # another encoding than UTF-8, or a file name that is not UTF-8
        text = json.dumps(document, indent=2, allow_nan=False)
    sys.stdout.write(text + "\n")


def print_line(text: str) -> None:
    """Print lines to stdout: on a terminal broken between words, else however long they are."""
    out().print(text, markup=False, soft_wrap=True)


def print_files(written: Iterable[Path], *, json: bool) -> None:
    """Print the files that a command wrote."""
    if json:
        print_json({"files": [str(path) for path in written]})
        return
    for path in map(str, written):
        # Whole, to be copied.
        out(cell_len(path)).print(path, markup=False, soft_wrap=True)


def paint(cell: str) -> str:
    """Colour a verdict; its word says the same without."""
    colors = {"OK": "green", "WARN": "yellow", "INVALID": "bold red", "FAILED": "bold red"}
    return f"[{colors[cell]}]{cell}[/]" if cell in colors else escape(cell)


@contextmanager
def progress_bar(label: str, *, is_even: bool = False) -> Iterator[ProgressBar]:
    """Show a bar with the time left, while on a terminal; elsewhere a line if it will take long.

    Parameters
    ----------
    label
        What is under way.
    is_even
        Whether all of it goes on at one pace, so that a part of it shows how long it will take.
    """
    console = err()
    if not console.is_terminal:
        yield ProgressBar(None, label, is_even=is_even)
        return
    from rich.progress import BarColumn, Progress, TextColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[left]}"),
        console=console,
        transient=True,
    )
    with bar:
        yield ProgressBar(bar, label)


class ProgressBar:
    """A progress bar with a label.

    Parameters
    ----------
    bar
        rich's; None: shows nothing.
    label
        What is under way.
    is_even
        Whether its pace is said when it is known.
    """

    def __init__(self, bar: Progress | None, label: str, *, is_even: bool = False) -> None:
        self.bar = bar
        self.pace, self.found = Pace(), 0
        self.says_pace = is_even
        self.waits_for = ""
        self.task = None if bar is None else bar.add_task(label, total=1.0, left="")

    def at(self, share: float, label: str | None = None, *, has_pace: bool = True) -> None:
        """Show the share done, 0 to 1, and what is left if it goes on at a pace already."""
        is_known = self.pace.is_known(share) and has_pace
        if is_known and self.says_pace:
            if self.pace.left_s >= LONG_S:
                note(f"about {duration(self.pace.left_s)} left at this pace; Ctrl-C ends it")
            self.says_pace = False
        if self.bar is not None and self.task is not None:
            left = duration(self.pace.left_s) if is_known else ""
            self.bar.update(self.task, completed=share, description=label, left=left)

    def at_run(self, progress: RunProgress, of: str = "") -> None:
        """Show how many runs are finished; the first that was run, not found, shows the pace.

        Parameters
        ----------
        progress
            Of the runs.
        of
            What they are for, before `run 3 of 5`.
        """
        if progress.waits_for not in ("", self.waits_for):
            note(progress.waits_for)
        self.waits_for = progress.waits_for
        if progress.cached != self.found:
            self.pace, self.found = Pace(), progress.cached
        label = f"{of}run {progress.finished} of {progress.total}"
        label += f" ({progress.cached} cached)" if progress.cached else ""
        share = progress.simulated_s / max(progress.total_s, 1e-9)
        self.at(share, label, has_pace=progress.finished > progress.cached)


class Pace:
    """How fast something goes on, known before its first second has passed."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.first: tuple[float, float] | None = None
        self.left_s = 0.0

    def is_known(self, share: float) -> bool:
        """Take the share done, 0 to 1; whether `left_s` is known from here on."""
        now = time.monotonic()
        if self.first is None:
            self.first = now, share
        elapsed_s, done = now - self.first[0], share - self.first[1]
        if now - self.began < PACE_S or done <= 0:
            return False
        self.left_s = (1 - share) * elapsed_s / done
        return True


def duration(time_s: float) -> str:
    """Write how long something takes, in a unit that has two or three digits of it."""
    for unit_s, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if time_s >= 2 * unit_s:
            return f"{time_s / unit_s:,.0f} {unit}"
    return f"{time_s:.0f} s"


def show_page(path: Path) -> None:
    """Open a page in the browser, or print where it is if there is no display."""
    if not open_page(path.resolve().as_uri()):
        print_line(f"open {path.resolve().as_uri()}")


def open_page(address: str) -> bool:
    """Open an address in the browser; whether there is one, on a display."""
    import webbrowser  # slow to import

    has_display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    return has_display and webbrowser.open(address)
