"""Labels that do not fit where they stand are wrapped, or turned; none is cut."""

from __future__ import annotations

import math
import re
from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.text import Text

__all__ = ["fit_labels", "fit_ticks", "wrapped"]

#: Of the room of a tick's label, what it may fill.
FILLED = 0.94
#: How far labels of ticks are turned that are wider than their room, degrees, and their longest
#: line.
TURNED, TURNED_LETTERS = 35, 18
#: Most lines of a tick's label before it is turned instead.
MAX_LINES = 5
#: Where a word may end although no space follows.
BREAK = "\u200b"


def fit_ticks(canvas: Canvas) -> None:
    """Wrap the names of axes of names; turn them where a word is wider than its place.

    Before the layout, which finds no room for axes beside very long names.
    """
    for axes in shown(canvas):
        texts = [text for text in axes.get_xticklabels() if text.get_text()]
        if not texts or all(is_number(text.get_text()) for text in texts):
            continue
        each_px = FILLED * axes.get_window_extent().width / len(texts)
        words = [text.get_text() for text in texts]
        found = [wrapped(text, each_px) for text in texts]
        places = axes.get_xticks()
        axes.set_xticks(places, found)
        is_wide = any(extent(text) > each_px / FILLED for text in axes.get_xticklabels())
        if is_wide or max(text.count("\n") + 1 for text in found) > MAX_LINES:
            axes.set_xticks(
                places, [in_lines(each, TURNED_LETTERS) for each in words],
                rotation=TURNED, ha="right", rotation_mode="anchor",
            )  # fmt: skip


def fit_labels(canvas: Canvas) -> bool:
    """Wrap the labels of axes and titles to the length of the axes, of a canvas that is laid out.

    The layout gives room across a label, never along it: a label longer than its axis would be
    cut at the edge of the canvas. Return whether a label was wrapped, which needs other room.
    """
    fitted = []
    for axes in shown(canvas):
        box = axes.get_window_extent()
        fitted += [(label, wrapped(label, box.width)) for label in (axes.xaxis.label, axes.title)]
        label = axes.yaxis.label
        fitted.append((label, wrapped(label, box.height, is_upright=True)))
    changed = [(label, text) for label, text in fitted if label.get_text() != text]
    for label, text in changed:
        label.set_text(text)
    return bool(changed)


def shown(canvas: Canvas) -> list[Axes]:
    """Return the axes that are drawn."""
    return [axes for axes in canvas.axes if axes.get_visible()]


def is_number(text: str) -> bool:
    """Whether a tick's label is a number, which is never wrapped."""
    return text.replace("−", "-").replace(".", "").lstrip("-").isdecimal()


def extent(text: Text, *, is_upright: bool = False) -> float:
    """Return how long a text is along its axis, in pixels."""
    box = text.get_window_extent()
    return box.height if is_upright else box.width


def in_lines(text: str, letters: int) -> str:
    """Return a text in lines; a word stays whole, `codel:target=5ms,ecn` is three."""
    soft = re.sub(r"(?<=[:,/])(?=\S)", f"{BREAK} ", text)
    found = fill(soft, letters, break_long_words=False, break_on_hyphens=False)
    return found.replace(f"{BREAK} ", "").replace(BREAK, "")


def wrapped(text: Text, room_px: float, *, is_upright: bool = False) -> str:
    """Return a text in lines that are no longer than their room; words stay whole."""
    words = text.get_text()
    long_px = extent(text, is_upright=is_upright)
    if not words or long_px <= room_px or room_px <= 0:
        return words
    longest = max(map(len, words.splitlines()))
    letters = max(1, math.floor(longest * room_px / long_px))
    for fewer in range(letters, max(letters - 4, 0), -1):  # letters are not equally wide
        found = in_lines(words, fewer)
        text.set_text(found)
        if extent(text, is_upright=is_upright) <= room_px:
            break
    text.set_text(words)
    return found
