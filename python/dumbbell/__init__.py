"""dumbbell: put any mix of TCP CCAs on one bottleneck and see who gets what.

>>> import dumbbell
>>> run = dumbbell.run(["copa", "cubic"], buffer="2bdp", time="2s")
>>> [group["cc"] for group in run.groups]
['copa', 'cubic']
>>> run.flows.column_names[:3]
['time_us', 'flow', 'cwnd_pkts']
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from dumbbell import engine_compat  # noqa: F401 -- before everything that needs the engine
from dumbbell._core import ENGINE_VERSION
from dumbbell.lazy_names import names_in_stub

__version__ = ENGINE_VERSION

#: The public names, each with its module, as the stub lists them.
MODULES = names_in_stub(__name__, __file__)
__all__ = sorted(MODULES)


class LazyPackage(ModuleType):
    """A package that imports a public name's module when the name is first used.

    numpy and pyarrow alone take longer to import than `dumbbell --help` should.
    """

    def __getattr__(self, name: str) -> Any:
        """Import the name's module."""
        if name not in MODULES:
            raise AttributeError(f"module `dumbbell` has no attribute `{name}`")
        value = getattr(import_module(MODULES[name]), name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Keep `dumbbell.run` the function when the module `dumbbell.run` is imported."""
        if name in MODULES and value is sys.modules.get(f"dumbbell.{name}"):
            return
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        """List the public names, loaded or not."""
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = LazyPackage
