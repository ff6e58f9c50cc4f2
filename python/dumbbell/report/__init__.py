"""Reports: one HTML file that needs no network."""

from dumbbell.report.template import plot, render_template, write_page

__all__ = [
    "plot",
    "render_template",
    "write_page",
]
