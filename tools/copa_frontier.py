"""Draws Copa's frontier: the queue of 128 of its flows against its smallest share next to CUBIC.

``python tools/copa_frontier.py`` takes some minutes and writes docs/figures/copa-frontier.svg. A
curve is an algorithm whose `mode_margin_us`, the queue that counts as its own, varies: the more,
the longer own flows stay in default mode, and the later it competes with others.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from copa_targets import Cell, run_cells, scenario_of  # next to this file
from element_figures import compact

from dumbbell.figures import Curve, Figure
from dumbbell.plots.paper_figure import save_for_print

__all__ = ["CURVES", "draw", "main"]

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
MARGINS_MS = (0.1, 0.5, 1, 2, 3, 5, 7, 10, 20)
SEEDS = range(9101, 9104)
QUEUE = Cell("own", 128, "100mbit", 8)
#: Of one flow next to one of CUBIC; what counts is its smallest share.
SHARES = tuple(Cell("cubic", 1, "50mbit", bdp) for bdp in (0.5, 2, 8, 64))
#: What is drawn, with its colour and marker, and whether its margin varies.
CURVES = (
    ("copa", "#000000", "D", False),
    ("copa@paper", "#009e73", "^", False),
    ("copa@calm", "#0072b2", "o", True),
    ("copa@calm-2", "#d55e00", "s", True),
)


def spelled(cc: str, margin_ms: float) -> str:
    """Return an algorithm with the margin."""
    return f"{cc}:mode_margin_us={round(1000 * margin_ms)}"


def draw() -> Figure:
    """Measure, and return the figure."""
    ccs = {
        name: [spelled(name, margin) for margin in MARGINS_MS] if varies else [name]
        for name, _, _, varies in CURVES
    }
    cells = {
        (cc, cell): scenario_of(cell, cc)
        for each in ccs.values()
        for cc in each
        for cell in (QUEUE, *SHARES)
    }
    measured = run_cells(cells, SEEDS, "simulator")

    def mean(cc: str, cell: Cell, name: str) -> float:
        return float(np.mean([getattr(run, name) for run in measured[cc, cell]]))

    curves = tuple(
        Curve(
            f"{name}, margin 0.1 to 20 ms" if varies else name,
            np.array([mean(cc, QUEUE, "queue_ms") for cc in ccs[name]]),
            np.array([min(mean(cc, cell, "share") for cell in SHARES) for cc in ccs[name]]),
            color, marker, dashed=0 if name == "copa@calm-2" else 1,
        )
        for name, color, marker, varies in CURVES
    )  # fmt: skip
    for curve in curves:
        points = zip(curve.x, curve.y, strict=True)
        sys.stdout.write(f"{curve.label}: {', '.join(f'{x:.0f} ms {y:.2f}' for x, y in points)}\n")
    return Figure(
        name="copa-frontier", title="Copa's frontier",
        x_label="queueing delay of 128 own flows (ms)",
        y_label="share next to CUBIC",
        curves=curves, x_ticks=(10, 20, 40, 80, 160, 320), y_range=(0.0, 1.0),
    )  # fmt: skip


def main() -> None:
    """Write the figure."""
    (path,) = save_for_print([draw()], FIGURES, "copa-frontier", formats=("svg",), style="report")
    path.write_text(compact(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
