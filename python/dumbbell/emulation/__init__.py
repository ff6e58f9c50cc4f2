"""Any program over an emulated path: two hosts, and the network between them."""

from dumbbell.emulation.path import EmulatedPath, emulate
from dumbbell.emulation.process import Process

__all__ = ["EmulatedPath", "Process", "emulate"]
