"""Figures at the size they have in print: fonts embedded, small multiples in one frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.errors import ResultError, nearest
from dumbbell.plots.figure import Figure
from dumbbell.plots.static import SETTINGS, draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["FORMATS", "STYLES", "WIDTHS_MM", "save_for_print"]

#: Widths that fit a column, and both, without scaling: of ACM's `acmart` (84.7 and 177.9 mm) and
#: of IEEE's `IEEEtran` (88.9 and 181.9 mm).
WIDTHS_MM = {"1col": 84.0, "2col": 177.0}
#: File formats.
FORMATS = ("svg", "pdf", "png")
MM_PER_INCH = 25.4
PNG_DPI = 600
#: Height of a panel over its width.
ASPECT = 0.62
#: The narrowest that a panel may be, mm.
MIN_PANEL_MM = 50.0
#: Height of a row of the legend, mm.
LEGEND_ROW_MM = 4.5
#: `paper`: 8 pt and no title, which a caption is for. `report`: as in the pages, with a title.
#: Type 42 is TrueType, whole; SVG has the letters as outlines, which every reader shows alike.
PRINT: Any = {
    **SETTINGS, "font.size": 8, "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7,
    "axes.linewidth": 0.6, "lines.linewidth": 1.0, "pdf.fonttype": 42, "ps.fonttype": 42,
    "svg.fonttype": "path",
}  # fmt: skip
STYLES = ("paper", "report")


def save_for_print(
    figures: Sequence[Figure],
    directory: str | Path,
    name: str,
    *,
    formats: Sequence[str] = ("svg", "pdf"),
    size: str = "1col",
    style: str = "paper",
) -> list[Path]:
    """Draw figures beside one another, their y axes alike, in one file per format.

    Parameters
    ----------
    figures
        Small multiples: of one metric, with the same curves.
    directory
        Where; made if it is not there.
    name
        Of the files, without suffix.
    formats
        Of `FORMATS`.
    size
        ``1col`` or ``2col``: see `WIDTHS_MM`.
    style
        ``paper`` or ``report``.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ResultError
        There is no such format, size or style.
    """
    import matplotlib as mpl  # takes longer to load than a short run

    for word, known, what in (
        *((each, FORMATS, "format") for each in formats),
        (size, tuple(WIDTHS_MM), "size"),
        (style, STYLES, "style"),
    ):
        if word not in known:
            raise ResultError(f"unknown {what} `{word}`{nearest(word, known)}")
    place = Path(directory)
    place.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(PRINT):
        canvas = compose(figures, WIDTHS_MM[size], style)
        return [write(canvas, place / f"{name}.{each}") for each in formats]


def compose(figures: Sequence[Figure], width_mm: float, style: str) -> Canvas:
    """Lay figures out in rows under one legend."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    columns = max(1, min(len(figures), math.floor(width_mm / MIN_PANEL_MM)))
    rows = math.ceil(len(figures) / columns)
    labels = {curve.label for figure in figures for curve in figure.curves}
    legend_columns = max(1, min(len(labels), round(width_mm / 42)))
    legend_mm = LEGEND_ROW_MM * math.ceil(len(labels) / legend_columns)
    panel_mm = ASPECT * width_mm / columns * (1.0 if columns == 1 else 1.15)
    titles_mm = 5.0 if style == "report" or len(figures) > 1 else 0.0
    height_mm = rows * (panel_mm + titles_mm) + legend_mm + 2.0
    canvas = Canvas(figsize=(width_mm / MM_PER_INCH, height_mm / MM_PER_INCH), layout="constrained")
    FigureCanvasAgg(canvas)
    grid = canvas.subplots(rows, columns, sharey=True, squeeze=False).ravel()
    for index, (axes, figure) in enumerate(zip(grid, figures, strict=False)):
        # A lone figure's title is its caption's business.
        title = figure.title if style == "report" or len(figures) > 1 else ""
        draw(axes, replace(figure, title=title), with_legend=False)
        axes.label_outer(remove_inner_ticks=False)
        if index + columns >= len(figures):
            # The lowest of its column, though the place below may be there, and empty.
            axes.set_xlabel(figure.x_label)
            axes.tick_params(axis="x", labelbottom=True)
            axes.xaxis.get_offset_text().set_visible(True)
    for axes in grid[len(figures) :]:
        axes.set_visible(False)
    handles = {
        label: handle
        for axes in grid[: len(figures)]
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    order = dict.fromkeys(curve.label for figure in figures for curve in figure.curves)
    shown = {label: handles[label] for label in order if label in handles}
    canvas.legend(
        shown.values(), shown.keys(), loc="outside upper center", ncols=legend_columns,
        fontsize=7, frameon=False, handlelength=1.8, columnspacing=1.2,
    )  # fmt: skip
    return canvas


def write(canvas: Canvas, path: Path) -> Path:
    """Write one format; the same figure gives the same bytes."""
    metadata: dict[str, dict[str, Any]] = {
        "svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None},
    }  # fmt: skip
    canvas.savefig(path, dpi=PNG_DPI, metadata=metadata[path.suffix[1:]])
    return path
