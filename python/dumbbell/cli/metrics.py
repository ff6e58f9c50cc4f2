"""`dumbbell list metrics`: what is measured of a run, by which formula."""

from __future__ import annotations

import inspect
import sys
from typing import Annotated, Any

import typer

from dumbbell.base.errors import ScenarioError
from dumbbell.cli.listed import listed
from dumbbell.metrics import METRICS, Metric
from dumbbell.metrics.document import document
from dumbbell.metrics.metric import canonical
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_metrics
from dumbbell.terminal.console import out, plain, print_json
from dumbbell.terminal.table import print_table

__all__ = ["metrics_command"]

#: What the help ends with.
EXAMPLES = ("dumbbell list metrics", "dumbbell list metrics rtt", "dumbbell list metrics jain")


def metrics_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="One metric, or part of names.", autocompletion=complete_metrics
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print all of them as Markdown.")
    ] = False,
    json: options.Json = False,
) -> int:
    """List the metrics, or print the formula and source of one."""
    if markdown:
        if name is not None or json:
            raise ScenarioError("--markdown cannot be combined with other options")
        sys.stdout.write(plain(document()))
        return 0
    chosen = [METRICS[each] for each in listed(name and canonical(name), METRICS, "metric")]
    if json:
        print_json([describe(metric) for metric in chosen])
    elif name is None or name not in METRICS:
        print_list(chosen)
    else:
        (one,) = chosen
        out().print(f"{one.name} ({unit_of(one)}, of a {one.per})\n", markup=False)
        out().print(reflowed(inspect.cleandoc(one.doc)), markup=False)
    return 0


def reflowed(doc: str) -> str:
    """Return a docstring without the line breaks of its source: the terminal has its own."""
    paragraphs = []
    for text in doc.split("\n\n"):
        lines = text.split("\n")
        head = lines[:2] if len(lines) > 1 and set(lines[1]) == {"-"} else []
        paragraphs.append("\n".join([*head, " ".join(lines[len(head) :])]))
    return "\n\n".join(paragraphs)


def describe(metric: Metric) -> dict[str, Any]:
    """Return a metric as JSON lists it."""
    keys = ("name", "unit", "title", "better", "per")
    return {
        **{key: getattr(metric, key) for key in keys},
        "description": inspect.cleandoc(metric.doc),
    }


def unit_of(metric: Metric) -> str:
    """Return a metric's unit in words."""
    return "no unit" if metric.unit == "1" else metric.unit


def print_list(metrics: list[Metric]) -> None:
    """Print a row per metric."""
    rows = [
        (metric.name, metric.title, metric.unit, metric.per, metric.better or "–")
        for metric in metrics
    ]
    columns = ("metric", "what", "unit", "of a", "better")
    print_table(columns, rows, left=range(5), optional=("better", "unit"))
    out().print("`dumbbell list metrics NAME` for formula and source")
