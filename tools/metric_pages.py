"""The guide's pages of metrics: an entry each, and the table that leads to them."""

from __future__ import annotations

from markdown_tables import markdown_table  # next to this file

from dumbbell.metrics import METRICS
from dumbbell.metrics.document import entry

__all__ = ["pages", "table"]


def pages() -> dict[str, str]:
    """Return the page of every metric, by its path."""
    return {f"metrics/{name}.md": entry(name).removeprefix("#") for name in METRICS}


def table() -> str:
    """Return a row per metric: what it is, its unit, what has one, and which way is better."""
    rows = [
        [
            f"[`{name}`](_generated/metrics/{name}.md)",
            metric.title,
            "" if metric.unit == "1" else metric.unit,
            metric.per,
            metric.better or "",
        ]
        for name, metric in METRICS.items()
    ]
    return markdown_table(["metric", "what it is", "unit", "of a", "better"], rows)
