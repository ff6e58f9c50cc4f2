"""Runs candidates, each next to the reference on the same scenario and seeds, and scores them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from dumbbell.errors import DumbbellError, ScenarioError
from dumbbell.run import Run
from dumbbell.run.engine import SIMULATOR
from dumbbell.runs import Progress, measure_each
from dumbbell.runs.cache import Cache
from dumbbell.scenario import Scenario
from dumbbell_studies.search.candidate import Candidate, Plain
from dumbbell_studies.search.fair_part import part_of
from dumbbell_studies.search.worst import REALISTIC, Rows, Worst
from dumbbell.verdict import INVALID

__all__ = ["Evaluator", "Outcome", "Side", "compared"]


@dataclass(frozen=True)
class Side:
    """One run.

    Attributes
    ----------
    value
        What is measured; None where there is none.
    part
        The part of its fair share that group 0 got.
    fault
        Why the run does not count; empty if it does.
    """

    value: float | None
    part: float
    fault: str = ""


@dataclass(frozen=True)
class Outcome:
    """A scenario on one seed, with what is under test and with the reference in its place."""

    tested: Side
    reference: Side

    def score(self, worst: Worst) -> float | None:
        """Return how much worse one does; None if a run does not count or is not realistic."""
        if self.tested.fault or self.reference.fault:
            return None
        if self.tested.value is None or self.reference.value is None:
            return None
        if self.reference.part < REALISTIC:
            return None
        return worst.score(self.tested.value, self.reference.value)


def compared(
    scenarios: Iterable[tuple[Scenario, Scenario]],
    worst: Worst,
    *,
    engine: str = SIMULATOR,
    jobs: int | None = None,
    cache: Cache | bool | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Outcome]:
    """Run pairs of scenarios: with what is under test, and with the reference.

    Raises
    ------
    SweepInterrupted
        Ctrl-C.
    """
    listed = [((index, side), each) for index, pair in enumerate(scenarios)
              for side, each in enumerate(pair)]  # fmt: skip

    def take(_: tuple[int, int], rows: Rows, read: Callable[[], Run]) -> Side:
        run = read()
        fault = ""
        if run.verdict.status == INVALID:
            fault = next(each.message for each in run.verdict.reasons if each.status == INVALID)
        return Side(worst.value(run, rows), part_of(run.scenario, run.summary, 0), fault)

    def failed(_: tuple[int, int], error: DumbbellError) -> Side:
        return Side(None, 0.0, str(error))

    sides = measure_each(
        listed, take, engine=engine, workers=jobs, cache=cache, on_progress=on_progress,
        on_failed=failed,
    )  # fmt: skip
    return [Outcome(sides[n, 0], sides[n, 1]) for n in range(len(listed) // 2)]


@dataclass
class Evaluator:
    """Scores candidates: each is as bad as on the mildest of its seeds.

    Attributes
    ----------
    plain, worst
        What is searched for.
    seeds
        The same for all candidates. The first one alone decides whether the others run: a score is
        the least of all seeds', so none can be better than the first.
    jobs, cache
        Of the runs.
    on_progress
        Called while candidates run.
    """

    plain: Plain
    worst: Worst
    seeds: Sequence[int]
    jobs: int | None = None
    cache: Cache | bool | None = None
    on_progress: Callable[[Progress], None] | None = None
    scores: dict[Candidate, float | None] = field(default_factory=dict)
    #: Candidates whose score is that of the first seed alone.
    begun: set[Candidate] = field(default_factory=set)
    evaluations: int = 0
    runs: int = 0
    faults: dict[str, int] = field(default_factory=dict)

    def rank(self, candidates: Iterable[Candidate], at_least: float) -> None:
        """Score candidates, as far as they have no score yet.

        Parameters
        ----------
        candidates
            What to run.
        at_least
            With less on the first seed, or not above 0, the other seeds do not run: the score is
            then that of the first, until a call asks for less.
        """
        listed = list(dict.fromkeys(candidates))
        new = [each for each in listed if each not in self.scores]
        self.evaluations += len(new)
        self.scores.update(self.on_seeds(new, self.seeds[:1]))
        if len(self.seeds) == 1:
            return
        self.begun.update(new)
        hopeful = [
            each
            for each in listed
            if each in self.begun
            and (score := self.scores[each]) is not None
            and score > 0
            and score >= at_least
        ]
        self.begun.difference_update(hopeful)
        for each, other in self.on_seeds(hopeful, self.seeds[1:]).items():
            score = self.scores[each]
            self.scores[each] = None if score is None or other is None else min(score, other)

    def on_seeds(
        self, candidates: Iterable[Candidate], seeds: Sequence[int]
    ) -> dict[Candidate, float | None]:
        """Return each candidate's least score on some seeds; None if one does not count."""
        listed = list(candidates)
        outcomes = self.outcomes(listed, seeds)
        found: dict[Candidate, float | None] = {}
        for each in listed:
            scores = [outcome.score(self.worst) for outcome in outcomes[each]]
            known = [score for score in scores if score is not None]
            found[each] = min(known) if known and len(known) == len(scores) else None
        return found

    def outcomes(
        self, candidates: Sequence[Candidate], seeds: Sequence[int]
    ) -> dict[Candidate, list[Outcome]]:
        """Run candidates on some seeds; one that cannot be run has no outcome."""
        pairs, owners = [], []
        for each in candidates:
            for seed in seeds:
                try:
                    pair = self.pair(each, seed)
                except ScenarioError:
                    break
                pairs.append(pair)
                owners.append(each)
        found: dict[Candidate, list[Outcome]] = {each: [] for each in candidates}
        self.runs += 2 * len(pairs)
        measured = compared(
            pairs, self.worst, jobs=self.jobs, cache=self.cache, on_progress=self.on_progress
        )
        for each, outcome in zip(owners, measured, strict=True):
            found[each].append(outcome)
            if outcome.tested.fault:
                fault = outcome.tested.fault
                self.faults[fault] = self.faults.get(fault, 0) + 1
        return found

    def pair(self, candidate: Candidate, seed: int) -> tuple[Scenario, Scenario]:
        """Return a candidate's two scenarios."""
        return (
            candidate.scenario(self.plain, is_reference=False, seed=seed),
            candidate.scenario(self.plain, is_reference=True, seed=seed),
        )


def mean_values(outcomes: Sequence[Outcome], worst: Worst) -> tuple[float, float]:
    """Return the means of what is measured, under test and of the reference.

    They are over the outcomes that count; 0 if none does.
    """
    counted = [each for each in outcomes if each.score(worst) is not None]
    if not counted:
        return 0.0, 0.0
    return (
        fmean(each.tested.value or 0.0 for each in counted),
        fmean(each.reference.value or 0.0 for each in counted),
    )
