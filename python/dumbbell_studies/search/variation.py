"""Candidates drawn at random, changed, and crossed."""

from __future__ import annotations

import random

from dumbbell.scenario_space import MAX_ELEMENTS, Candidate, DrawnElement, Space

__all__ = ["crossed", "drawn", "mutated"]

#: Most elements of a first candidate.
MAX_DRAWN = 4


def drawn(space: Space, source: random.Random) -> Candidate:
    """Return a candidate of a few elements."""
    count = source.randint(1, MAX_DRAWN)
    return Candidate.of([space.draw(source) for _ in range(count)])


def mutated(candidate: Candidate, space: Space, source: random.Random) -> Candidate:
    """Return a candidate that differs in one element or two."""
    elements = list(candidate.elements)
    for _ in range(1 + (source.random() < 0.3)):
        how = source.random()
        if not elements or (how < 0.2 and len(elements) < MAX_ELEMENTS):
            elements.append(space.draw(source))
            continue
        index = source.randrange(len(elements))
        if how < 0.35:
            del elements[index]
        elif how < 0.45:
            elements[index] = space.draw(source, elements[index].name)
        else:
            elements[index] = nudged(elements[index], source)
    return Candidate.of(elements)


def nudged(element: DrawnElement, source: random.Random) -> DrawnElement:
    """Return an element with one of its numbers changed."""
    index = source.randrange(len(element.numbers))
    scale = list(element.kind.parameters.values())[index]
    return element.with_number(index, scale.near(element.numbers[index], source))


def crossed(one: Candidate, other: Candidate, source: random.Random) -> Candidate:
    """Return a candidate with elements of two."""
    both = [*one.elements, *other.elements]
    source.shuffle(both)
    return Candidate.of([each for each in both if source.random() < 0.6])
