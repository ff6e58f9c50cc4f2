"""The report of a sweep, or of one run: one HTML file that needs no network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dumbbell.base.errors import ScenarioError
from dumbbell.base.writing import write_file
from dumbbell.compare.answers import Answer, chance_of, run_answers, sweep_answers
from dumbbell.figures.y_range import y_ranges
from dumbbell.metrics import Metric
from dumbbell.plots.result_figures import BOTH_WAYS, OF_EACH_WAY, ResultFigures, is_needless
from dumbbell.report.chart import chart, script_json
from dumbbell.report.embedded_series import Embedded, embed
from dumbbell.report.link_table import (
    LinkCell,
    QueueRow,
    ReferenceRow,
    link_table,
    of_links,
    queue_statistics,
    reference_rows,
)
from dumbbell.report.rerun import rerun_text, seeds_text
from dumbbell.report.side_by_side import SweepComparison, compare_sweeps, second_view
from dumbbell.report.summary_table import CellTable, make_tables
from dumbbell.report.template import render_template
from dumbbell.report.verdict_table import VerdictNote, verdict_counts, verdict_notes
from dumbbell.scenario.group_labels import label_of
from dumbbell.sweeps import SweepResult

__all__ = ["MAX_CELLS", "MAX_PLACES", "render_sweep", "write_sweep_report"]

#: Metrics shown at once, where the runs have them; the others are folded.
FIRST = (
    "measured", "goodput_per_flow_bps", "share", *OF_EACH_WAY, "queue_delay_mean_us",
    "utilization", "jain", "retransmission_rate", "drop_rate", "rtt_mean_us", "fct_p50_s",
    "fct_p95_s", "slowdown_p50", "rpc_latency_p50_us", "rpc_latency_p95_us",
    "page_load_time_p50_s", "page_load_time_p95_s", "one_way_delay_p95_us", "late_or_lost_share",
    "mos", "responsiveness_rpm", "video_bitrate_bps", "stall_ratio",
)  # fmt: skip
#: Cells in the tables, at most; rows.parquet has all.
MAX_CELLS = 1_500
#: Points of all panels together; beyond these, metrics are left out to keep the page small.
MAX_PLACES = 12_000


@dataclass(frozen=True)
class Multiples:
    """A metric over the axes: per facet, its title and its chart's JSON."""

    metric: Metric
    panels: tuple[tuple[str, Markup], ...]
    is_first: bool


@dataclass(frozen=True)
class SweepPage:
    """The page's content.

    Attributes
    ----------
    sides
        What the sweep, or the two, are called: ``A`` and ``B``.
    names
        Of two: what the user calls them.
    results
        The sweep, or the two.
    times
        Of each: how long a run takes; of a single run, how long it took.
    answers, chances
        Of each: what is best for each group that is judged, or how it did in the only run; and
        what that lacks for a test of chance.
    verdicts, remarks
        Of each: runs by verdict, and the remarks.
    builds
        Of each: (congestion control, build, parameters).
    seeds
        Of each.
    multiples
        Small multiples by metric; `left_out` are the metrics that did not fit.
    tables
        Of each: means and intervals of the cells; `cells_left_out` more have no row.
    places
        Names of the axes that the tables' rows are named by.
    per_group, per_run
        The tables' metrics.
    links, of_links
        Of each: the links of runs with several; and the metrics that the tables have of them.
    queues
        Of each: what the queue disciplines of one run's links report.
    rules, references
        Rules of sharing; and of each, what each group of a run with several links would get.
    comparison
        The two compared; None for one.
    series
        Time series of the cells; `series_left_out` cells have none.
    labels
        Of the cells, by index.
    """

    sides: tuple[str, ...]
    names: tuple[str, str]
    results: tuple[SweepResult, ...]
    times: tuple[str, ...]
    answers: tuple[tuple[Answer, ...], ...]
    chances: tuple[str, ...]
    verdicts: tuple[Counter[str], ...]
    remarks: tuple[tuple[VerdictNote, ...], ...]
    builds: tuple[tuple[tuple[str, str, str], ...], ...]
    seeds: tuple[tuple[int, ...], ...]
    multiples: tuple[Multiples, ...]
    left_out: tuple[str, ...]
    tables: tuple[tuple[CellTable, ...], ...]
    cells_left_out: int
    places: tuple[str, ...]
    per_group: tuple[Metric, ...]
    per_run: tuple[Metric, ...]
    links: tuple[tuple[LinkCell, ...], ...]
    of_links: tuple[Metric, ...]
    queues: tuple[tuple[QueueRow, ...], ...]
    rules: tuple[tuple[str, ...], ...]
    references: tuple[tuple[ReferenceRow, ...], ...]
    comparison: SweepComparison | None
    series: tuple[Embedded, ...]
    series_left_out: int
    labels: tuple[str, ...]

    @property
    def result(self) -> SweepResult:
        """The sweep, or the first of two."""
        return self.results[0]

    @property
    def has_transfers(self) -> bool:
        """Whether some flows have an end, or an application."""
        groups = (group for result in self.results for group in result.scenario.groups)
        return any(group.size is not None or not group.traffic.is_bulk for group in groups)

    @property
    def are_runs(self) -> bool:
        """Whether either result is a single run."""
        return all(len(result.runs) == 1 and not result.axes for result in self.results)

    @property
    def is_run(self) -> bool:
        """Whether there is only one run."""
        return len(self.results) == 1 and len(self.result.runs) == 1 and not self.result.axes


def write_sweep_report(
    result: SweepResult,
    path: str | Path,
    *,
    against: SweepResult | None = None,
    names: tuple[str, str] = ("", ""),
    language: str = "",
    on_progress: Callable[[float, str], None] | None = None,
) -> Path:
    """Write a sweep's report, whole or not at all; `render_sweep` has the parameters."""
    page = render_sweep(
        result, against=against, names=names, language=language, on_progress=on_progress
    )
    return write_file(Path(path), page)


def render_sweep(
    result: SweepResult,
    *,
    against: SweepResult | None = None,
    names: tuple[str, str] = ("", ""),
    language: str = "",
    on_progress: Callable[[float, str], None] | None = None,
) -> str:
    """Return a sweep's report as HTML.

    Parameters
    ----------
    result
        The sweep; a single run is a sweep without axes.
    against
        Another sweep to compare it with.
    names
        Of the two, beside A and B: their directories'.
    language
        ``en`` or ``ja``: what the page opens in; empty leaves it to the browser.
    on_progress
        Called with the share done and what comes next.

    Raises
    ------
    ResultError
        The two have no cell in common, or a run cannot be read.
    """
    report = on_progress or (lambda _share, _what: None)
    page = gather(result, against, names, report)
    report(0.95, "writing the page")
    return render_template(
        "sweep.html.j2",
        page=page,
        language=language,
        rerun=rerun_text,
        seeds_text=seeds_text,
        labels_json=script_json(list(page.labels)),
    )


def gather(
    result: SweepResult,
    against: SweepResult | None,
    names: tuple[str, str],
    report: Callable[[float, str], None],
) -> SweepPage:
    """Gather the page's content."""
    results = (result,) if against is None else (result, against)
    sides = (result.name,) if against is None else ("A", "B")
    report(0.0, "reading the verdicts")
    remarks = tuple(tuple(verdict_notes(each)) for each in results)
    report(0.1, "computing intervals")
    # A click on a point shows its cell: a panel has one at each place of the x axis.
    figures = ResultFigures(result, second_view(result, against), joined=False)
    first, more = chosen_metrics(figures)
    per_group = tuple(metric for metric in first if metric.of_groups)
    per_run = tuple(metric for metric in first if not metric.of_groups)
    multiples, left_out = [], []
    room = MAX_PLACES // max(1, len(result.cells))
    for index, metric in enumerate([*first, *more] if len(result.cells) > 1 else []):
        report(0.1 + 0.3 * index / (len(first) + len(more)), f"drawing {metric.name}")
        if index < max(1, room):
            multiples.append(draw_multiples(figures, metric, is_first=metric in first))
        else:
            left_out.append(metric.name)
    series, series_left_out = embed(
        figures.shown, lambda share: report(0.4 + 0.5 * share, "time series")
    )
    rules, references = zip(*map(reference_rows, figures.shown), strict=True)
    answers, chances = zip(*map(answers_of, results), strict=True)
    link_metrics = of_links(figures.shown)
    return SweepPage(
        sides=sides,
        names=names,
        results=results,
        times=tuple(time_of(each) for each in results),
        answers=answers,
        chances=chances,
        verdicts=tuple(verdict_counts(each) for each in results),
        remarks=remarks,
        builds=tuple(builds_of(each) for each in results),
        seeds=tuple(tuple(sorted(set(each.rows["seed"].to_pylist()))) for each in results),
        multiples=tuple(multiples),
        left_out=tuple(left_out),
        tables=tuple(
            tuple(make_tables(figures, per_group, per_run, MAX_CELLS, shown))
            for shown in figures.shown
        ),
        cells_left_out=max(0, len(result.cells) - MAX_CELLS),
        places=figures.layout.x_axes,
        per_group=per_group,
        per_run=per_run,
        links=tuple(
            link_table(view, figures.layout, link_metrics, MAX_CELLS) for view in figures.shown
        ),
        of_links=link_metrics,
        queues=tuple(map(queue_statistics, figures.shown)),
        rules=rules,
        references=references,
        comparison=None if against is None else compare_sweeps(figures, first),
        series=tuple(series),
        series_left_out=series_left_out,
        labels=tuple(figures.layout.name_of(cell) for cell in result.cells),
    )


def answers_of(result: SweepResult) -> tuple[tuple[Answer, ...], str]:
    """Return the answers of a sweep, or of the only run of one, and what chance may decide.

    Nothing of groups that are judged by a metric which is not known here, as another user's.
    """
    try:
        if len(result.runs) > 1:
            return tuple(sweep_answers(result)), chance_of(result)
        return tuple(each for run in result.runs.values() for each in run_answers(run)), ""
    except ScenarioError:
        return (), ""


def time_of(result: SweepResult) -> str:
    """Return how long a run takes; of one run, which may have ended before, how long it took."""
    asked = result.scenario.time
    if len(result.runs) > 1:
        return str(asked)
    (run,) = result.runs.values()
    took_ns = run.summary["duration_ns"]
    has_end = any(group.client is not None for group in run.scenario.groups)
    return f"{took_ns / 1e9:.3g}s" if has_end or took_ns != int(asked) else str(asked)


def chosen_metrics(figures: ResultFigures) -> tuple[list[Metric], list[Metric]]:
    """Return the metrics shown at once, and the others."""
    groups = len(figures.first.labels)
    known = {metric.name: metric for metric in figures.metrics}
    known = {n: metric for n, metric in known.items() if not is_needless(n, is_alone=groups == 1)}
    hidden = BOTH_WAYS if any(name in known for name in OF_EACH_WAY) else ()
    first = [known[name] for name in FIRST if name in known and name not in hidden]
    return first, [metric for metric in known.values() if metric not in first]


def draw_multiples(figures: ResultFigures, metric: Metric, *, is_first: bool) -> Multiples:
    """Draw a metric over the axes."""
    drawn = figures.draw(metric)
    extents = y_ranges(drawn, whole_bars=False)
    panels = tuple(
        (
            facet.label,
            script_json(chart(figure, extent=extent, cells=[c.index for c in facet.cells])),
        )
        for facet, figure, extent in zip(figures.layout.facets, drawn, extents, strict=True)
    )
    return Multiples(metric, panels, is_first)


def builds_of(result: SweepResult) -> tuple[tuple[str, str, str], ...]:
    """Return the congestion control algorithms of the sweep's runs: name, build, parameters set."""
    found: dict[tuple[str, str], tuple[str, str, str]] = {}
    for run in first_runs_of_each_kind(result):
        for group, entry in zip(run.scenario.groups, run.groups, strict=True):
            params = ", ".join(f"{key}={value}" for key, value in group.cc.params.items())
            found[str(group.cc), entry["build"]] = (label_of(group.cc), entry["build"], params)
    return tuple(found.values())


def first_runs_of_each_kind(result: SweepResult) -> Sequence[Any]:
    """Return a run for each list of congestion control algorithms that the sweep has."""
    rows = result.rows
    kinds: dict[tuple[int, int], list[str]] = {}
    for cell, rep, cc in zip(
        rows["cell"].to_pylist(), rows["rep"].to_pylist(), rows["cc"].to_pylist(), strict=True
    ):
        kinds.setdefault((cell, rep), []).append(cc)
    first = {tuple(ccs): key for key, ccs in reversed(kinds.items())}
    return [result.runs[key] for key in sorted(first.values())]
