"""An element of an apparatus: what it is, its source, and the levels it can have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dumbbell.scenario import Scenario

__all__ = ["ApparatusElement", "Change", "Level", "Setup", "Treatment", "name_of"]

#: Adds an element to a scenario.
Change = Callable[[Scenario], Scenario]


@dataclass(frozen=True)
class Level:
    """A value of an element.

    Attributes
    ----------
    name
        ``48``: in tables, after the element's name.
    change
        Adds it to a scenario; one to which it does not apply stays as it is.
    is_control
        Whether it is there to compare with: the paper's apparatus cannot have had it, so that it
        decides nothing.
    is_part
        Whether it is a part of the element's first level. It is tried only where that changes how
        many seeds show the finding, or the finding's quantity.
    """

    name: str
    change: Change
    is_control: bool = False
    is_part: bool = False


@dataclass(frozen=True)
class ApparatusElement:
    """Something in a paper's apparatus that the plain set-up does not have.

    Attributes
    ----------
    id
        ``ooo_limit``.
    what
        What it is, as a sentence.
    source
        Where that is from.
    findings
        Which it may matter for; it is tried on them.
    levels
        Its values, the nominal one first.
    family
        What it is a kind of; two of a family cannot be added together. Empty if it is alone.
    """

    id: str
    what: str
    source: str
    findings: tuple[str, ...]
    levels: tuple[Level, ...]
    family: str = ""

    def level(self, name: str) -> Level:
        """Return a level by its name."""
        return next(level for level in self.levels if level.name == name)


@dataclass(frozen=True, order=True)
class Treatment:
    """An element at one of its levels.

    Attributes
    ----------
    element, level
        Their names.
    """

    element: str
    level: str

    def __str__(self) -> str:
        return f"{self.element}: {self.level}"


#: What is added to the plain set-up; empty is the plain set-up itself.
Setup = tuple[Treatment, ...]


def name_of(setup: Setup) -> str:
    """Return a set-up in words."""
    return " + ".join(map(str, setup)) or "plain"
