"""Congestion controls: what is built in, a user's own files and classes, and the kernel's."""

from dumbbell.congestion_control.choice import (
    CongestionControlChoice,
    Description,
    Parameter,
    Series,
    congestion_controls,
    describe,
)

__all__ = [
    "CongestionControlChoice",
    "Description",
    "Parameter",
    "Series",
    "congestion_controls",
    "describe",
]
