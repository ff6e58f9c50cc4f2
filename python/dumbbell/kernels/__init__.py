"""Kernels of the UML engine: User-mode Linux with a driver that runs scenarios.

`build` makes one from a Linux tree. `edits` lists what is changed in the tree, `driver/` is what is
added, `fragment.config` how it is configured. `built` finds those that are there.
"""

from dumbbell.kernels.build import HZ, BuildProgress, build
from dumbbell.kernels.built import BuiltKernel, find, kernels, remove

__all__ = ["HZ", "BuildProgress", "BuiltKernel", "build", "find", "kernels", "remove"]
