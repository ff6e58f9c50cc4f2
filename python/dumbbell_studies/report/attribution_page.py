"""The page "What each finding depends on": effects of the apparatus's elements, with intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dumbbell.base.writing import write_file
from dumbbell.report import render_template
from dumbbell_studies.papers.apparatus_element import name_of
from dumbbell_studies.papers.finding import Outcome
from dumbbell_studies.papers.plain_words import PLAIN_WORDS

if TYPE_CHECKING:
    from dumbbell.statistics import Interval
    from dumbbell_studies.papers.attribution import Attribution
    from dumbbell_studies.papers.conclusion import FindingAttribution
    from dumbbell_studies.papers.question import FindingQuantity
    from dumbbell_studies.papers.trial import Effect, Trial

__all__ = ["CHARTS", "render_attribution", "write_attribution_page"]

#: What is compared in a finding's charts.
CHARTS = (
    "One element added to the plain set-up",
    "One element removed from the preset",
    "On average over all combinations of those that matter",
)
#: Of a drawing of an interval, px.
WIDTH, HEIGHT, MARGIN = 180, 18, 5
#: A share of seeds changes by at most this much, either way.
SHARES = (-1.0, 1.0)


@dataclass(frozen=True)
class ColumnScale:
    """What the drawings of a column have in common.

    Attributes
    ----------
    low, high
        Ends of the axis.
    """

    low: float
    high: float

    def x(self, value: float) -> float:
        """Return where a value is; one beyond an end is there."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    def write(self, value: float) -> str:
        """Write a value with as many places as tell a hundredth of the axis."""
        places = max(0, 2 - math.floor(math.log10(self.high - self.low)))
        return f"{value:+.{places}f}".replace("-", "−")

    def draw(self, interval: Interval, text: str) -> Markup:
        """Draw a mean as a dot and its interval as a line, above a line for 0."""
        if math.isnan(interval.mean):
            return Markup("–")
        low, mid, high = (self.x(v) for v in (interval.low, interval.mean, interval.high))
        away = "away" if interval.excludes(0) else "near"
        return Markup(
            '<svg class="effect {}" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
            'aria-label="{}"><title>{}</title><line class="zero" x1="{zero}" x2="{zero}" y1="0" '
            'y2="{h}"/><line x1="{}" x2="{}" y1="{m}" y2="{m}"/><circle cx="{}" cy="{m}" r="4"/>'
            "</svg>"
        ).format(
            away, text, text, low, high, mid, w=WIDTH, h=HEIGHT, m=HEIGHT // 2, zero=self.x(0.0)
        )


@dataclass(frozen=True)
class Row:
    """An element in a finding's chart.

    Attributes
    ----------
    name
        What is added or removed.
    count
        In how many seeds it is shown with that.
    cells
        A drawing and its numbers for the share of seeds and for each quantity.
    """

    name: str
    count: str
    cells: tuple[tuple[Markup, str], ...]


@dataclass(frozen=True)
class Chart:
    """A finding's effects: dots with intervals.

    Attributes
    ----------
    title
        What is compared with what.
    columns
        Heads, with ends of their axes.
    rows
        One for each element.
    """

    title: str
    columns: tuple[tuple[str, str, str], ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Section:
    """A finding on the page.

    Attributes
    ----------
    each
        The finding.
    words
        It in plain words.
    again
        What fresh seeds show: a set-up and how often.
    charts
        What adding, removing and combining elements does.
    """

    each: FindingAttribution
    words: str
    again: tuple[tuple[str, str], ...]
    charts: tuple[Chart, ...]


#: A name, what it shows, and the change of the share and of each quantity.
Line = tuple[str, str, "Interval", Sequence["Interval"]]


def charts_of(each: FindingAttribution) -> tuple[Chart, ...]:
    """Return the charts of a finding."""
    if each.question is None or each.plain is None:
        return ()
    quantities = each.question.quantities
    added, removed = (lines_of(effects) for effects in (each.screened, each.without))
    effects = () if each.factorial is None else each.factorial.effects
    together: list[Line] = [(str(e.treatment), "", e.share, list(e.changes)) for e in effects]
    found = zip(CHARTS, (added, removed, together), strict=True)
    return tuple(chart(title, quantities, lines) for title, lines in found if lines)


def fresh_rows(each: FindingAttribution) -> tuple[tuple[str, str], ...]:
    """Return what fresh seeds show with the plain set-up and the others that ran with them."""
    plain = [] if each.plain_again is None else [each.plain_again]
    return tuple((name_of(trial.setup), count_of(trial)) for trial in (*plain, *each.repeated))


def lines_of(effects: Iterable[Effect]) -> list[Line]:
    """Return the lines of a chart of single elements."""
    return [
        (e.name, count_of(e.trial), e.share, [change.interval for change in e.changes])
        for e in effects
    ]


def chart(
    title: str, quantities: Sequence[FindingQuantity[Any, Any]], lines: Sequence[Line]
) -> Chart:
    """Lay out a chart."""
    scales = [scale_of([line[3][at] for line in lines]) for at in range(len(quantities))]
    columns = [("change of the share of seeds that show it", "−100", "+100 points")]
    columns += [
        (f"change of: {q.name}", scale.write(scale.low), f"{scale.write(scale.high)} {q.unit}")
        for q, scale in zip(quantities, scales, strict=True)
    ]
    rows = []
    for name, count, share, changes in lines:
        text = points(share)
        cells = [(ColumnScale(*SHARES).draw(share, text), text)]
        for scale, change in zip(scales, changes, strict=True):
            mean, low, high = map(scale.write, (change.mean, change.low, change.high))
            text = f"{mean} ({low} to {high})"
            cells.append((scale.draw(change, text), text))
        rows.append(Row(name, count, tuple(cells)))
    return Chart(title, tuple(columns), tuple(rows))


def count_of(trial: Trial) -> str:
    """Write in how many seeds a trial shows a finding, with the interval of their share."""
    if trial.averages is not None:
        return trial.count
    return f"{trial.count} ({trial.share.low:.0%} to {trial.share.high:.0%})"


def points(share: Interval) -> str:
    """Write a change of a share in percentage points."""
    return f"{100 * share.mean:+.0f} ({100 * share.low:+.0f} to {100 * share.high:+.0f}) points"


def scale_of(intervals: Iterable[Interval]) -> ColumnScale:
    """Return an axis that shows all intervals and 0."""
    ends = [end for each in intervals for end in (each.low, each.high) if math.isfinite(end)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    return ColumnScale(low, high) if high > low else ColumnScale(-1.0, 1.0)


@dataclass(frozen=True)
class Cell:
    """What an element does to a finding, in the matrix.

    Attributes
    ----------
    text
        In how many seeds the finding is shown with it: ``0–2``.
    kind
        ``good``, ``warn``, ``bad`` or empty.
    """

    text: str
    kind: str


def matrix(
    attributions: Sequence[Attribution],
) -> tuple[list[str], list[tuple[str, str, list[Cell]]]]:
    """Return the elements, and of each finding what it shows with each of them."""
    found = [each for one in attributions for each in one.findings if each.screened]
    elements = list(
        dict.fromkeys(effect.trial.setup[0].element for each in found for effect in each.screened)
    )
    rows = []
    for each in found:
        plain = "" if each.base is None else f"{each.base.held}"
        rows.append((each.finding.id, plain, [cell(each, name) for name in elements]))
    return elements, rows


def cell(each: FindingAttribution, element: str) -> Cell:
    """Return what an element does to a finding."""
    trials = [e.trial for e in each.screened if e.trial.setup[0].element == element]
    if not trials:
        return Cell("", "")
    held = [trial.held for trial in trials]
    text = f"{min(held)}" if min(held) == max(held) else f"{min(held)}–{max(held)}"
    return Cell(text, kind(trials))


def kind(trials: Sequence[Trial]) -> str:
    """Return the colour of a cell: by the best of an element's levels."""
    if any(trial.outcome is Outcome.SHOWN for trial in trials):
        return "good"
    is_by_chance = any(trial.outcome is Outcome.BY_CHANCE for trial in trials)
    return "warn" if is_by_chance else "bad"


def render_attribution(
    attributions: Sequence[Attribution], command: str, language: str = ""
) -> str:
    """Return the page as HTML."""
    elements, rows = matrix(attributions)
    found = [each for one in attributions for each in one.findings]
    return render_template(
        "attribution.html.j2",
        language,
        package="dumbbell_studies.report",
        sections=[
            Section(each, PLAIN_WORDS.get(each.finding.id, ""), fresh_rows(each), charts_of(each))
            for each in found
        ],
        counts=Counter(each.conclusion for each in found),
        elements=elements,
        rows=rows,
        predictions=[each for one in attributions for each in one.predictions],
        presets=[one.preset for one in attributions if one.preset is not None],
        unfinished=[name for one in attributions for name in one.unfinished],
        command=command,
    )


def write_attribution_page(
    attributions: Sequence[Attribution], command: str, path: Path, language: str = ""
) -> Path:
    """Write the page, whole or not at all."""
    return write_file(path, render_attribution(attributions, command, language))
