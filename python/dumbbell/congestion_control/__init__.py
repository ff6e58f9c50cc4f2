"""Congestion controls: what is built in, a user's own files and classes, and the kernel's."""

from dumbbell.congestion_control.choice import (
    CongestionControlChoice,
    Description,
    Parameter,
    Series,
    congestion_controls,
    describe,
)
from dumbbell.congestion_control.live import SourceFiles, live
from dumbbell.congestion_control.recorded import RecordedCongestionControl

__all__ = [
    "CongestionControlChoice",
    "Description",
    "Parameter",
    "RecordedCongestionControl",
    "Series",
    "SourceFiles",
    "congestion_controls",
    "describe",
    "live",
]
