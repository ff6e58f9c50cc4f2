"""`dumbbell compare`: two sets of runs, pair by pair."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from dumbbell.base.errors import ScenarioError
from dumbbell.compare import Comparison, PairedComparison, compare
from dumbbell.metrics import METRICS, Metric
from dumbbell.plots.result_figures import OF_EACH_WAY
from dumbbell.statistics import Interval
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_metrics
from dumbbell.terminal.console import print_json, print_line
from dumbbell.terminal.table import print_table

__all__ = ["compare_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell compare results/before results/after",
    "dumbbell compare results/before results/after --metric share,jain --warmup 5s",
)

#: What is compared when nothing is said: a few numbers that a paper's table would have.
USUAL = (
    "goodput_per_flow_bps", "share", *OF_EACH_WAY, "jain", "utilization", "rtt_mean_us",
    "queue_delay_p95_us", "retransmission_rate",
)  # fmt: skip
ABSENT = "–"
#: Of the metrics of a cell, below it.
INDENT = "  "
COMMA = re.compile(r",(?=[^\s\d])")
PERCENTILE = re.compile(r", (\d+)th percentile")
#: Titles that are shorter in a terminal.
SHORT = {"throughput share": "share", "retransmission rate": "retransmitted"}


def compare_command(
    a: Annotated[Path, typer.Argument(metavar="A", help="Directory of a run, a sweep, or runs.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Another: the changed one.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Metric, or several by commas, or `all`. `dumbbell list metrics` lists them.",
            autocompletion=complete_metrics,
        ),
    ] = None,
    warmup: Annotated[
        str | None, typer.Option(help="Ignore the start of every run: `20s`, or `auto`.")
    ] = None,
    harm: Annotated[
        bool,
        typer.Option(
            "--harm", help="A holds each group alone: report what competing in B costs it."
        ),
    ] = False,
    json: options.Json = False,
) -> int:
    """Compare two sets of runs: B minus A, paired by seed.

    Pairs are runs of the same conditions; the congestion control algorithms may differ, and what
    all runs of one side have and none of the other, like a queue discipline.
    """
    result = compare(
        a, b, metrics=metric_names(metric), warmup=warmup, solo=harm, with_judged=not metric,
        names=(str(a), str(b)),
    )  # fmt: skip
    if json:
        print_json(result.to_dict())
        return 0
    print_comparison(result)
    return 0


def metric_names(said: Sequence[str] | None) -> list[str]:
    """Return the metrics that were asked for."""
    if not said:
        return list(USUAL)
    names = [name.strip() for each in said for name in each.split(",")]
    if "all" in names:
        if len(names) > 1:
            raise ScenarioError("`all` cannot be combined with names of metrics")
        return list(METRICS)
    return names


def print_comparison(result: PairedComparison) -> None:
    """Print a row per cell, metric and group, and how to read it."""
    for line in (f"A  {result.a}", f"B  {result.b}", *changes(result)):
        print_line(line)
    solo = any(entry.harm is not None for entry in result.comparisons)
    columns = (
        "metric", "group", "A", "B", "B - A", "95 % interval",
        *(("harm, %", "95 % interval") if solo else ("effect", "better")),
    )  # fmt: skip
    rows: list[tuple[str, ...]] = []
    cell = None
    several = len({entry.cell for entry in result.comparisons if entry.a}) > 1
    for entry in result.comparisons:
        if not entry.a:
            continue
        if several and entry.cell != cell:
            # Above its metrics: a column of them would leave no room for the numbers.
            rows.append((COMMA.sub(", ", entry.cell), *("" for _ in columns[1:])))
            cell = entry.cell
        name, *numbers = row(entry, solo=solo)
        rows.append((f"{INDENT if several else ''}{name}", *numbers))
    print_table(columns, rows, left=range(2), optional=("effect",), stub=2)
    for line in notes(result):
        print_line(line)


def called(entry: Comparison) -> str:
    """Return what a group is called on both sides; nothing for a metric of the run.

    One of which a line above has both algorithms is called by its number: a row is one line.
    """
    changed = entry.name_a != entry.name_b
    if changed and entry.cc_a != entry.cc_b:
        return f"{entry.group}"
    return f"{entry.name_a}\n→ {entry.name_b}" if changed else entry.name_a


def row(entry: Comparison, *, solo: bool) -> tuple[str, ...]:
    """Return a comparison's row."""
    metric, difference = entry.metric, entry.difference
    harm = entry.harm
    effect = ABSENT if difference.effect is None else f"{difference.effect:+.1f}"
    last = (
        (ABSENT if harm is None else f"{100 * harm.mean:+.1f}", ends(harm, 100))
        if solo
        else (effect, verdict(entry))
    )
    return (
        labelled(metric),
        called(entry),
        *(number(float(np.mean(values)) * metric.scale) for values in (entry.a, entry.b)),
        number(difference.interval.mean * metric.scale, sign="+"),
        ends(difference.interval, metric.scale),
        *last,
    )


def verdict(entry: Comparison) -> str:
    """Say which side is better; in brackets where it is not sure with that many comparisons."""
    side = {None: "≠", "a": "A", "b": "B"}[entry.leading]
    if entry.differs:
        return side
    return f"({side})" if entry.excludes_zero else ""


def changes(result: PairedComparison) -> list[str]:
    """Say what is another on side B: a group's congestion control, a queue discipline."""
    changed = {
        (entry.name_a if entry.name_a == entry.name_b else f"group {entry.group}", entry.cc_a,
         entry.cc_b): None
        for entry in result.comparisons
        if entry.cc_a != entry.cc_b
    }  # fmt: skip
    apart = [(key, *values) for key, values in result.differing.items()]
    return [f"   {what}: {in_a} in A, {in_b} in B" for what, in_a, in_b in [*changed, *apart]]


def labelled(metric: Metric) -> str:
    """Write a metric's title, short, with the unit it is shown in."""
    title = SHORT.get(metric.title) or PERCENTILE.sub(r" p\1", metric.title)
    return f"{title}, {metric.shown_unit}" if metric.shown_unit else title


def number(value: float, sign: str = "") -> str:
    """Write a number with four digits: 0.9966, 48.12, 1234; 0 for none."""
    if value == 0:
        return "0"
    digits = 0 if abs(value) >= 1000 else 2 if abs(value) >= 10 else 3 if abs(value) >= 1 else 4
    return f"{value:{sign}.{digits}f}"


def ends(interval: Interval | None, scale: float) -> str:
    """Write an interval's ends."""
    if interval is None or not interval.bounded:
        return ABSENT
    low, high = (number(end * scale, sign="+") for end in (interval.low, interval.high))
    return f"{low} … {high}"


def notes(result: PairedComparison) -> list[str]:
    """Say how many pairs there are, what is left out, and what is sure."""
    unpaired = result.unpaired_a + result.unpaired_b
    left_out = (
        f"; left out: {result.unpaired_a} of A and {result.unpaired_b} of B, INVALID or with no "
        "run of the same conditions and seed on the other side"
        if unpaired
        else ""
    )
    pairs = f"{result.pairs} {'pair' if result.pairs == 1 else 'pairs'} of runs{left_out}"
    judged = [entry for entry in result.comparisons if entry.p_adjusted is not None]
    if not judged:
        return [pairs, "a pair alone has no interval; repeat with several seeds (`--reps 10`)"]
    differing = sum(entry.differs for entry in judged)
    return [
        pairs,
        f"{differing} of {len(judged)} differ surely (p < 0.05 by Student's t of pairs, adjusted "
        "for all by Holm); in brackets: the interval alone excludes 0; ≠: neither way is better",
    ]
