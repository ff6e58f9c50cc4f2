"""The metrics as Markdown: their docstrings."""

from __future__ import annotations

import inspect

from dumbbell.metrics.metric import METRICS

__all__ = ["document"]

HEAD = "# Metrics\n\nEvery metric of a run, with its unit, formula and source.\n"


def document() -> str:
    """Return the page: every metric with its unit, formula and source."""
    return "\n".join([HEAD, *(entry(name) for name in METRICS)])


def entry(name: str) -> str:
    """Return a metric's section."""
    metric = METRICS[name]
    unit = "no unit" if metric.unit == "1" else metric.unit
    way = f", {metric.better} is better" if metric.better else ""
    text, _, source = inspect.cleandoc(metric.doc).partition("\n\nReferences\n----------\n")
    return f"## `{name}`\n\n*{unit}, of a {metric.per}{way}*\n\n{text}\n\nSource: {source}\n"
