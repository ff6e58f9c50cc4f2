"""The page of `dumbbell what-if`: predictions beside what was captured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dumbbell.base.writing import write_file
from dumbbell.fit import FittedPath, Outcome, Prediction, draw_prediction
from dumbbell.report.template import plot, render_template

__all__ = ["write_what_if_page"]


def write_what_if_page(
    fitted: FittedPath, predictions: Sequence[Prediction], path: Path, language: str = ""
) -> Path:
    """Write the page, whole or not at all."""
    page = render_template(
        "what_if.html.j2",
        language,
        fitted=fitted,
        captured=Outcome.of(fitted.seen).words,
        rows=[(each.cc, each.words) for each in predictions],
        plots=[plot(figure) for figure in draw_prediction(fitted, predictions)],
    )
    return write_file(path, page)
