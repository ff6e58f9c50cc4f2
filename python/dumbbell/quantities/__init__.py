"""Quantities with units: rates, times, sizes, buffers, and steps of them over time."""

from dumbbell.quantities.quantity import Buffer, Rate, Size, Time

__all__ = ["Buffer", "Rate", "Size", "Time"]
