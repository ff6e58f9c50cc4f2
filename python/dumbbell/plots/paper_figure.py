"""Figures as files for print, several in one frame, at their size there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dumbbell.base.errors import ResultError, nearest
from dumbbell.base.optional import optional
from dumbbell.figures.figure import Figure
from dumbbell.figures.frame import PNG_DPI, PRINT, WIDTHS_MM, compose, shared_ranges, write
from dumbbell.figures.y_range import Range

__all__ = ["FORMATS", "STYLES", "file_names", "save_for_print"]

#: File formats.
FORMATS = ("svg", "pdf", "png")
STYLES = ("paper", "report")
#: What a file's name has a dash for, and how long a title's words are in it.
NO_WORD = re.compile(r"[^\w.+]+")
MAX_WORDS = 80
#: A page's SVG has text, which can be searched and takes half the bytes.
SVG_TEXT = {"paper": "path", "report": "none"}


def file_names(name: str, figures: Sequence[Figure]) -> list[str]:
    """Return a name for the file of each figure: of several, with the words of their titles."""
    if len(figures) == 1:
        return [name]
    words = [NO_WORD.sub("-", each.title.lower())[:MAX_WORDS].strip("-") for each in figures]
    return [
        "-".join(filter(None, (name, each, str(at) if words.count(each) > 1 else "")))
        for at, each in enumerate(words)
    ]


def save_for_print(
    figures: Sequence[Figure],
    directory: str | Path,
    name: str,
    *,
    formats: Sequence[str] = ("svg", "pdf"),
    size: str = "1col",
    style: str = "paper",
    ranges: Sequence[Range] | None = None,
    heading: str = "",
) -> list[Path]:
    """Draw figures next to one another in one file per format.

    Parameters
    ----------
    figures
        Of one quantity, or of several over the same x axis.
    directory
        Where; created if it does not exist.
    name
        Of the files, without suffix.
    formats
        Of `FORMATS`.
    size
        ``1col`` or ``2col``: see `WIDTHS_MM`.
    style
        ``paper`` or ``report``.
    ranges
        Of their y axes; by default one for all of a quantity, if that shows each (`y_ranges`).
    heading
        Above them; without, `report` has their caption there.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ResultError
        There is no such format, size or style, or a file cannot be written.
    MissingPackageError
        matplotlib is not installed.
    """
    mpl = optional("matplotlib", extra="plot", purpose="a figure as a file")

    for word, known, what in (
        *((each, FORMATS, "format") for each in formats),
        (size, tuple(WIDTHS_MM), "size"),
        (style, STYLES, "style"),
    ):
        if word not in known:
            raise ResultError(f"unknown {what} `{word}`{nearest(word, known)}")
    with mpl.rc_context({**PRINT, "svg.fonttype": SVG_TEXT[style]}):
        ranges = ranges or shared_ranges(figures)
        canvas = compose(figures, WIDTHS_MM[size], style, ranges, heading)
        return write(canvas, Path(directory), name, formats, PNG_DPI[style])
