"""A board: categories of cases that together say how good a congestion control algorithm is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dumbbell.base.errors import GateError, nearest
from dumbbell.gate import ANY_SUBJECT
from dumbbell_studies.score.draw import Draw, drawn_cases
from dumbbell_studies.score.scored_case import ScoredCase

__all__ = ["Board", "Category"]


@dataclass(frozen=True)
class Category:
    """Cases that ask for one property.

    Attributes
    ----------
    name, title, why
        Its name, what it is, and what it is for.
    cases
        In the file's order.
    weight
        In the geometric mean.
    draws
        How held-out cells are drawn; empty if they cannot be.
    """

    name: str
    title: str
    why: str
    cases: tuple[ScoredCase, ...]
    weight: float = 1.0
    draws: tuple[Draw, ...] = ()


@dataclass(frozen=True)
class Board:
    """Categories that belong together.

    Attributes
    ----------
    name
        Name of its file, without the extension.
    title, source
        What it is, and where its bounds are from.
    categories
        In the file's order.
    floor
        The least that a category counts as in the geometric mean.
    worst_share
        The part of its worst cell in a category's score.
    sets
        Categories by the name of a set of them.
    drawn
        How many cells were drawn per category, and with which seed; None for the fixed board.
    """

    name: str
    title: str
    source: str
    categories: tuple[Category, ...]
    floor: float
    worst_share: float
    sets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    drawn: tuple[int, int] | None = None

    @property
    def cell_count(self) -> int:
        """How many cells are scored."""
        return sum(len(case.cells(ANY_SUBJECT)) for each in self.categories for case in each.cases)

    def only(self, names: Sequence[str]) -> Board:
        """Return the board with some of its categories; a name may be that of a set.

        Raises
        ------
        GateError
            There is no such category.
        """
        known = [each.name for each in self.categories]
        wanted = [one for name in names for one in self.sets.get(name, [name])]
        for name in wanted:
            if name not in known:
                hint = nearest(name, [*known, *self.sets])
                raise GateError(f"board `{self.name}` has no category `{name}`{hint}")
        return self._with(each for each in self.categories if each.name in wanted)

    def of_cases(self, text: str) -> Board:
        """Return the board with the cases whose names contain a text.

        Raises
        ------
        GateError
            There is none.
        """
        kept = self._with(
            replace(each, cases=tuple(case for case in each.cases if text in case.name))
            for each in self.categories
        )
        if not kept.categories:
            names = list(
                dict.fromkeys(case.name for each in self.categories for case in each.cases)
            )
            raise GateError(f"board `{self.name}` has no case `{text}`{nearest(text, names)}")
        return kept

    def with_drawn_cells(self, count: int, seed: int) -> Board:
        """Return the board with cells drawn at random in place of its own.

        Categories of which none can be drawn are left out.

        Parameters
        ----------
        count
            Cells of each category.
        seed
            Another one draws other cells.

        Raises
        ------
        GateError
            None of the categories can be drawn.
        """
        kept = self._with(
            replace(each, cases=drawn_cases(each.draws, count, seed))
            for each in self.categories
            if each.draws
        )
        if not kept.categories:
            able = ", ".join(f"`{each.name}`" for each in self.categories)
            raise GateError(f"no cells can be drawn of {able}; use other categories with `--only`")
        return replace(kept, drawn=(count, seed))

    def on_the_kernel(self) -> Board:
        """Return the board with the cells that the kernel engine is to run, in real time.

        Raises
        ------
        GateError
            There are none.
        """
        kept = self._with(
            replace(each, cases=tuple(
                replace(case, axes=case.kernel) for case in each.cases if case.kernel is not None
            ))
            for each in self.categories
        )  # fmt: skip
        if not kept.categories:
            raise GateError(f"board `{self.name}` has no case for the kernel engine here")
        return kept

    def _with(self, categories: Iterable[Category]) -> Board:
        """Return it with other categories, without those that have no case."""
        kept = tuple(each for each in categories if each.cases)
        return replace(self, categories=kept)
