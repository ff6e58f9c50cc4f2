"""What to run: flows in groups, one bottleneck, and for how long."""

from dumbbell.scenario.scenario import MAX_FLOWS, Group, Scenario

__all__ = ["MAX_FLOWS", "Group", "Scenario"]
