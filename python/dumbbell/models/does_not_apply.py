"""The error of a model for a scenario that violates its assumptions."""

from __future__ import annotations

from dumbbell.base.errors import DumbbellError

__all__ = ["DoesNotApply"]


class DoesNotApply(DumbbellError, ValueError):
    """The model does not cover such a scenario; the message says why."""
