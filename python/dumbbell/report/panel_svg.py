"""A small figure as SVG inside a page: colours of text and grid are the page's, light or dark."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

import numpy as np
from markupsafe import Markup, escape

from dumbbell.plots import Figure
from dumbbell.plots.figure import Curve, FloatArray

__all__ = ["Place", "draw_panel", "y_range"]

#: The drawing's own units; the page scales it to its column.
WIDTH, HEIGHT = 320.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 8.0, 8.0, 34.0
#: Height of the letters.
FONT = 11.0
#: Half the size of a marker, and of an interval's cap.
MARK, CAP = 3.2, 2.5
#: Width of a letter of a tick's label, which must not touch the next one.
LETTER = 6.8
#: More points than these of a curve have no markers.
MAX_MARKED = 48
#: Up to so many places of a linear axis each have their name.
MAX_NAMED = 6
#: Intervals may reach beyond the curves by this part of the curves' range.
MAX_BARS = 0.5


@dataclass(frozen=True)
class Place:
    """Where a reader can ask for a cell.

    Attributes
    ----------
    cell
        Its index.
    text
        What is said of it when the pointer is over it.
    """

    cell: int
    text: str


class Scale:
    """From values to the drawing's units.

    Parameters
    ----------
    low, high
        Values at the two ends.
    start, end
        Where these are drawn.
    is_log
        Whether equal ratios are equally long.
    """

    def __init__(
        self, low: float, high: float, start: float, end: float, *, is_log: bool = False
    ) -> None:
        self.is_log = is_log
        self.low, self.high = (math.log2(low), math.log2(high)) if is_log else (low, high)
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        """Return where a value is drawn."""
        at = math.log2(value) if self.is_log else value
        span = self.high - self.low or 1.0
        return self.start + (at - self.low) / span * (self.end - self.start)


def y_range(figures: Sequence[Figure]) -> tuple[float, float]:
    """Return the range of values that figures beside one another share.

    Intervals are in it as far as they do not make the curves small.
    """
    curves = [curve for figure in figures for curve in figure.curves]
    low, high = ends([curve.y for curve in curves])
    if all(figure.y_from_zero for figure in figures):
        low = min(low, 0.0)
    room = MAX_BARS * (high - low)
    bars = [part for curve in curves for part in (curve.low, curve.high) if part is not None]
    least, most = ends(bars) if bars else (low, high)
    if low < 0:
        low = min(low, max(least, low - room))
    high = max(high, min(most, high + room))
    return (low, high) if high > low else (low, low + 1.0)


def ends(parts: Sequence[FloatArray]) -> tuple[float, float]:
    """Return the smallest and largest of values; 0 and 1 when there are none."""
    values = np.concatenate([*parts, np.zeros(0)])
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)


def draw_panel(
    figure: Figure,
    places: Sequence[Place],
    extent: tuple[float, float],
    x_label: Markup,
    y_label: Markup,
) -> Markup:
    """Draw a figure.

    Parameters
    ----------
    figure
        What to draw.
    places
        One per place of the x axis, in its order; its first curve has the same places.
    extent
        Range of the y axis.
    x_label, y_label
        Names of the axes, in both languages, as parts of a `text` element.
    """
    ticks = round_values(*extent, 4, at_least=3)
    y = Scale(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP)
    xs = figure.curves[0].x if figure.curves else np.zeros(1)
    x = x_scale(figure, xs)
    parts = [
        *draw_y_axis(y_label, ticks, y),
        *draw_x_axis(figure, x_label, xs, x),
        *(part for curve in figure.curves for part in draw_curve(curve, x, y)),
        *draw_places(places, xs, x),
    ]
    head = (
        f'<svg class="panel" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-label="{escape(figure.title or figure.y_label)}">'
    )
    return Markup(head + "".join(parts) + "</svg>")  # noqa: S704 -- every text in it is escaped


def x_scale(figure: Figure, xs: FloatArray) -> Scale:
    """Return the scale of the x axis; a lone place is in its middle."""
    low, high = float(xs.min()), float(xs.max())
    start, end = LEFT + 10, WIDTH - RIGHT - 10
    if low == high:
        return Scale(low - 1, high + 1, start, end)
    return Scale(low, high, start, end, is_log=bool(figure.x_ticks))


def draw_y_axis(name: Markup, ticks: Sequence[float], y: Scale) -> Iterator[str]:
    """Draw the grid's horizontal lines with their values, and the axis's name, as large as fits."""
    for tick in ticks:
        at = y(tick)
        yield f'<path class="grid" d="M{LEFT:g} {at:.1f}H{WIDTH - RIGHT:g}"/>'
        yield f'<text x="{LEFT - 4:g}" y="{at + 3.5:.1f}" class="end">{tick:g}</text>'
    middle = (TOP + HEIGHT - BOTTOM) / 2
    yield (f'<text transform="translate(10 {middle:g}) rotate(-90)" class="mid axis">{name}</text>')


def name_width(name: Markup) -> float:
    """Return about how wide the wider language of a name is; Japanese letters are square."""
    parts = re.findall(r">([^<]+)</tspan>([^<]*)", name) or [(name.striptags(), "")]
    rest = parts[-1][1]
    return max(
        sum(FONT if east_asian_width(letter) in "WF" else LETTER for letter in words + rest)
        for words, _ in parts
    )


def draw_x_axis(figure: Figure, axis: Markup, xs: FloatArray, x: Scale) -> Iterator[str]:
    """Draw the places of the x axis with their names, as many as have room, and the axis's name."""
    bottom = HEIGHT - BOTTOM
    free = -math.inf
    for value, name in x_ticks(figure, xs):
        at, half = x(value), len(name) * LETTER / 2
        yield f'<path class="tick" d="M{at:.1f} {bottom:g}v3"/>'
        if at - half > free:
            free = at + half + 3
            yield f'<text x="{at:.1f}" y="{bottom + 14:g}" class="mid">{escape(name)}</text>'
    yield (
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:g}" y="{HEIGHT - 4:g}" class="mid axis">'
        f"{axis}</text>"
    )


def x_ticks(figure: Figure, xs: FloatArray) -> list[tuple[float, str]]:
    """Return the places that are marked, and their names."""
    if figure.x_names:
        return [(value, figure.x_names[round(value)]) for value in xs.tolist()]
    if figure.x_ticks:
        return [(tick, f"{tick:g}") for tick in figure.x_ticks]
    low, high = float(xs.min()), float(xs.max())
    few = sorted(set(xs.tolist()))
    found = few if len(few) <= MAX_NAMED else round_values(low, high, 5)
    return [(value, f"{value:g}") for value in found if low <= value <= high]


def round_values(low: float, high: float, most: int, *, at_least: int = 2) -> list[float]:
    """Return round values from below one to above another, in at most so many steps."""
    from matplotlib.ticker import MaxNLocator  # takes longer to load than a short run

    ticks = MaxNLocator(most, min_n_ticks=at_least).tick_values(low, high)
    return [float(tick) for tick in ticks]


def draw_curve(curve: Curve, x: Scale, y: Scale) -> Iterator[str]:
    """Draw a curve: its line, its intervals, its markers."""
    points = [
        (x(at), y(value))
        for at, value in zip(curve.x.tolist(), curve.y.tolist(), strict=True)
        if math.isfinite(value)
    ]
    kind = "model" if curve.dashed else "hollow" if curve.hollow else "line"
    yield f'<g class="curve {kind}" stroke="{curve.color}" fill="{curve.color}">'
    path = "L".join(f"{at:.1f} {value:.1f}" for at, value in points)
    if len(points) > 1:
        yield f'<path class="run" d="M{path}"/>'
    if curve.low is not None and curve.high is not None:
        yield f'<path class="bars" d="{"".join(bars(curve, x, y))}"/>'
    if curve.marker and len(points) <= MAX_MARKED:
        marks = "".join(mark(curve.marker, *point) for point in points)
        yield f'<path class="marks" d="{marks}"/>'
    yield "</g>"


def bars(curve: Curve, x: Scale, y: Scale) -> Iterator[str]:
    """Draw the intervals."""
    low, high = curve.low, curve.high
    if low is None or high is None:
        return
    for at, bottom, top in zip(curve.x.tolist(), low.tolist(), high.tolist(), strict=True):
        if math.isfinite(bottom) and math.isfinite(top) and top > bottom:
            # What reaches out of the figure has no cap there.
            start, end = min(y(bottom), y.start), max(y(top), y.end)
            cap = f"m-{CAP:g} 0h{2 * CAP:g}m-{CAP:g} 0"
            foot, head = cap * (start < y.start), cap * (end > y.end)
            yield f"M{x(at):.1f} {start:.1f}{foot}V{end:.1f}{head}"


def mark(marker: str, x: float, y: float) -> str:
    """Draw a marker, by matplotlib's letter."""
    m = MARK
    shapes = {
        "s": f"M{x - m:.1f} {y - m:.1f}h{2 * m:g}v{2 * m:g}h-{2 * m:g}z",
        "^": f"M{x:.1f} {y - m - 0.6:.1f}l{m + 0.6:g} {2 * m:g}h-{2 * m + 1.2:g}z",
        "v": f"M{x:.1f} {y + m + 0.6:.1f}l{m + 0.6:g} -{2 * m:g}h-{2 * m + 1.2:g}z",
        "D": f"M{x:.1f} {y - m - 0.8:.1f}l4 4-4 4-4-4z",
        "P": f"M{x - 1.2:.1f} {y - m:.1f}h2.4v2h2v2.4h-2v2h-2.4v-2h-2v-2.4h2z",
        "X": f"M{x:.1f} {y - 1.5:.1f}l2-2 1.5 1.5-2 2 2 2-1.5 1.5-2-2-2 2-1.5-1.5 2-2-2-2 1.5-1.5z",
    }
    circle = f"M{x - m:.1f} {y:.1f}a{m} {m} 0 1 0 {2 * m:g} 0a{m} {m} 0 1 0-{2 * m:g} 0"
    return shapes.get(marker, circle)


def draw_places(places: Sequence[Place], xs: FloatArray, x: Scale) -> Iterator[str]:
    """Draw what a reader can point at: a strip for each place, up to half way to the next."""
    at = [x(value) for value in xs.tolist()]
    for index, place in enumerate(places):
        left = LEFT if index == 0 else (at[index - 1] + at[index]) / 2
        right = WIDTH - RIGHT if index + 1 == len(at) else (at[index] + at[index + 1]) / 2
        yield (
            f'<rect class="hit" data-cell="{place.cell}" x="{left:.1f}" y="{TOP:g}" '
            f'width="{max(right - left, 0.5):.1f}" height="{HEIGHT - TOP - BOTTOM:g}">'
            f"<title>{escape(place.text)}</title></rect>"
        )
