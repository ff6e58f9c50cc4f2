"""What to run: flows in groups, over which links, and for how long."""

from dumbbell.scenario.group import MAX_FLOWS, Group
from dumbbell.scenario.link import Link
from dumbbell.scenario.scenario import Scenario

__all__ = ["MAX_FLOWS", "Group", "Link", "Scenario"]
