"""A small figure as SVG inside a page: colours of text and grid are the page's, light or dark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from unicodedata import east_asian_width

import numpy as np
from markupsafe import Markup, escape

from dumbbell.plots import Figure
from dumbbell.plots.figure import MAX_MARKED, Curve, FloatArray
from dumbbell.report.language import both

__all__ = ["AxisName", "Place", "draw_key", "draw_panel"]

#: The drawing's own units; the page scales it to its column.
WIDTH, HEIGHT = 320.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 8.0, 8.0, 34.0
#: Height of the letters.
FONT = 11.0
#: Half the size of a marker, and of an interval's cap.
MARK, CAP = 3.2, 2.5
#: Width of a letter of a tick's label, which must not touch the next one.
LETTER = 6.8
#: Mean width of a letter in words.
NARROW = 6.0
#: Between curves whose intervals would lie on one another.
ASIDE = 2.0


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


@dataclass(frozen=True)
class AxisName:
    """What an axis shows.

    Attributes
    ----------
    text
        In English; pages have it in both languages.
    unit
        As it follows the text: `` (ms)``; empty without.
    """

    text: str
    unit: str

    def fitted(self, room: float) -> Markup:
        """Return it in both languages, each as large as fits, as parts of a `text` element."""
        return Markup("").join(
            Markup('<tspan{} font-size="{:.3g}">{}</tspan>').format(
                Markup(' lang="{}"').format(language) if language else "",
                FONT * min(1.0, room / text_width(words + self.unit)),
                words + self.unit,
            )
            for language, words in both(self.text)
        )


def text_width(text: str) -> float:
    """Return about how wide a text is; Japanese letters are square."""
    return sum(FONT if east_asian_width(letter) in "WF" else NARROW for letter in text)


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


def draw_panel(
    figure: Figure,
    places: Sequence[Place],
    extent: tuple[float, float],
    x_name: AxisName,
    y_name: AxisName,
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
    x_name, y_name
        Of the axes.
    """
    ticks = round_values(*extent, 4, at_least=3)
    y = Scale(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP)
    xs = figure.curves[0].x if figure.curves else np.zeros(1)
    x = x_scale(figure, xs)
    parts = [
        *draw_y_axis(y_name, ticks, y),
        *draw_x_axis(figure, x_name, xs, x),
        *(
            part
            for curve, aside in beside(figure.curves)
            for part in draw_curve(curve, x, y, aside)
        ),
        *draw_places(places, xs, x),
    ]
    said = ", ".join(filter(None, (figure.y_label, figure.title)))
    head = (
        f'<svg class="panel" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-label="{escape(said)}">'
    )
    return Markup(head + "".join(parts) + "</svg>")  # noqa: S704 -- every text in it is escaped


def x_scale(figure: Figure, xs: FloatArray) -> Scale:
    """Return the scale of the x axis; a lone place is in its middle."""
    low, high = float(xs.min()), float(xs.max())
    start, end = LEFT + 10, WIDTH - RIGHT - 10
    if low == high:
        return Scale(low - 1, high + 1, start, end)
    return Scale(low, high, start, end, is_log=bool(figure.x_ticks))


def draw_y_axis(name: AxisName, ticks: Sequence[float], y: Scale) -> Iterator[str]:
    """Draw the grid's horizontal lines with their values, and the axis's name."""
    for tick in ticks:
        at = y(tick)
        yield f'<path class="grid" d="M{LEFT:g} {at:.1f}H{WIDTH - RIGHT:g}"/>'
        yield f'<text x="{LEFT - 4:g}" y="{at + 3.5:.1f}" class="end">{tick:g}</text>'
    middle = (TOP + HEIGHT - BOTTOM) / 2
    yield (
        f'<text transform="translate(10 {middle:g}) rotate(-90)" class="mid axis">'
        f"{name.fitted(HEIGHT - BOTTOM)}</text>"
    )


def draw_x_axis(figure: Figure, name: AxisName, xs: FloatArray, x: Scale) -> Iterator[str]:
    """Draw the places of the x axis with their names, as many as have room, and the axis's name."""
    bottom = HEIGHT - BOTTOM
    free = -math.inf
    for value, said in x_ticks(figure, xs):
        at, half = x(value), len(said) * LETTER / 2
        yield f'<path class="tick" d="M{at:.1f} {bottom:g}v3"/>'
        if at - half > free:
            free = at + half + 3
            yield f'<text x="{at:.1f}" y="{bottom + 14:g}" class="mid">{escape(said)}</text>'
    yield (
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:g}" y="{HEIGHT - 4:g}" class="mid axis">'
        f"{name.fitted(WIDTH - LEFT - RIGHT)}</text>"
    )


def x_ticks(figure: Figure, xs: FloatArray) -> list[tuple[float, str]]:
    """Return the places that are marked, and their names."""
    if figure.x_names:
        return [(value, figure.x_names[round(value)]) for value in xs.tolist()]
    if figure.x_ticks:
        return [(tick, f"{tick:g}") for tick in figure.x_ticks]
    low, high = float(xs.min()), float(xs.max())
    found = figure.x_values or round_values(low, high, 5)
    return [(float(value), f"{value:g}") for value in found if low <= value <= high]


def round_values(low: float, high: float, most: int, *, at_least: int = 2) -> list[float]:
    """Return round values from below one to above another, in at most so many steps."""
    from matplotlib.ticker import MaxNLocator  # takes longer to load than a short run

    ticks = MaxNLocator(most, min_n_ticks=at_least).tick_values(low, high)
    return [float(tick) for tick in ticks]


def beside(curves: Sequence[Curve]) -> Iterator[tuple[Curve, float]]:
    """Return how far each curve is moved along x: those with intervals, beside one another."""
    with_bars = sum(curve.low is not None for curve in curves)
    place = ASIDE * (1 - with_bars) / 2
    for curve in curves:
        if curve.low is None:
            yield curve, 0.0
        else:
            yield curve, place
            place += ASIDE


def draw_curve(curve: Curve, x: Scale, y: Scale, aside: float) -> Iterator[str]:
    """Draw a curve: its line, which ends where a value is missing, its intervals, its markers."""
    pairs = list(zip(curve.x.tolist(), curve.y.tolist(), strict=True))
    stretches = [
        [(x(at) + aside, y(value)) for at, value in group]
        for known, group in groupby(pairs, key=lambda pair: math.isfinite(pair[1]))
        if known
    ]
    points = [point for stretch in stretches for point in stretch]
    yield f'<g class="curve {kind_of(curve)}" stroke="{curve.color}" fill="{curve.color}">'
    if len(points) > 1:
        lines = "".join(
            "M" + "L".join(f"{at:.1f} {value:.1f}" for at, value in stretch)
            for stretch in stretches
        )
        yield f'<path class="run" d="{lines}"/>'
    if curve.low is not None and curve.high is not None:
        yield f'<path class="bars" d="{"".join(bars(curve, x, y, aside))}"/>'
    if curve.marker and len(points) <= MAX_MARKED:
        marks = "".join(mark(curve.marker, *point) for point in points)
        yield f'<path class="marks" d="{marks}"/>'
    yield "</g>"


def kind_of(curve: Curve) -> str:
    """Return the style sheet's name for a curve's look."""
    return "model" if curve.dashed else "hollow" if curve.hollow else "line"


def draw_key(curve: Curve) -> Markup:
    """Draw what stands before a curve's name in the legend: a piece of it."""
    marks = f'<path class="marks" d="{mark(curve.marker, 12, 6)}"/>' if curve.marker else ""
    return Markup(  # noqa: S704 -- no text in it
        f'<svg class="panel swatch" viewBox="0 0 24 12" aria-hidden="true"><g class="curve '
        f'{kind_of(curve)}" stroke="{curve.color}" fill="{curve.color}">'
        f'<path class="run" d="M0 6H24"/>{marks}</g></svg>'
    )


def bars(curve: Curve, x: Scale, y: Scale, aside: float) -> Iterator[str]:
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
            yield f"M{x(at) + aside:.1f} {start:.1f}{foot}V{end:.1f}{head}"


def mark(marker: str, x: float, y: float) -> str:
    """Draw a marker, by matplotlib's letter."""
    m = MARK
    shapes = {
        "s": f"M{x - m:.1f} {y - m:.1f}h{2 * m:g}v{2 * m:g}h-{2 * m:g}z",
        "^": f"M{x:.1f} {y - m - 0.6:.1f}l{m + 0.6:g} {2 * m:g}h-{2 * m + 1.2:g}z",
        "v": f"M{x:.1f} {y + m + 0.6:.1f}l{m + 0.6:g} -{2 * m:g}h-{2 * m + 1.2:g}z",
        "D": f"M{x:.1f} {y - m - 0.8:.1f}l4 4-4 4-4-4z",
        "P": f"M{x - 1.2:.1f} {y - m:.1f}h2.4v2h2v2.4h-2v2h-2.4v-2h-2v-2.4h2z",
        "p": f"M{x:.1f} {y - m - 0.4:.1f}l3.5 2.5-1.3 4.1h-4.3l-1.4-4.1z",
        "*": f"M{x:.1f} {y - m - 1:.1f}l1 3h3l-2.5 1.9 1 3-2.5-1.9-2.5 1.9 1-3-2.5-1.9h3z",
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
