"""CCAs: what is built in, a user's own files and classes, and the kernel's.

A `CongestionControlChoice` is looked up: its file must exist, and what it declares comes from
compiling it in a confined process. A `RecordedCongestionControl`, its subclass, belongs to a
result: it has what the engine recorded when it ran, and checks nothing. Every scenario read from
disk has the second kind. `execute` turns it into the first with `live()`, which refuses a file that
is not what ran. There is no other way from a result to code.
"""

from dumbbell.congestion_control.choice import CongestionControlChoice
from dumbbell.congestion_control.description import (
    Description,
    Parameter,
    Series,
    congestion_controls,
    describe,
)
from dumbbell.congestion_control.linux_tree import tree_in_use
from dumbbell.congestion_control.live import SourceFiles, live
from dumbbell.congestion_control.names import short_names
from dumbbell.congestion_control.presets import BBR_BEFORE_5_1, BBR_OVER_PACING, PRESETS
from dumbbell.congestion_control.recorded import RecordedCongestionControl

__all__ = [
    "BBR_BEFORE_5_1",
    "BBR_OVER_PACING",
    "PRESETS",
    "CongestionControlChoice",
    "Description",
    "Parameter",
    "RecordedCongestionControl",
    "Series",
    "SourceFiles",
    "congestion_controls",
    "describe",
    "live",
    "short_names",
    "tree_in_use",
]
