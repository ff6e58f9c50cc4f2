"""Figures of a kind, as data and as they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

from dumbbell.cli.plot import load_sources
from dumbbell.figures.canvas import Canvas
from dumbbell.figures.figure import Figure
from dumbbell.figures.frame import PRINT, WIDTHS_MM, compose, shared_ranges
from dumbbell.plots.kinds import draw_kind
from dumbbell.plots.kinds.request import Request

__all__ = ["drawn", "one", "request"]


def request(places: Path, *which: str, names: tuple[str, ...] = (), **how: Any) -> Request:
    sources = load_sources([places / each for each in which], how.get("labels", ()))
    return Request(sources, names, **how)


def one(places: Path, kind: str, *which: str, name: str, **how: Any) -> Any:
    ((_, figures),) = draw_kind(request(places, *which, names=(name,), **how), kind)
    return figures


def drawn(figures: Sequence[Figure], size: str = "1col", heading: str = "") -> Canvas:
    with mpl.rc_context(PRINT):
        return compose(figures, WIDTHS_MM[size], "paper", shared_ranges(figures), heading)
