"""The runs to learn from, algorithms on drawn paths: the same plan each time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell_studies.identification.algorithms import (
    OTHER,
    QUIC,
    SAME_AS_ANOTHER,
    drawn_cc,
    other_cc,
    right_name,
    switched_cc,
)
from dumbbell_studies.identification.path import DrawnPath, Kind, draw_path

__all__ = ["PlannedRun", "quic_plan", "tcp_plan"]

#: Numbers of the runs, which are also the seeds of their paths. The judge's are others.
MIXED, TELLING = range(1000, 2511), range(20_000, 21_136)
#: Of drawn algorithms, which no tree for names learns from.
DRAWN, SWITCHED = range(40_000, 40_600), range(41_001, 41_800)
#: Of QUIC; in the second part each version of a stack runs on every kind of path.
OF_QUIC = range(30_000, 30_540)
OF_QUIC_VERSIONS = (*range(31_000, 31_432), *range(31_434, 31_866))
#: Kinds of the paths of drawn algorithms, in turn.
KINDS: tuple[Kind, ...] = ("telling", "any", "plain")
#: One run in this many has a plain path.
PLAIN_OF = 3
#: Runs of a cycle whose algorithm is none of the known ones: no tree learns from them.
OTHERS_OF_CYCLE = 3


@dataclass(frozen=True)
class PlannedRun:
    """A run.

    Attributes
    ----------
    number
        Of the run.
    label
        The class of its algorithm.
    cc
        What runs.
    path
        Over which path.
    """

    number: int
    label: str
    cc: str
    path: DrawnPath


def tcp_plan(sources: Mapping[str, Sequence[str]], drawn: Path) -> Iterator[PlannedRun]:
    """Go through the runs of TCP.

    Parameters
    ----------
    sources
        What to run for each class, as `sources_of` returns it.
    drawn
        The source of drawn algorithms.
    """
    labels = list(sources)
    cycle = len(labels) + OTHERS_OF_CYCLE
    for number in MIXED:
        turn, place = divmod(number, cycle)
        kind: Kind = "plain" if turn % PLAIN_OF == 0 else "any"
        path = draw_path(number, kind)
        if place < len(labels):
            choices = sources[labels[place]]
            yield PlannedRun(number, right_name(labels[place]), choices[turn % len(choices)], path)
        else:
            yield PlannedRun(number, OTHER, other_cc(number), path)
    learned = [label for label in labels if label not in SAME_AS_ANOTHER]
    for number in TELLING:
        label = learned[number % len(learned)]
        choices = sources[label]
        turn = number // (len(learned) + OTHERS_OF_CYCLE)
        path = draw_path(number, "telling")
        yield PlannedRun(number, right_name(label), choices[turn % len(choices)], path)
    for numbers, draw in ((DRAWN, drawn_cc), (SWITCHED, switched_cc)):
        for number in numbers:
            path = draw_path(number, KINDS[(number - numbers[0]) % len(KINDS)])
            yield PlannedRun(number, OTHER, draw(number, drawn), path)


def quic_plan() -> Iterator[PlannedRun]:
    """Go through the runs of QUIC."""
    kinds: tuple[Kind, ...] = ("any", "plain", "telling")
    labels = list(QUIC)
    for numbers, turns_a_version in ((OF_QUIC, 1), (OF_QUIC_VERSIONS, len(kinds))):
        for number in numbers:
            turn, place = divmod(number, len(labels))
            choices = QUIC[labels[place]]
            path = draw_path(number, kinds[turn % len(kinds)])
            cc = choices[turn // turns_a_version % len(choices)]
            yield PlannedRun(number, labels[place], cc, path)
