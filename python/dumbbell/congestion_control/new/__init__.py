"""`dumbbell cc new`: a congestion control that works, to be changed."""

from dumbbell.congestion_control.new.new import new

__all__ = ["new"]
