"""Figures: described once, drawn to files by matplotlib and in pages by uPlot."""

from dumbbell.plots.figure import Curve, Figure, thin
from dumbbell.plots.floats import to_floats
from dumbbell.plots.model_overlay import overlay
from dumbbell.plots.paper_figure import save_all
from dumbbell.plots.style import Style, buffer_colors, group_colors, group_labels, style_of

__all__ = [
    "Curve",
    "Figure",
    "Style",
    "buffer_colors",
    "group_colors",
    "group_labels",
    "overlay",
    "save_all",
    "style_of",
    "thin",
    "to_floats",
]
