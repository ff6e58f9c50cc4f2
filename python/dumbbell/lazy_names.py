"""Public names of a package whose modules are loaded when a name is first used."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["lazy_names", "names_in_stub"]


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
