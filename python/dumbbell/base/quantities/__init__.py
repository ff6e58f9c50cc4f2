"""Quantities with units: rates, times, sizes, buffers, and steps of them over time."""

from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.json_text import json_text
from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.base.quantities.quantity import Buffer, Rate, Size, Time

__all__ = [
    "Buffer",
    "Rate",
    "Size",
    "Time",
    "excerpt",
    "json_text",
    "pluralize",
]
