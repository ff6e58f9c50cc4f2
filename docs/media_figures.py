"""The figures of docs/media.md: CUBIC and BBR over each medium, drawn.

``python docs/media_figures.py`` draws them into docs/figures, which takes a few seconds; matplotlib
is needed.
"""

from __future__ import annotations

from pathlib import Path

import dumbbell
from dumbbell import Scenario
from dumbbell.plots.paper_figure import save_for_print
from dumbbell.plots.run_figures import draw_series

__all__ = ["OPTIONS"]

FIGURES = Path(__file__).with_name("figures")
#: What each figure is a run of.
OPTIONS = {
    "trace": {"trace": "cellular:rate=12mbit"},
    "slot": {"impair": "slot:min=10ms"},
    "wifi": {"impair": "wifi:stations=2,error=5%"},
    "docsis": {"impair": "docsis"},
    "cellular": {"impair": "cellular"},
    "mmwave": {"impair": "mmwave", "rate": "200mbit"},
    "starlink": {"impair": "starlink", "rate": "100mbit"},
}


def draw(name: str) -> None:
    """Run both congestion controls over a medium and draw them."""
    fields = {"buffer": "2bdp", "time": "60s", "sample": "200ms", **OPTIONS[name]}
    figures = draw_series(dumbbell.run(Scenario(["cubic", "bbr"], **fields)), ("goodput", "rtt"))
    save_for_print(figures, FIGURES, f"media-{name}", formats=("svg",), size="2col", style="report")


if __name__ == "__main__":
    for known in OPTIONS:
        draw(known)
