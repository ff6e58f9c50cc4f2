"""What the name of an algorithm is of: a built-in, a file, a class, the kernel's own."""

from __future__ import annotations

import functools
from pathlib import Path

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.congestion_control.presets import presets_of
from dumbbell.congestion_control.quic import algorithm_of, is_quic, stack_of

__all__ = [
    "KERNELS_DEFAULT",
    "KERNELS_OWN",
    "PYTHON_CLASS",
    "SOURCES",
    "file_of",
    "is_file",
    "is_kernels_own",
    "is_python",
    "is_python_class",
    "split_preset",
    "table_of",
]

#: Prefix of a congestion control algorithm of the running kernel.
KERNELS_OWN = "linux/"
#: That which its sockets have unless they choose another: `net.ipv4.tcp_congestion_control`.
KERNELS_DEFAULT = f"{KERNELS_OWN}default"
#: Prefix of a Python class that the running program defines.
PYTHON_CLASS = "python/"
#: Suffixes of source files.
SOURCES = (".c", ".py")


def split_preset(spelled: str) -> tuple[str, str]:
    """Split ``copa@paper`` into its name and its preset; only built-in ones have presets."""
    if is_kernels_own(spelled) or is_python_class(spelled) or is_file(spelled):
        return spelled, ""
    stack = stack_of(spelled)
    if is_quic(spelled) and not stack:
        return spelled, ""
    name, at, preset = spelled.removeprefix(stack).partition("@")
    name = stack + name
    if at and not preset:
        there = ", ".join(f"`{name}@{each}`" for each in presets_of(algorithm_of(name)))
        raise ScenarioError(
            f"`{excerpt(spelled)}` has no preset after `@`; use {there or f'`{excerpt(name)}`'}",
            key="cc",
        )
    return name, preset


@functools.cache
def is_python(name: str) -> bool:
    """Whether a name is of a CCA in Python: ``./mine.py`` or ``python/Mine``."""
    return file_of(name).suffix == ".py" or (
        name.startswith(PYTHON_CLASS) and file_of(name).suffix not in SOURCES
    )


@functools.cache
def is_python_class(name: str) -> bool:
    """Whether a name is of a class of the running program: ``python/Mine``."""
    return name.startswith(PYTHON_CLASS) and is_python(name)


@functools.cache
def is_file(name: str) -> bool:
    """Whether a name is of a source file, in C or Python: ``./mine.bpf.c``."""
    if is_kernels_own(name) or is_python_class(name):
        return False
    algorithm = algorithm_of(name)
    is_path = "/" in algorithm and (stack_of(name) != "" or not is_quic(name))
    return is_path or file_of(name).suffix in SOURCES


@functools.cache
def is_kernels_own(name: str) -> bool:
    """Whether a name is ``linux/…`` and not a file in a directory of that name."""
    return name.startswith(KERNELS_OWN) and file_of(name).suffix not in SOURCES


def file_of(name: str) -> Path:
    """Return the file of ``./two.bpf.c#second``: one that has several CCAs."""
    algorithm = algorithm_of(name)
    path, _, table = algorithm.rpartition("#")
    return Path(path if path and table.isidentifier() else algorithm)


def table_of(name: str) -> str | None:
    """Return ``second`` of ``./two.bpf.c#second``; None if none is named."""
    path, _, table = algorithm_of(name).rpartition("#")
    return table if path and table.isidentifier() else None
