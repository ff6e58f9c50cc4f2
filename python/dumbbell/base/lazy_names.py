"""Public names of a package whose modules are loaded when a name is first used."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["LazyPackage", "lazy_names", "names_in_stub"]


def names_in_stub(package: str, file: str) -> Mapping[str, str]:
    """Return the module of each name that a package's stub imports.

    Parameters
    ----------
    package
        The package.
    file
        Its `__init__.py`; the stub is next to it.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {
        name.name: f"{package}.{node.module}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }


def lazy_names(package: str, file: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package with a stub."""
    modules = names_in_stub(package, file)

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module `{package}` has no attribute `{name}`")
        value = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load


class LazyPackage(ModuleType):
    """A package that imports a public name's module when the name is first used.

    numpy and pyarrow alone take longer to import than `dumbbell --help` should.

    Attributes
    ----------
    MODULES
        The public names, each with its module.
    """

    MODULES: Mapping[str, str]

    def __getattr__(self, name: str) -> Any:
        """Import the name's module."""
        if name not in self.MODULES:
            raise AttributeError(f"module `{self.__name__}` has no attribute `{name}`")
        value = getattr(import_module(self.MODULES[name]), name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Keep `dumbbell.run` the function when the module `dumbbell.run` is imported."""
        if name in self.MODULES and value is sys.modules.get(f"{self.__name__}.{name}"):
            return
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        """List the public names, loaded or not."""
        return sorted({*super().__dir__(), *self.MODULES})
