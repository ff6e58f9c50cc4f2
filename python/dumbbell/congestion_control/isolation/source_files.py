"""The files that a congestion control algorithm is made of, as far as its text names them."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import sysconfig
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from dumbbell.base.errors import ResultError
from dumbbell.base.result_file import read_bytes
from dumbbell.congestion_control.isolation.sandbox import is_confined

__all__ = ["INCLUDE", "find_sources", "source_files"]

#: CPython 3.11 fails at parsing in two threads at a time ("recursion depth mismatch").
PARSING = threading.Lock()
#: Also of what is named in angle brackets, for it may be next to the file.
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
#: What a class in Python inherits from.
BASE_CLASS = Path(__file__).parents[1] / "python.py"
#: Part of dumbbell, and not of the user's sources.
PACKAGE = Path(__file__).parents[2]
#: What is a source, as for compilers (`crates/cc/src/build/readable_sources.rs`). A file can name
#: any other in an `#include` or by a link; that is not read.
SUFFIXES = frozenset({".S", ".c", ".def", ".h", ".i", ".inc", ".py", ".tbl", ".x"})
#: The most that is read to find what a congestion control algorithm consists of.
MAX_BYTES = 64 << 20
MAX_FILES = 1000


def source_files(path: Path) -> list[Path]:
    """Return a source file and the user's files that it includes by ``"name"`` or imports."""
    own = [BASE_CLASS] if path.suffix == ".py" else []
    return [*find_sources(path), *own]


def find_sources(path: Path) -> dict[Path, tuple[str, bytes]]:
    """Read a source file and the user's files that it includes by ``"name"`` or imports.

    An include under a condition that does not hold is listed too: a change of it makes a run
    without need, but never gives a wrong result.

    Returns
    -------
    dict
        Each file's name (of a module in Python its path below the module path) and content.

    Raises
    ------
    ResultError
        The file cannot be read, or it consists of more than a congestion control algorithm does.
    """
    main = real_path(path)
    try:
        found = {main: (main.name, read_bytes(main, MAX_BYTES))}
    except OSError:
        raise ResultError(f"{path}: no such file") from None
    size = len(found[main][1])
    waiting = [main]
    while waiting:
        file = waiting.pop()
        if file.suffix == ".py":
            others = imported(file, found[file][1], main.parent)
        else:
            others = included(file, found[file][1])
        for other, name in others:
            if other in found or other.is_relative_to(PACKAGE) or other.suffix not in SUFFIXES:
                continue
            if main.suffix != ".py" and is_confined() and not other.is_relative_to(main.parent):
                continue  # the compiler cannot read it, so no build has it, and no result may
            try:
                text = read_bytes(other, MAX_BYTES)
            except (OSError, ResultError):
                continue  # one of the engine's headers, or the compiler reports it
            found[other] = (name, text)
            waiting.append(other)
            size += len(text)
            if len(found) > MAX_FILES or size > MAX_BYTES:
                raise ResultError(
                    f"{path}: includes or imports more than {MAX_FILES:,} files or "
                    f"{MAX_BYTES:,} bytes"
                )
    return found


def included(file: Path, text: bytes) -> Iterator[tuple[Path, str]]:
    """Yield the files that a C file includes, and their names.

    With a header goes the module of its name: ``tcp_vegas.c`` is built into what includes
    ``tcp_vegas.h``.
    """
    if b"\0" in text:
        return  # not a text
    for name in INCLUDE.findall(text):
        header = file.parent / os.fsdecode(name)
        if not header.name:
            continue  # the root directory
        for each in (header, header.with_suffix(".c")):
            # Most are the engine's headers, which are not there.
            if os.path.lexists(each) and not leads_out(each, file.parent):
                yield real_path(each), each.name


def imported(file: Path, text: bytes, root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the modules that a Python file imports, and their paths below a module path.

    They are next to it, in `root`, or on the module path; of packages all modules, of installed
    ones none.
    """
    try:
        with PARSING:
            nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the run reports it
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    directories = list(dict.fromkeys((file.parent, root)))
    for name in sorted({name.partition(".")[0] for name in names} - {"", "dumbbell"}):
        for origin in modules_of(directories, name):
            if origin.name != "__init__.py":
                yield real_path(origin), origin.name
                continue
            for module in sorted(origin.parent.rglob("*.py")):
                if not any(leads_out(module, directory) for directory in directories):
                    yield real_path(module), module.relative_to(origin.parents[1]).as_posix()


def leads_out(path: Path, directory: Path) -> bool:
    """Whether a file in a directory is a link that leads out of it."""
    return path.absolute().is_relative_to(directory) and not real_path(path).is_relative_to(
        directory
    )


def real_path(path: Path) -> Path:
    """Return a path without links; of a link to itself, at which `resolve` raises, the path."""
    return Path(os.path.realpath(path))


def modules_of(directories: Sequence[Path], name: str) -> list[Path]:
    """Return the user's files that a module may be: of each directory, else of the module path."""
    origins = [
        beside
        for directory in directories
        for beside in (directory / name / "__init__.py", directory / f"{name}.py")
        if beside.is_file()
    ]
    if not origins:
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return []
        origins = [Path(spec.origin)] if spec is not None and spec.origin is not None else []
    return [
        origin
        for origin in origins
        if not is_installed(origin)
        and not any(leads_out(origin, directory) for directory in directories)
    ]


def is_installed(module: Path) -> bool:
    """Whether a module belongs to Python or to an installed package."""
    return any(module.is_relative_to(path) for path in set(sysconfig.get_paths().values()))
