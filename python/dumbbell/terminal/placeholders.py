"""Placeholders of packages that a process which only completes a command line does without."""

from __future__ import annotations

from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["PlaceholderImporter"]

#: What completes no word, and takes most of the time that the commands take to load.
SLOW = {"jinja2", "matplotlib", "numpy", "pyarrow"}


class Placeholder(ModuleType):
    """Stands for a package, and for everything that a module's top level does with it."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> Placeholder:
        """Return what stands for a class or a function."""
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(name)

    def __call__(self, *_: Any, **__: Any) -> Placeholder:
        """Return what stands for its result."""
        return self

    def __getitem__(self, _: Any) -> Placeholder:
        """Return what stands for a generic type."""
        return self

    __or__ = __ror__ = __getitem__


class PlaceholderImporter(MetaPathFinder, Loader):
    """Imports placeholders of what completion does not need."""

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        """Take what is slow to import."""
        if fullname.partition(".")[0] not in SLOW:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a placeholder."""
        return Placeholder(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: a placeholder has no code."""
