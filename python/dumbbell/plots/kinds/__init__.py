"""Kinds of figures, a file each: what draws tidy values as lines, bars, distributions, …"""

from dumbbell.plots.kinds.kinds import KINDS, default_kind, draw_kind

__all__ = ["KINDS", "default_kind", "draw_kind"]
