"""What to run: flows in groups, over which links, and for how long."""

from dumbbell.scenario.describe_path import describe_path
from dumbbell.scenario.fields import fields_of
from dumbbell.scenario.group import MAX_FLOWS, Group
from dumbbell.scenario.group_labels import label_of
from dumbbell.scenario.link import Link
from dumbbell.scenario.linux_release import TcpChoice
from dumbbell.scenario.scenario import Scenario

__all__ = [
    "MAX_FLOWS",
    "Group",
    "Link",
    "Scenario",
    "TcpChoice",
    "describe_path",
    "fields_of",
    "label_of",
]
