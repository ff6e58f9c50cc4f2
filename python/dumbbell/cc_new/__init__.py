"""`dumbbell cc new`: a congestion control that works, to be changed."""

from dumbbell.cc_new.new import new

__all__ = ["new"]
