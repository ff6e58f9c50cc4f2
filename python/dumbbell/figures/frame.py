"""Figures in one frame under one legend: for a notebook, for a file beside results, for print."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from dumbbell.base.errors import ResultError
from dumbbell.base.optional import optional
from dumbbell.base.writing import adding
from dumbbell.figures.figure import Figure
from dumbbell.figures.fit_text import fit_labels, fit_ticks, wrapped
from dumbbell.figures.static import SETTINGS, Handles, draw, draw_legend
from dumbbell.figures.y_range import Range, y_ranges

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dumbbell.figures.canvas import Canvas

__all__ = [
    "PNG_DPI", "PRINT", "WIDTHS_MM", "can_draw", "compose", "drawn", "save", "save_all",
    "shared_ranges", "write",
]  # fmt: skip

#: Widths that fit one column, and both, without scaling, in ACM's `acmart` (84.7 and 177.9 mm) and
#: IEEE's `IEEEtran` (88.9 and 181.9 mm).
WIDTHS_MM = {"1col": 84.0, "2col": 177.0}
#: Width of a figure next to results, a column and a half: labels stay readable when it is scaled.
FILE_MM = 127.0
MM_PER_INCH = 25.4
#: By style; 600 is usual for line art in print.
PNG_DPI = {"paper": 600, "report": 200}
#: Height of a panel over its width, and the highest, mm.
ASPECT = 0.62
MAX_PANEL_MM = 70.0
#: Of the height of a panel with its labels, what its axes have at least: wrapped labels take more
#: paper, not more of the panel.
MIN_AXES = 0.6
#: Panels over one time axis are flatter.
FLAT = 0.6
#: The narrowest that a panel may be, mm.
MIN_PANEL_MM = 50.0
#: Width of a name in the legend, usually and at least, and height of a row of it, mm.
LABEL_MM, SHORT_LABEL_MM, LEGEND_ROW_MM = 42.0, 20.0, 4.5
#: Width of a letter of the heading, mm.
LETTER_MM = 1.6
#: `paper`: 8 pt, without a heading, which belongs in the caption. `report`: with one.
#: Type 42 is TrueType; a paper's SVG has letters as outlines, which look the same in every reader.
PRINT: Any = {
    **SETTINGS, "font.size": 8, "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7,
    "axes.linewidth": 0.6, "lines.linewidth": 1.0, "pdf.fonttype": 42, "ps.fonttype": 42,
}  # fmt: skip


def can_draw() -> bool:
    """Whether matplotlib is installed, which the extra `plot` brings."""
    return find_spec("matplotlib") is not None


def save_all(figures: Iterable[Figure], directory: Path) -> list[Path]:
    """Draw figures into files, as `save` does; none without matplotlib."""
    return [path for figure in figures for path in save(figure, directory)] if can_draw() else []


def save(figure: Figure, directory: Path) -> list[Path]:
    """Draw a figure into ``<name>.png`` and ``<name>.svg``, whose text can be searched.

    Parameters
    ----------
    figure
        What to draw.
    directory
        Where; created if it does not exist.

    Returns
    -------
    list of Path
        The PNG and the SVG.

    Raises
    ------
    MissingPackageError
        matplotlib is not installed.
    ResultError
        They cannot be written.
    """
    mpl = optional("matplotlib", extra="plot", purpose="a figure as a file")
    shown = [replace(figure, caption="")]
    with mpl.rc_context(SETTINGS):
        canvas = compose(shown, FILE_MM, "report", shared_ranges(shown))
        return write(canvas, directory, figure.name, ("png", "svg"), PNG_DPI["report"])


def drawn(figures: Sequence[Figure], size: str = "2col") -> Canvas:
    """Return figures as one matplotlib figure, which a notebook shows.

    Parameters
    ----------
    figures
        Of one quantity, or of several over the same x axis.
    size
        ``1col`` or ``2col``.
    """
    mpl = optional("matplotlib", extra="plot", purpose="a figure")

    if not figures:
        raise ResultError("there is nothing to draw: no time series was recorded")
    with mpl.rc_context(PRINT):
        return compose(figures, WIDTHS_MM[size], "report", shared_ranges(figures))


def shared_ranges(figures: Sequence[Figure]) -> list[Range]:
    """Return a range for each figure's y axis: one for all of the same quantity."""
    by_label: dict[str, list[Figure]] = {}
    for figure in figures:
        by_label.setdefault(figure.y_label, []).append(figure)
    found = {label: iter(y_ranges(each, whole_bars=True)) for label, each in by_label.items()}
    return [next(found[figure.y_label]) for figure in figures]


def compose(
    figures: Sequence[Figure], width_mm: float, style: str, ranges: Sequence[Range],
    heading: str = "",
) -> Canvas:  # fmt: skip
    """Lay figures out in rows under one legend, and a heading if there is one."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from dumbbell.figures.canvas import Canvas

    most = max(1, math.floor(width_mm / MIN_PANEL_MM))
    rows = math.ceil(len(figures) / most)
    columns = math.ceil(len(figures) / rows)  # four panels are two by two, not three and one
    legend = Legend(figures, width_mm, heading or (figures[0].caption if style == "report" else ""))
    panel_mm = min(MAX_PANEL_MM, ASPECT * width_mm / columns * (1.0 if columns == 1 else 1.15))
    is_one_quantity = len({figure.y_label for figure in figures}) == 1
    if columns == 1 and not is_one_quantity:
        panel_mm *= FLAT
    titles_mm = 5.0 if len(figures) > 1 else 0.0
    height_mm = rows * (panel_mm + titles_mm) + legend.height_mm + 2.0
    canvas = Canvas(figsize=(width_mm / MM_PER_INCH, height_mm / MM_PER_INCH), layout="constrained")
    FigureCanvasAgg(canvas)
    alike = is_one_quantity and len(set(ranges)) == 1
    grid = canvas.subplots(rows, columns, sharey=alike, squeeze=False).ravel()
    handles: Handles = {}
    for index, (axes, figure) in enumerate(zip(grid, figures, strict=False)):
        # A lone figure's title is in its caption; several quantities are named by their axes.
        is_titled = is_one_quantity and len(figures) > 1
        title = figure.title if style == "report" or is_titled else ""
        handles |= draw(axes, replace(figure, title=title), ranges[index])
        axes.label_outer(remove_inner_ticks=False)
        if not alike:
            axes.tick_params(axis="y", labelleft=True)
        if not is_one_quantity:
            axes.set_ylabel(figure.y_label)
        if index + columns >= len(figures):
            # The lowest of its column, even where the last row has an empty place below it.
            axes.set_xlabel(figure.x_label)
            axes.tick_params(axis="x", labelbottom=True)
            axes.xaxis.get_offset_text().set_visible(True)
    for axes in grid[len(figures) :]:
        axes.set_visible(False)
    legend.draw(canvas, handles)
    fit_ticks(canvas)
    grow(canvas, [axes for axes in grid if axes.get_visible()], rows, panel_mm)
    if fit_labels(canvas):
        lay_out(canvas)
    return canvas


def grow(canvas: Canvas, panels: Sequence[Axes], rows: int, panel_mm: float) -> None:
    """Make a canvas higher where wrapped labels and the legend left too little of its panels."""
    lay_out(canvas)
    least = MIN_AXES * panel_mm / MM_PER_INCH
    lowest = min(axes.get_window_extent().height for axes in panels) / canvas.dpi
    if lowest < least:
        width, height = canvas.get_size_inches()
        canvas.set_size_inches(width, height + rows * (least - lowest))
        lay_out(canvas)


def lay_out(canvas: Canvas) -> None:
    """Place what is on a canvas, as drawing it would."""
    if (engine := canvas.get_layout_engine()) is not None:
        engine.execute(canvas)


class Legend:
    """The names of all curves of some figures, each once, above them.

    Parameters
    ----------
    figures
        Beside one another.
    width_mm
        Of the frame.
    heading
        Above them; a paper has its caption instead.
    """

    def __init__(self, figures: Sequence[Figure], width_mm: float, heading: str) -> None:
        curves = [curve for figure in figures for curve in figure.curves if not curve.optional]
        boxes = [box for figure in figures for box in figure.boxes]
        labels = {curve.label for curve in curves} | {box.label for box in boxes}
        self.names = len(labels - {""})
        self.columns = max(1, min(self.names, round(width_mm / LABEL_MM)))
        self.most = round(width_mm / SHORT_LABEL_MM)
        self.heading = fill(heading, round(width_mm / LETTER_MM))

    @property
    def height_mm(self) -> float:
        """Height of its rows and heading."""
        rows = math.ceil(self.names / self.columns) + len(self.heading.splitlines())
        return LEGEND_ROW_MM * rows

    def draw(self, canvas: Canvas, handles: Handles) -> None:
        """Draw it above the panels that hold the curves."""
        if not any(handles):
            if self.heading:
                canvas.suptitle(self.heading, fontsize=8)
            return
        width_px = canvas.get_size_inches()[0] * canvas.dpi
        for columns in range(max(1, min(self.names, self.most)), 0, -1):
            legend = draw_legend(
                canvas, handles, title=self.heading or None, loc="outside upper center",
                ncols=columns, title_fontsize=8, fontsize=7, frameon=False, handlelength=2.2,
                columnspacing=1.2,
            )  # fmt: skip
            over_px = legend.get_window_extent().width - width_px
            if over_px <= 0:
                return
            if columns > 1:
                legend.remove()
        for text in legend.get_texts():
            text.set_text(wrapped(text, text.get_window_extent().width - over_px))


def write(
    canvas: Canvas, directory: Path, name: str, formats: Iterable[str], dpi: int
) -> list[Path]:
    """Write a figure by `compose` in some formats; the same figure gives the same bytes."""
    metadata: dict[str, dict[str, Any]] = {
        "svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None},
    }  # fmt: skip
    files = {f"{name}.{each}": metadata[each] for each in formats}
    # It is laid out, which takes most of the time of drawing.
    canvas.set_layout_engine(None)
    with adding(directory) as place_for:
        for file, about in files.items():
            canvas.savefig(place_for(file), dpi=dpi, metadata=about)
    return [directory / file for file in files]
