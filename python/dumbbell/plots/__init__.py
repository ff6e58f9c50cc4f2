"""Figures of runs, of sweeps and of models over them."""

from dumbbell.plots.labels import group_colors, group_labels
from dumbbell.plots.model_overlay import overlay
from dumbbell.plots.paper_figure import save_for_print

__all__ = ["group_colors", "group_labels", "overlay", "save_for_print"]
