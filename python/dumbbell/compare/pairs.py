"""Pairs of runs: a run of one side and the run of the other that it is compared with."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.base.errors import ResultError
from dumbbell.compare.measured import MeasuredRun, MeasuredRuns
from dumbbell.compare.set_apart import Apart, Cell, set_apart, without
from dumbbell.run.verdict import INVALID
from dumbbell.sweeps import SweepResult

__all__ = [
    "Cell", "Pair", "cell_labels", "cells_alike", "differing_of", "pairs_alike", "pairs_with_solo",
]  # fmt: skip


#: What makes runs comparable.
WAY_OUT = (
    "run both under the same conditions: the sides may differ in algorithms, and in a queue, "
    "buffer or host's setting of which each has one"
)


@dataclass(frozen=True)
class Pair:
    """The same group in two runs of one seed.

    Attributes
    ----------
    cell
        What the pairs of a cell have in common.
    seed
        Of both runs.
    group
        Index of the group in the second run.
    a, b
        Its row of `measure` in either run.
    names
        What it is called in either run.
    """

    cell: Cell
    seed: int
    group: int
    a: Mapping[str, Any]
    b: Mapping[str, Any]
    names: tuple[str, str]


def pairs_alike(a: MeasuredRuns, b: MeasuredRuns) -> tuple[list[Pair], Apart]:
    """Pair runs of the same conditions and seed, group by group.

    The congestion control algorithms and programs may differ, because they are what is compared. If
    a side has several mixes of them under the same conditions, only runs of the same mix are pairs.
    Where no runs are alike, what sets all runs of one side apart from the other's is compared, like
    a queue discipline; and a lone run with another of any seed.

    Raises
    ------
    ResultError
        No run of one side has a counterpart in the other, or a side has the same run twice.
    """
    with_mix = any(has_several_mixes(side.runs) for side in (a, b))
    of_a, of_b = keyed(a, with_mix=with_mix), keyed(b, with_mix=with_mix)
    common = [key for key in of_a if key in of_b]
    apart: Apart = {}
    if not common and same_groups(a, b):
        apart = set_apart((cell for cell, _ in of_a), (cell for cell, _ in of_b))
        of_a, of_b = (
            {(without(cell, apart), seed): run for (cell, seed), run in side.items()}
            for side in (of_a, of_b)
        )
        if len(of_a) == len(of_b) == 1:
            ((_, seed),) = of_a
            of_b = {(key, seed): run for (key, _), run in of_b.items()}
        common = [key for key in of_a if key in of_b]
    if not common:
        raise ResultError(nothing_in_common(a, b, with_mix=with_mix))
    found = []
    for key in common:
        runs = of_a[key], of_b[key]
        names = zip(*(run.scenario.group_labels for run in runs), strict=True)
        rows = zip(*(run.rows for run in runs), strict=True)
        found += [
            Pair(*key, row_b["group"], row_a, row_b, named)
            for (row_a, row_b), named in zip(rows, names, strict=True)
        ]
    return found, apart


def same_groups(a: MeasuredRuns, b: MeasuredRuns) -> bool:
    """Whether all runs have as many groups."""
    return len({len(run.rows) for side in (a, b) for run in side.runs}) == 1


def cells_alike(a: SweepResult, b: SweepResult) -> dict[int, int]:
    """Find the cells of the same conditions, as `pairs_alike` finds runs, with any axes.

    Returns
    -------
    dict of int to int
        The index of a cell of `b` by that of its counterpart in `a`.

    Raises
    ------
    ResultError
        No cell of one has a counterpart in the other.
    """
    groups = [len(side.scenario.groups) for side in (a, b)]
    if groups[0] != groups[1]:
        raise ResultError(
            f"the sweeps have {groups[0]} and {groups[1]} groups of flows; compare sweeps with the "
            "same number of groups"
        )
    runs = [
        {cell.index: MeasuredRun(side.design.scenario_of(cell), ()) for cell in side.cells}
        for side in (a, b)
    ]
    with_mix = any(has_several_mixes(side.values()) for side in runs)
    of_a, of_b = (
        {cell_of(run, with_mix=with_mix): index for index, run in side.items()} for side in runs
    )
    common = {of_a[cell]: of_b[cell] for cell in of_a if cell in of_b}
    if common:
        return common
    apart = set_apart(of_a, of_b)
    in_b = {without(cell, apart): index for cell, index in of_b.items()}
    common = {
        index: in_b[rest] for cell, index in of_a.items() if (rest := without(cell, apart)) in in_b
    }
    if not common:
        differing = nearest_differences(of_a, of_b)
        raise ResultError(
            f"the sweeps have no cell in common; the nearest differ in {', '.join(differing)}; "
            f"{WAY_OUT}"
        )
    return common


def differing_of(a: SweepResult, b: SweepResult) -> Apart:
    """Return what sets all cells of one sweep apart from the other's."""
    of_a, of_b = (
        [cell_of(MeasuredRun(side.design.scenario_of(cell), ()), with_mix=False)
         for cell in side.cells]
        for side in (a, b)
    )  # fmt: skip
    return {} if set(of_a) & set(of_b) else set_apart(of_a, of_b)


def pairs_with_solo(solo: MeasuredRuns, b: MeasuredRuns) -> list[Pair]:
    """Pair each group of a run with the run of the same network and seed in which it was alone.

    Raises
    ------
    ResultError
        A run of `solo` has several groups, or no group has a counterpart there.
    """
    alone: dict[tuple[str, str, int], MeasuredRun] = {}
    for run in valid(solo):
        if len(run.rows) != 1:
            raise ResultError(
                f"{solo.name}: harm needs runs of one group alone, but one is of "
                f"{' + '.join(run.ccs)}"
            )
        alone[solo_key(run, 0)] = run
    pairs = [
        Pair(
            cell_of(run, with_mix=True),
            run.seed,
            index,
            alone[key].rows[0],
            row,
            (alone[key].scenario.group_labels[0], run.scenario.group_labels[index]),
        )
        for run in valid(b)
        for index, row in enumerate(run.rows)
        if (key := solo_key(run, index)) in alone
    ]
    if not pairs:
        raise ResultError(
            f"{solo.name} and {b.name}: no group of the second was alone in the first, under the "
            "same conditions and with the same seed"
        )
    return pairs


def solo_key(run: MeasuredRun, index: int) -> tuple[str, str, int]:
    """Return what a group has in common with itself alone: its links, its words and the seed.

    Links that only other groups cross are not in the scenario in which it is alone.
    """
    words = {**run.scenario.to_dict()["group"][index], "name": None, "metric": None}
    return json.dumps(run.network_of(index)), json.dumps(words), run.seed


def valid(side: MeasuredRuns) -> Iterable[MeasuredRun]:
    """Return the runs that are not INVALID."""
    return (run for run in side.runs if run.rows[0]["verdict"] != INVALID)


def cell_of(run: MeasuredRun, *, with_mix: bool) -> Cell:
    """Return a run's conditions, with its CCAs if these are a condition."""
    mix = {"cc": "+".join(run.ccs)} if with_mix else {}
    return tuple({**mix, **run.conditions}.items())


def has_several_mixes(runs: Iterable[MeasuredRun]) -> bool:
    """Whether there are several mixes of congestion control algorithms under some conditions."""
    mixes: dict[Cell, set[tuple[str, ...]]] = {}
    for run in runs:
        mixes.setdefault(cell_of(run, with_mix=False), set()).add(run.ccs)
    return any(len(each) > 1 for each in mixes.values())


def keyed(side: MeasuredRuns, *, with_mix: bool) -> dict[tuple[Cell, int], MeasuredRun]:
    """Return the valid runs by their cell and seed."""
    runs: dict[tuple[Cell, int], MeasuredRun] = {}
    for run in valid(side):
        key = (cell_of(run, with_mix=with_mix), run.seed)
        if key in runs:
            raise ResultError(
                f"{side.name}: has two runs of {'+'.join(run.ccs)} with seed {run.seed} under the "
                "same conditions; compare a directory with one of them"
            )
        runs[key] = run
    if not runs:
        raise ResultError(f"{side.name}: every run is INVALID, so there is nothing to compare")
    return runs


def nothing_in_common(a: MeasuredRuns, b: MeasuredRuns, *, with_mix: bool) -> str:
    """Explain why no two runs are a pair, by the two that are most alike."""
    cells_a, cells_b = (
        {cell_of(run, with_mix=with_mix): None for run in valid(side)} for side in (a, b)
    )
    nearest = nearest_differences(cells_a, cells_b)
    said = f"{a.name} and {b.name} have no pair of runs in common"
    counts = [sorted({len(run.rows) for run in valid(side)}) for side in (a, b)]
    if not set(counts[0]) & set(counts[1]):
        return (
            f"{said}: runs of {counts[0][0]} and of {counts[1][0]} groups; use `--harm` to compare "
            "a group alone with the same group among others"
        )
    if nearest:
        return f"{said}; the nearest differ in {', '.join(nearest)}; {WAY_OUT}"
    seeds = (
        ", ".join(str(seed) for seed in sorted({run.seed for run in valid(side)})[:5])
        for side in (a, b)
    )
    return (
        f"{said}: the conditions are the same, but the seeds are {' and '.join(seeds)}; "
        "run both with the same `--seed` and `--reps`"
    )


def nearest_differences(a: Iterable[Cell], b: Iterable[Cell]) -> list[str]:
    """Return the keys in which the two cells that are most alike differ."""
    return min((differences(dict(x), dict(y)) for x in a for y in b), key=len)


def differences(a: Mapping[str, str], b: Mapping[str, str]) -> list[str]:
    """Return the keys in which conditions differ, with their values."""
    return [
        f"{word} (`{a.get(word, '–')}` and `{b.get(word, '–')}`)"
        for word in dict.fromkeys([*a, *b])
        if a.get(word) != b.get(word)
    ]


def cell_labels(cells: Sequence[Cell]) -> dict[Cell, str]:
    """Name cells by the keys in which they differ: ``buffer=2bdp,rtt=40ms``; ``all`` for one."""
    values: dict[str, Counter[str]] = {}
    for cell in cells:
        for word, value in cell:
            values.setdefault(word, Counter())[value] += 1
    varying = {
        word for word, each in values.items() if len(each) > 1 or sum(each.values()) < len(cells)
    }
    return {
        cell: ",".join(f"{word}={value}" for word, value in cell if word in varying) or "all"
        for cell in cells
    }
