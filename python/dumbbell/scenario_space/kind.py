"""What a scenario may have that the plain one has not: kinds of elements, each declared once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dumbbell.scenario_space.scale import Scale

__all__ = ["DrawnElement", "ElementKind", "Roles", "Values", "Words"]

#: A scenario in the words of its file, `Scenario.to_dict`; kinds change it.
Words = dict[str, Any]
#: An element's parameters by name.
Values = Mapping[str, int]


@dataclass(frozen=True)
class Roles:
    """Who takes part.

    Attributes
    ----------
    tested
        The congestion control algorithm of group 0: the one under test, or the reference in its
        place.
    against
        That of all competitors: the reference.
    """

    tested: str
    against: str


class ElementKind(ABC):
    """A kind of element: its parameters, what it does to a scenario, and how that is said.

    Attributes
    ----------
    name
        Unique among the kinds.
    most
        How many of it a scenario may have.
    parameters
        The scale of each parameter, in the order of `Element.numbers`.
    plainest
        Values of parameters that say least: from the start, to the end.
    """

    name: ClassVar[str]
    most: ClassVar[int] = 1
    plainest: ClassVar[Mapping[str, int]] = {}
    parameters: Mapping[str, Scale]

    @abstractmethod
    def place(self, words: Words, values: Values, roles: Roles) -> None:
        """Put an element into a scenario."""

    @abstractmethod
    def phrase(self, values: Values, roles: Roles) -> str:
        """Say an element: ``next to 2 cubic from 5 s on``; empty where the path's words say it."""

    def element(self, numbers: tuple[int, ...]) -> DrawnElement:
        """Return an element of this kind."""
        return DrawnElement(self.name, numbers, self)


@dataclass(frozen=True, order=True)
class DrawnElement:
    """One difference from the plain scenario.

    Attributes
    ----------
    name
        Of its kind.
    numbers
        Its parameters, in the kind's order.
    kind
        Its kind.
    """

    name: str
    numbers: tuple[int, ...]
    kind: ElementKind = field(compare=False, repr=False)

    @property
    def values(self) -> Values:
        """The parameters by name."""
        return dict(zip(self.kind.parameters, self.numbers, strict=True))

    def with_number(self, index: int, number: int) -> DrawnElement:
        """Return a copy with one parameter changed."""
        numbers = (*self.numbers[:index], number, *self.numbers[index + 1 :])
        return DrawnElement(self.name, numbers, self.kind)
