"""`dumbbell cc new`: a congestion control algorithm that works, to be changed."""

from dumbbell.congestion_control.new.new import KINDS, Kind, new

__all__ = ["KINDS", "Kind", "new"]
