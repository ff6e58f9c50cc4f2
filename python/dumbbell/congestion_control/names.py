"""What congestion control algorithms are called: a file by its name, not by its path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from dumbbell.congestion_control.description import congestion_controls
from dumbbell.congestion_control.name_kinds import (
    PYTHON_CLASS,
    file_of,
    is_file,
    is_python_class,
    table_of,
)
from dumbbell.congestion_control.quic import stack_of

__all__ = ["short_names"]

#: Endings of source files that a name is without.
SUFFIXES = (".bpf.c", ".c", ".py")


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return what congestion control algorithms are called: a file by its name, not by its path.

    Parameters
    ----------
    names
        As scenarios name them, without parameters.

    Returns
    -------
    dict
        ``{"./mycc/mycc.bpf.c": "mycc", "cubic": "cubic"}``; ``mycc.bpf.c`` beside ``mycc.py``, or
        where `mycc` is built in; ``tcp_bbr (6.1)`` beside one of another directory.
    """
    spelled = {name: spellings(name) for name in names}
    built_in = congestion_controls().keys()
    short = {}
    for name, own in spelled.items():
        others = {each for other in spelled if other != name for each in (other, *spelled[other])}
        taken = others if name in built_in else others | built_in
        # Of namesakes the directories, and where these do not help, the groups' numbers.
        short[name] = next((each for each in own if each not in taken), None) or with_directory(
            name, [other for other in spelled if other != name and set(own) & set(spelled[other])]
        )
    return short


def spellings(name: str) -> tuple[str, ...]:
    """Return what a congestion control algorithm may be called, the shortest first."""
    if is_python_class(name):
        return name.removeprefix(PYTHON_CLASS), name
    if not is_file(name):
        return (name,)
    file = PurePath(name).name
    stem = file_of(file).name
    for ending in SUFFIXES:
        stem = stem.removesuffix(ending)
    stack = stack_of(name)
    return stack + (table_of(name) or stem), stack + file


def with_directory(name: str, others: Sequence[str]) -> str:
    """Return a file's name and its nearest directory that no namesake has at that place."""
    stem = spellings(name)[0]
    above = PurePath(name).parts[:-1][::-1]
    for depth, directory in enumerate(above):
        theirs = {PurePath(other).parts[:-1][::-1][depth : depth + 1] for other in others}
        if (directory,) not in theirs and directory != "/":
            return f"{stem} ({directory})"
    return stem
