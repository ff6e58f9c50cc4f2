"""Quantities with units: rates, times, sizes, buffers, and steps of them over time."""

from dumbbell.quantities.excerpt import excerpt
from dumbbell.quantities.json_text import json_text
from dumbbell.quantities.pluralize import pluralize
from dumbbell.quantities.quantity import Buffer, Rate, Size, Time

__all__ = [
    "Buffer",
    "Rate",
    "Size",
    "Time",
    "excerpt",
    "json_text",
    "pluralize",
]
