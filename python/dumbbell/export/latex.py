"""Metrics as a table for LaTeX: means with their intervals, in the form of `booktabs`."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from dumbbell.base.errors import ResultError, nearest
from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.base.writing import write_file
from dumbbell.metrics import Metric, judged_by
from dumbbell.plots.result_figures import SweepView, usual_names
from dumbbell.plots.sweep_layout import axis_label, tick_label
from dumbbell.report.source import load_results
from dumbbell.report.summary_table import digits_of
from dumbbell.statistics import Interval
from dumbbell.statistics.format import MIN_INTERVAL
from dumbbell.sweeps.design import label_of

__all__ = ["export_latex", "latex_table"]

#: What LaTeX reads as its own.
SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "×": r"$\times$", "→": r"$\to$", "µ": r"\textmu{}", "²": r"\textsuperscript{2}",
}  # fmt: skip
SPECIAL_LETTERS = re.compile("|".join(map(re.escape, SPECIAL)))
#: Significant digits of an interval, as in tables of measurements; and what is no interval but the
#: rounding of a computer.
INTERVAL_DIGITS, ROUNDING = 2, 1e-12
#: Of a head, in characters.
HEAD_WIDTH = 9
#: In a cell without a value.
NOTHING = "--"
#: The row of what is not a group's.
WHOLE_RUN = "all"


def export_latex(
    directory: str | Path, out: str | Path | None = None, metrics: Sequence[str] = ()
) -> Path:
    """Write a run's or a sweep's metrics as `table.tex`, which a paper inputs.

    Parameters
    ----------
    directory
        What `run` or `sweep` wrote with ``--out``.
    out
        Directory of the file, created if it does not exist; by default ``latex`` in `directory`.
    metrics
        Names; by default those that the groups are judged by, else share, goodput per flow and
        queueing delay.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ResultError
        There are no results, no such metric, or the file cannot be written.
    """
    directory = Path(directory)
    place = Path(out) if out is not None else directory / "latex"
    view = SweepView(load_results(directory))
    return write_file(place / "table.tex", latex_table(view, metrics))


def latex_table(view: SweepView, names: Sequence[str] = ()) -> str:
    """Return a sweep's metrics as a `tabular`: a row per cell and group, and one of all.

    Parameters
    ----------
    view
        The sweep.
    names
        Of the metrics.
    """
    known = {metric.name: metric for metric in view.values.metrics}
    scenario = view.result.scenario
    judging = dict.fromkeys(metric.name for metric in judged_by(scenario).values())
    wanted = names or [*judging] or usual_names(list(known), is_alone=False)
    for name in wanted:
        if name not in known:
            hint = nearest(name, known) or "; `dumbbell list metrics` lists them"
            raise ResultError(f"the runs have no metric `{name}`{hint}")
    metrics = [known[name] for name in wanted]
    axes = [axis for axis in view.result.axes if len(set(axis.labels)) > 1]
    groups = range(len(view.labels)) if any(each.of_groups for each in metrics) else range(1)
    digits = {
        metric.name: digits_of([view.values.interval(metric.name, cell.index, group)
                                for cell in view.result.cells for group in groups])
        for metric in metrics
    }  # fmt: skip
    several = len(groups) > 1 and any(not each.of_groups for each in metrics)
    of_run = [len(groups)] if several else []
    heads = [axis_label(axis, view.labels) for axis in axes]
    heads += ["group"] if len(groups) > 1 else []
    heads += [head_of(metric, of_several=len(scenario.links) > 1) for metric in metrics]
    lines = []
    last: list[str] = []
    for cell in view.result.cells:
        place = [tick_label(axis, label_of(cell.values[axis.name])) for axis in axes]
        for group in [*groups, *of_run]:
            # A value that is that of the row above is not repeated.
            same = [a == b for a, b in zip(place, last, strict=False)]
            begun = same.index(False) if False in same else len(same)
            words = ["" if at < begun else escape(word) for at, word in enumerate(place)]
            whose = WHOLE_RUN if group == len(groups) else view.name_in(cell, group)
            words += [escape(whose)] if len(groups) > 1 else []
            # What is of the whole run, or of a link, is no group's.
            shown = [not of_run or each.of_groups == (group not in of_run) for each in metrics]
            words += [
                value_of(view, metric, cell.index, 0 if group in of_run else group, digits)
                if is_shown else ""
                for metric, is_shown in zip(metrics, shown, strict=True)
            ]  # fmt: skip
            lines.append(" & ".join(words) + r" \\")
            last = place
    columns = f"@{{}}{'l' * (len(heads) - len(metrics))}{'r' * len(metrics)}@{{}}"
    n = sorted({len(view.values.at.get((cell.index, 0), ())) for cell in view.result.cells})
    reps = pluralize(n[0], "run") if len(n) == 1 else f"{n[0]} to {n[-1]} runs"
    means = f"Means over {reps}, with 95 % intervals from {MIN_INTERVAL} on."
    return "\n".join(
        [
            rf"% Needs \usepackage{{booktabs}}. {'Of one run.' if n == [1] else means}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            *head_lines(heads),
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def head_lines(heads: Sequence[str]) -> list[str]:
    """Return the heads of the columns in as many lines as let a table fit a paper's column."""
    broken = [textwrap.wrap(head, HEAD_WIDTH, break_long_words=False) for head in heads]
    most = max(map(len, broken))
    lines = zip(*([""] * (most - len(each)) + each for each in broken), strict=True)
    return [" & ".join(map(escape, line)) + r" \\" for line in lines]


def head_of(metric: Metric, *, of_several: bool) -> str:
    """Return the head of a metric's column, with its unit, and which of several links it is of."""
    unit = metric.shown_unit or ("" if metric.unit == "1" else metric.unit)
    title = metric.title
    if metric.per == "link" and of_several:
        title += f" at {metric.link}" if metric.link else " at the bottleneck"
    return f"{title} ({unit})" if unit else title


def value_of(view: SweepView, metric: Metric, cell: int, group: int, digits: dict[str, int]) -> str:
    """Return a cell of the table."""
    return written(view.values.interval(metric.name, cell, group), digits[metric.name])


def written(interval: Interval, digits: int) -> str:
    """Write a mean with its interval; with both ends where these are not alike far from it.

    Of an interval two digits are written, and of the mean as many places; without one, `digits`.
    """
    if math.isnan(interval.mean):
        return NOTHING
    if not interval.bounded or interval.n < MIN_INTERVAL:
        return f"${interval.mean:.{digits}f}$"
    half = interval.half_width
    if half > ROUNDING * abs(interval.mean):
        digits = max(0, INTERVAL_DIGITS - 1 - math.floor(math.log10(half)))
    mean = f"{interval.mean:.{digits}f}"
    if interval.method == "bootstrap-t":
        return f"${mean}$ [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"
    return rf"${mean} \pm {half:.{digits}f}$"


def escape(text: str) -> str:
    """Return text as LaTeX prints it."""
    return SPECIAL_LETTERS.sub(lambda found: SPECIAL[found[0]], text)
