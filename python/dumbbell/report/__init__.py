"""Reports: one HTML file that needs no network.

`sweep_page.py` makes the page of a sweep, `side_by_side.py` that of two, whose cells
`compare/pairs.py` matches. `chart.py` writes a `Figure` as JSON, `templates/charts.js` draws it,
and `cells.js` shows a cell over time when it is selected.
"""

from dumbbell.report.template import plot, render_template

__all__ = ["plot", "render_template"]
