"""What a model says to a scenario that its assumptions leave out."""

from __future__ import annotations

from dumbbell.errors import DumbbellError

__all__ = ["DoesNotApply"]


class DoesNotApply(DumbbellError, ValueError):
    """The model says nothing of such a scenario; the message is why."""
