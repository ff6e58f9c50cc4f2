"""The files that a congestion control is made of, as far as its text names them."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import sysconfig
import threading
from collections.abc import Iterator
from pathlib import Path

__all__ = ["source_files"]

#: CPython 3.11 fails at parsing in two threads at a time ("recursion depth mismatch").
PARSING = threading.Lock()
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
#: What a class in Python inherits from.
BASE_CLASS = Path(__file__).parents[1] / "congestion_control/python.py"


def source_files(path: Path) -> list[Path]:
    """Return a source file and the user's files that it includes by ``"name"`` or imports.

    An include under a condition that does not hold is listed too: a change of it makes a run
    without need, but never gives a wrong result.
    """
    found: dict[Path, None] = {}
    waiting = [path.resolve()]
    if path.suffix == ".py":
        waiting.append(BASE_CLASS)
    while waiting:
        file = waiting.pop()
        if file in found or not file.is_file():
            continue  # the headers that come with the engine are in its build
        found[file] = None
        text = file.read_bytes()
        waiting += imported(file, text) if file.suffix == ".py" else included(file, text)
    return list(found)


def included(file: Path, text: bytes) -> Iterator[Path]:
    """Return the files that a C file includes, as far as they exist.

    With a header goes the module of its name: ``tcp_vegas.c`` is built into what includes
    ``tcp_vegas.h``.
    """
    for name in INCLUDE.findall(text):
        header = (file.parent / os.fsdecode(name)).resolve()
        yield from (header, header.with_suffix(".c"))


def imported(importer: Path, text: bytes) -> Iterator[Path]:
    """Return the modules that a Python file imports, whole packages, without installed ones.

    They are next to it, or on the module path.
    """
    try:
        with PARSING:
            nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the run reports it
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    for name in sorted({name.partition(".")[0] for name in names} - {"", "dumbbell"}):
        beside = importer.parent / name
        if (beside / "__init__.py").is_file():
            yield from sorted(beside.rglob("*.py"))
            continue
        if beside.with_suffix(".py").is_file():
            yield beside.with_suffix(".py")
            continue
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            continue
        if spec is None or spec.origin is None or is_installed(Path(spec.origin)):
            continue
        yield from (
            [Path(spec.origin)]
            if not spec.submodule_search_locations
            else sorted(Path(spec.origin).parent.rglob("*.py"))
        )


def is_installed(module: Path) -> bool:
    """Whether a module belongs to Python or to an installed package."""
    return any(module.is_relative_to(path) for path in set(sysconfig.get_paths().values()))
