"""Figures: described once, drawn to files by matplotlib and in pages by uPlot.

`figure.py` is what a figure shows. Runs and sweeps are unknown here: `plots` makes figures of them.
"""

from dumbbell.figures.figure import Curve, Figure, thin
from dumbbell.figures.floats import to_floats
from dumbbell.figures.frame import save_all
from dumbbell.figures.style import Style, buffer_colors, group_colors, style_of

__all__ = [
    "Curve",
    "Figure",
    "Style",
    "buffer_colors",
    "group_colors",
    "save_all",
    "style_of",
    "thin",
    "to_floats",
]
