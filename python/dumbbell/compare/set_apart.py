"""What all runs of one side have and all of the other do not: what is compared, if it is a choice.

Two runs that differ in their queue discipline are compared by it, as two that differ in their
algorithm are. A rate or an RTT is a condition: runs at two rates are no pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from dumbbell.compare.choices import CHOSEN

__all__ = ["Apart", "Cell", "set_apart", "without"]

#: What the runs of a cell have in common, as keys and their values.
Cell: TypeAlias = tuple[tuple[str, str], ...]
#: Keys in which the sides differ, with the value in A and in B.
Apart: TypeAlias = dict[str, tuple[str, str]]

#: In place of a value that a side does not have.
NOTHING = "–"


def set_apart(a: Iterable[Cell], b: Iterable[Cell]) -> Apart:
    """Return the choices of which either side has one value, and the sides two."""
    of_a, of_b = values_of(a), values_of(b)
    found: Apart = {}
    for key in dict.fromkeys([*of_a, *of_b]):
        in_a, in_b = (side.get(key, {NOTHING}) for side in (of_a, of_b))
        if is_choice(key) and len(in_a) == len(in_b) == 1 and in_a != in_b:
            found[key] = min(in_a), min(in_b)
    return found


def values_of(cells: Iterable[Cell]) -> dict[str, set[str]]:
    """Return the values of each key, with nothing where only some cells have it."""
    listed = [dict(cell) for cell in cells]
    keys = dict.fromkeys(key for cell in listed for key in cell)
    return {key: {cell.get(key, NOTHING) for cell in listed} for key in keys}


def is_choice(key: str) -> bool:
    """Whether a condition is somebody's choice: ``queue``, ``link.up.queue``, ``group 1 ecn``."""
    return key.replace(" ", ".").rpartition(".")[2] in CHOSEN


def without(cell: Cell, apart: Mapping[str, object]) -> Cell:
    """Return a cell's conditions without what sets the sides apart."""
    return tuple((key, value) for key, value in cell if key not in apart)
