"""dumbbell: put any mix of TCP CCAs on one bottleneck and see who gets what.

>>> import dumbbell
>>> run = dumbbell.run(["copa", "cubic"], buffer="2bdp", time="2s")
>>> [group["cc"] for group in run.groups]
['copa', 'cubic']
>>> run.flows.column_names[:3]
['time_us', 'flow', 'cwnd_pkts']
"""

import sys

from dumbbell.base import engine_compat  # noqa: F401 -- before everything that needs the engine

# isort: split
from dumbbell._core import ENGINE_VERSION
from dumbbell.base.lazy_names import LazyPackage, names_in_stub

__version__ = ENGINE_VERSION

#: The public names, each with its module, as the stub lists them.
MODULES = names_in_stub(__name__, __file__)
__all__ = sorted(MODULES)

sys.modules[__name__].__class__ = LazyPackage
