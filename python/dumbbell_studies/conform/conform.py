"""Does an implementation behave as its reference does, and if not, in what?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities import pluralize
from dumbbell.run import INVALID, SIMULATOR, Run
from dumbbell.runs import Execution, run_all
from dumbbell.scenario import Scenario
from dumbbell.statistics import LEVEL, Interval
from dumbbell_studies.conform.checks import ALGORITHM, TRANSPORT, Response, compare_responses
from dumbbell_studies.conform.envelope import Envelope, Points, conformance, deviation
from dumbbell_studies.conform.grid import Cell, grid_named
from dumbbell_studies.conform.points import points_of
from dumbbell_studies.conform.responses import response_scenario, responses_of
from dumbbell_studies.conform.subject import Subject, subject_of

__all__ = ["CellConformance", "Conformance", "conform"]

#: Resamples of the repetitions, and their seed.
RESAMPLES, SEED = 9_999, 20_260_101
#: A conformance that is less below the noise floor is not low.
MARGIN = 0.05
#: Fewer repetitions have no interval.
MIN_REPS = 3


class Key(NamedTuple):
    """A run: on a cell of the grid, or with None alone on the path of the responses."""

    cell: int | None
    cc: str
    seed: int


@dataclass(frozen=True)
class CellConformance:
    """How two flows compare on one path.

    Attributes
    ----------
    label
        Which path.
    test, reference
        Points of each repetition: of the flow under test, and of the reference in its place.
    matches, floor_matches
        The conformance of each run of the test, and of the reference with other seeds, with each
        of the reference.
    translated
        The test's mean conformance when its points are moved onto the reference's mean.
    delay_ms, throughput_mbps
        By how much its means exceed the reference's.
    """

    label: str
    test: Sequence[Points]
    reference: Sequence[Points]
    matches: Points
    floor_matches: Points
    translated: float
    delay_ms: float
    throughput_mbps: float

    @classmethod
    def of(
        cls,
        label: str,
        test: Sequence[Points],
        reference: Sequence[Points],
        floor: Sequence[Points],
    ) -> CellConformance:
        """Compare the points of two flows; `floor` are the reference's with the test's seeds."""
        difference = deviation(np.concatenate(test), np.concatenate(reference))
        moved = [each - np.array(difference) for each in test]
        theirs = [Envelope.of(each) for each in reference]
        return cls(
            label, test, reference, matches_of(test, theirs), matches_of(floor, theirs),
            float(matches_of(moved, theirs).mean()), *difference,
        )  # fmt: skip

    @property
    def conformance(self) -> Interval:
        """The conformance of the test."""
        return interval_of(self.matches)

    @property
    def noise_floor(self) -> Interval:
        """The conformance of the reference with itself."""
        return interval_of(self.floor_matches)

    def to_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "path": self.label,
            "conformance": self.conformance.to_dict(),
            "noise_floor": self.noise_floor.to_dict(),
            "conformance_translated": self.translated,
            "delay_difference_ms": self.delay_ms,
            "throughput_difference_mbps": self.throughput_mbps,
        }


@dataclass(frozen=True)
class Conformance:
    """What a comparison found.

    Attributes
    ----------
    test, reference
        The algorithms.
    grid, reps
        What was run.
    cells
        A comparison for each path.
    conformance, floor, shortfall
        Means over the paths: of the test, of the reference against itself, and of their difference.
    responses
        A comparison for each check.
    goodputs_bps
        Alone on the path of the responses: of the test and the reference.
    invalid_runs
        How many runs have the verdict INVALID.
    """

    test: str
    reference: str
    grid: str
    reps: int
    cells: Sequence[CellConformance]
    conformance: Interval
    floor: Interval
    shortfall: Interval
    responses: Sequence[Response]
    goodputs_bps: tuple[float, float]
    invalid_runs: int

    @property
    def is_low(self) -> bool:
        """Whether the conformance is surely below the noise floor, and by enough."""
        return self.shortfall.low > 0 and self.shortfall.mean > MARGIN

    @property
    def differing(self) -> list[Response]:
        """The responses that differ."""
        return [each for each in self.responses if each.differs]

    @property
    def conforms(self) -> bool:
        """Whether it shares as the reference does, and no response of the algorithm differs.

        INVALID runs show nothing: with any, it does not.
        """
        differs = any(each.check.of == ALGORITHM for each in self.differing)
        return not (self.invalid_runs or self.is_low or differs)

    @property
    def cause(self) -> str:
        """What differs: the algorithm, the transport, or both."""
        of = {each.check.of for each in self.differing}
        if of == {ALGORITHM}:
            return "the algorithm differs"
        if of == {TRANSPORT}:
            return "only responses of the transport differ"
        if of:
            return "the algorithm and the transport differ"
        if self.is_low:
            return "no response differs, which leaves the transport, or what no check measures"
        return "no response differs"

    @property
    def sentence(self) -> str:
        """The answer in a sentence."""
        if self.invalid_runs:
            return (
                f"{self.test} is not shown to conform to {self.reference}: "
                f"{pluralize(self.invalid_runs, 'run')} INVALID, the result does not hold"
            )
        verb = "conforms to" if self.conforms else "does not conform to"
        found = "low" if self.is_low else "not low"
        return (
            f"{self.test} {verb} {self.reference}: conformance {shown(self.conformance)} is "
            f"{found} ({self.reference} with itself: {shown(self.floor)}); {self.cause}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "test": self.test,
            "reference": self.reference,
            "grid": self.grid,
            "reps": self.reps,
            "conforms": self.conforms,
            "is_low": self.is_low,
            "cause": self.cause,
            "conformance": self.conformance.to_dict(),
            "noise_floor": self.floor.to_dict(),
            "shortfall": self.shortfall.to_dict(),
            "paths": [each.to_dict() for each in self.cells],
            "responses": [each.to_dict() for each in self.responses],
            "goodput_bps": dict(zip(("test", "reference"), self.goodputs_bps, strict=True)),
            "invalid_runs": self.invalid_runs,
        }


def shown(interval: Interval) -> str:
    """Write a conformance with its interval."""
    return f"{interval.mean:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def conform(
    test: str,
    reference: str,
    *,
    grid: str = "quick",
    cells: Sequence[Cell] | None = None,
    reps: int = 5,
    seed: int = 1,
    **how: Unpack[Execution],
) -> Conformance:
    """Compare an implementation with its reference.

    On each path of a grid a flow of each competes with the reference, as in QUICbench. The
    reference against itself, with the seeds of the test, is the noise floor. Alone, on a path with
    random loss, both show their responses.

    Parameters
    ----------
    test, reference
        Algorithms: names or files, with parameters. Or scenario files with a program each, which
        need the engine ``uml`` or ``kernel``.
    grid
        ``quick``, ``quicbench`` or ``rfc9743``.
    cells
        Paths instead of a grid's.
    reps
        Repetitions: at least 3.
    seed
        The first.
    how
        How runs are executed; without `cache` they are kept in the user's.

    Raises
    ------
    DumbbellError
        An algorithm, the grid or a run is invalid.
    """
    engine = how.get("engine", SIMULATOR)
    one, other = (subject_of(cc, engine) for cc in (test, reference))
    test, reference = one.label, other.label
    has_program = one.is_program or other.is_program
    if reps < MIN_REPS:
        raise ScenarioError(f"reps is {reps}; use at least {MIN_REPS}, for an interval", key="reps")
    paths = grid_named(grid) if cells is None else list(cells)
    seeds, others = range(seed, seed + reps), range(seed + reps, seed + 2 * reps)
    points: dict[Key, Points] = {}
    responses: dict[Key, dict[str, float | None]] = {}

    def take(key: Key, run: Run) -> Run:
        if key.cell is None:
            responses[key] = responses_of(run)
        else:
            points[key] = points_of(run, by_queue=has_program)
            if not points[key].size:
                raise ScenarioError(
                    f"`{key.cc}` has no sample on {paths[key.cell].label}: it moved nothing"
                )
        return Run(run.scenario, run.summary, {})  # all tables would not fit in memory

    scenarios = scenarios_of(paths, one, other, seeds, others)
    how = {"cache": None, **how}
    runs = run_all(scenarios.items(), on_finished=take, **how)

    def of(cell: int, cc: str, which: range) -> list[Points]:
        return [points[Key(cell, cc, each)] for each in which]

    sets = [
        (of(at, test, others), of(at, reference, seeds), of(at, reference, others))
        for at in range(len(paths))
    ]
    compared = [
        CellConformance.of(path.label, *of_path) for path, of_path in zip(paths, sets, strict=True)
    ]
    tests, floors = (
        np.mean([getattr(each, name) for each in compared], axis=0)
        for name in ("matches", "floor_matches")
    )
    alone = [[responses[Key(None, cc, each)] for each in seeds] for cc in (test, reference)]
    goodputs = [fmean(each["goodput_bps"] or 0.0 for each in side) for side in alone]
    return Conformance(
        test, reference, grid, reps, tuple(compared), interval_of(tests), interval_of(floors),
        interval_of(floors - tests),
        tuple(compare_responses(*alone, of_packets=has_program)), (goodputs[0], goodputs[1]),
        sum(run.verdict.status == INVALID for run in runs.values()),
    )  # fmt: skip


def scenarios_of(
    paths: Sequence[Cell], test: Subject, reference: Subject, seeds: range, others: range
) -> dict[Key, Scenario]:
    """Return all runs; those of an algorithm against itself are in it once."""
    alone = {
        Key(None, one.label, seed): response_scenario(one.group, seed)
        for seed in seeds
        for one in (test, reference)
    }
    pairs = {
        Key(at, one.label, seed): path.pair(one.group, reference.group, seed)
        for at, path in enumerate(paths)
        for one, which in ((reference, seeds), (reference, others), (test, others))
        for seed in which
    }
    return {**alone, **pairs}


def matches_of(some: Sequence[Points], others: Sequence[Envelope]) -> Points:
    """Return the conformance of each run of one side with each of the other."""
    mine = [Envelope.of(each) for each in some]
    return np.array([[conformance(one, other) for other in others] for one in mine])


def interval_of(matches: Points) -> Interval:
    """Return the mean over all pairs of runs, with the interval of its bootstrap.

    Repetitions are drawn, those of one side apart from those of the other, and not pairs, which
    share runs with one another.

    References
    ----------
    Arcones, Gine: "On the bootstrap of U and V statistics", Annals of Statistics 20, 1992.
    """
    random = np.random.default_rng(SEED)
    size = len(matches)
    rows, columns = (times_drawn(each) for each in random.integers(0, size, (2, RESAMPLES, size)))
    means = ((rows @ matches) * columns).sum(axis=1) / size**2
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(
        float(matches.mean()), float(low), float(high), LEVEL, matches.size, "bootstrap"
    )


def times_drawn(drawn: npt.NDArray[np.int64]) -> Points:
    """Return how often each resample, a row, has each repetition."""
    resamples, size = drawn.shape
    places = drawn + size * np.arange(resamples)[:, np.newaxis]
    counts = np.bincount(places.ravel(), minlength=drawn.size)
    return counts.reshape(drawn.shape).astype(np.float64)
