"""Statistics of repetitions: means with intervals, differences, effect sizes.

docs/statistics.md says which method is used when, and why.
"""

import sys

from dumbbell.base.lazy_names import LazyPackage, names_in_stub

MODULES = names_in_stub(__name__, __file__)

sys.modules[__name__].__class__ = LazyPackage
