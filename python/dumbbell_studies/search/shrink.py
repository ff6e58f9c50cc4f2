"""Makes a found scenario small: fewer elements first, then rounder numbers.

References
----------
Zeller, Hildebrandt: "Simplifying and isolating failure-inducing input", IEEE Transactions on
Software Engineering 28(2), 2002 (delta debugging).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dumbbell.scenario_space import Candidate, DrawnElement

__all__ = ["shrink"]

#: Returns the first of several candidates that still fails; None if none does.
FirstFailing = Callable[[list[Candidate]], Candidate | None]


def shrink(candidate: Candidate, first_failing: FirstFailing) -> Candidate:
    """Return a candidate of which no element can be left out, and no number be rounder.

    Parameters
    ----------
    candidate
        One that fails.
    first_failing
        Runs candidates.
    """
    while True:
        smaller = fewest(candidate, first_failing)
        smaller = roundest(smaller, first_failing)
        if smaller == candidate:
            return candidate
        candidate = smaller


def fewest(candidate: Candidate, first_failing: FirstFailing) -> Candidate:
    """Return a candidate of which no element can be left out: delta debugging."""
    parts = 2
    while candidate.elements:
        count = len(candidate.elements)
        parts = min(parts, count)
        found = first_failing(list(without_parts(candidate, parts)))
        if found is not None:
            candidate, parts = found, max(parts - 1, 2)
        elif parts == count:
            break
        else:
            parts = min(2 * parts, count)
    return candidate


def without_parts(candidate: Candidate, parts: int) -> Iterator[Candidate]:
    """Yield the candidate without each of a number of parts of its elements."""
    elements = candidate.elements
    count = len(elements)
    for part in range(parts):
        first, last = part * count // parts, (part + 1) * count // parts
        yield Candidate((*elements[:first], *elements[last:]))


def roundest(candidate: Candidate, first_failing: FirstFailing) -> Candidate:
    """Return a candidate whose numbers are as round as they can be, one after the other."""
    for index in range(len(candidate.elements)):
        for place in range(len(candidate.elements[index].numbers)):
            element = candidate.elements[index]
            tries = [
                with_element(candidate, index, element.with_number(place, number))
                for number in simpler(element, place)
            ]
            found = first_failing(tries) if tries else None
            if found is not None:
                candidate = found
    return Candidate(tuple(sorted(candidate.elements)))


def simpler(element: DrawnElement, place: int) -> list[int]:
    """Return simpler values of one number, the simplest first."""
    name = list(element.kind.parameters)[place]
    number = element.numbers[place]
    plainest = element.kind.plainest.get(name)
    if number == plainest:
        return []
    rounder = element.kind.parameters[name].rounder(number)
    return rounder if plainest is None else [plainest, *rounder]


def with_element(candidate: Candidate, index: int, element: DrawnElement) -> Candidate:
    """Return a candidate with one element replaced, in its place."""
    elements = candidate.elements
    return Candidate((*elements[:index], element, *elements[index + 1 :]))
