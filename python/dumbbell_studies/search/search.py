"""`search`: the scenario in which a congestion control algorithm does worst next to a reference."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dumbbell.base.errors import EngineError, ScenarioError
from dumbbell.compare import REALISTIC, ReferencePair, Worst, compared, mean_values, worst_named
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.run import KERNEL, check_engine
from dumbbell.runs import Cache, Progress
from dumbbell.scenario import Scenario
from dumbbell.scenario_space import Candidate, Plain, Space, space_named
from dumbbell_studies.search.evaluator import Evaluator
from dumbbell_studies.search.evolution import Evolution
from dumbbell_studies.search.shrink import shrink
from dumbbell_studies.search.weakness import Confirmation, Weakness

__all__ = ["NOISE", "SearchProgress", "SearchResult", "confirm", "search"]

#: Of the path, unless the user sets its impairments: about as much as the kernel engine's relay is
#: late (10 µs in the median, 60 to 80 µs at the 99th percentile). Simulated time has none, so what
#: happens in a round trip can repeat exactly in the next one.
NOISE = "jitter:normal=20us"
#: Seeds of the ranking, and fresh ones of what was found.
SEEDS, FRESH_SEEDS = 3, 20
#: How far fresh seeds are from those of the ranking.
FRESH_FROM = 1000
#: Of a time budget, the part that the search itself has; the rest is to shrink and to check.
SEARCH_SHARE = 0.7
#: What a shrunk scenario keeps of the score, and what of its own is the bound of the test, which is
#: at least the least score of a failure: fewer elements say more than a higher score.
KEPT, BOUND = 0.5, 0.5
#: Seeds on the kernel, where a run takes as long as it says.
KERNEL_SEEDS = 3
#: How often they are run until none is INVALID: a patched kernel spoils some by a window that no
#: congestion control sets (docs/notes/fidelity.md).
KERNEL_TRIES = 3


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is.

    Attributes
    ----------
    stage
        ``searching``, ``shrinking`` or ``checking on fresh seeds``.
    share
        Of the budget, 0 to 1.
    evaluations
        Candidates so far.
    best
        The best score so far; minus infinity before there is one.
    elements
        How many elements the best candidate has.
    """

    stage: str
    share: float
    evaluations: int
    best: float = float("-inf")
    elements: int = 0


@dataclass(frozen=True)
class SearchResult:
    """What a search did.

    Attributes
    ----------
    finding
        The worst scenario, if its score is that of a failure; `failure` is it if that is confirmed.
    best
        The best score of all candidates, if any counted.
    evaluations, runs
        How many candidates and runs there were.
    is_interrupted
        Whether Ctrl-C ended the search early.
    faults
        Why runs of what is under test did not count, and how often.
    least
        The score from which on it would have been a failure.
    """

    finding: Weakness | None
    best: float | None
    evaluations: int
    runs: int
    is_interrupted: bool = False
    faults: dict[str, int] = field(default_factory=dict)
    least: float = 0.0

    @property
    def failure(self) -> Weakness | None:
        """What was found, unless fresh seeds refute it."""
        found = self.finding
        return found if found is not None and (found.holds or not found.is_checked) else None

    def to_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "finding": None if self.finding is None else self.finding.to_dict(),
            "best_score": self.best,
            "least_score": self.least,
            "evaluations": self.evaluations,
            "runs": self.runs,
            "interrupted": self.is_interrupted,
            "faults": self.faults,
        }


def search(
    scenario: Scenario,
    against: str | CongestionControlChoice = "cubic",
    *,
    worst: str | Worst = "gap",
    space: str | Space = "static",
    budget_s: float | None = 300.0,
    evaluations: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
    cache: Cache | bool | None = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
) -> SearchResult:
    """Search for the scenario in which a CCA does worst, and make it small.

    Parameters
    ----------
    scenario
        The plain scenario: its group is under test, its path is what elements change.
    against
        The reference, which must do well on the same scenario.
    worst
        ``gap``, ``stall``, ``starved``, ``bufferbloat``, ``harm``, a metric, or one of your own.
    space
        ``static``, ``segments``, ``cross``, ``loss-window``, ``pulses``, or one of your own.
    budget_s
        Seconds; None for no bound. The search has seven tenths of them, shrinking the rest.
    evaluations
        Candidates after which the search ends. With it and no budget the same seed finds the same.
    seed
        Of all choices, and the first of the runs'.
    jobs, cache
        Of the runs.
    on_progress
        Called several times a second.

    Returns
    -------
    SearchResult
        What was found.

    Raises
    ------
    ScenarioError
        There is no such space or failure, or the scenario cannot be searched around.
    """
    badness = worst_named(worst) if isinstance(worst, str) else worst
    reference = CongestionControlChoice.parse(against)
    plain = plain_of(scenario, reference, badness)
    if isinstance(space, str):
        space = space_named(space, plain.scenario, flows=plain.flows)
    if budget_s is None and evaluations is None:
        raise ScenarioError("a search without an end; set `budget` or `evaluations`", key="budget")
    clock = Clock(budget_s, evaluations, on_progress or (lambda _: None))
    evaluator = Evaluator(
        plain, badness, range(seed, seed + SEEDS),
        {"jobs": jobs, "cache": cache, "on_progress": clock.tick},
    )  # fmt: skip
    clock.evaluator = evaluator
    evolution = Evolution(space, evaluator, random.Random(seed), clock.note)  # noqa: S311
    is_interrupted = False
    try:
        evolution.run(clock.is_over)
    except KeyboardInterrupt:
        is_interrupted = True
    best, score = evolution.best, evolution.best_score
    finding = None
    if best is not None and score >= badness.least:
        if not is_interrupted:
            try:
                finding = made_small(evaluator, best, score, seed, clock)
            except KeyboardInterrupt:
                is_interrupted = True
        if finding is None:
            finding = as_it_is(evaluator, best, score, seed)
    return SearchResult(
        finding, None if best is None else score, evaluator.evaluations, evaluator.runs,
        is_interrupted, evaluator.faults, badness.least,
    )  # fmt: skip


def plain_of(scenario: Scenario, against: CongestionControlChoice, worst: Worst) -> Plain:
    """Return the plain scenario, or say why there can be no search around it."""
    if not scenario.is_dumbbell or len(scenario.groups) != 1:
        raise ScenarioError(
            "a search varies one link and one group under test; name one algorithm and "
            "the path by options, like `--rate 20mbit`"
        )
    group = scenario.groups[0]
    for cc in (group.cc, against):
        if cc.is_kernels_own:
            raise ScenarioError(
                f"`{cc}` runs on the kernel only, and a search simulates; use a file or a built-in "
                "one, and `--confirm kernel` or `--confirm uml` to try what is found on Linux",
                key="cc",
            )
    return Plain(scenario, group.cc, against, max(group.flows, worst.flows), worst.has_competitor)


@dataclass
class Clock:
    """When a search is over, and how far it is."""

    budget_s: float | None
    evaluations: int | None
    on_progress: Callable[[SearchProgress], None]
    stage: str = "searching"
    best: float = float("-inf")
    elements: int = 0
    evaluator: Evaluator | None = None
    begun_s: float = field(default_factory=time.monotonic)

    @property
    def done(self) -> int:
        """Candidates so far."""
        return 0 if self.evaluator is None else self.evaluator.evaluations

    def share(self) -> float:
        """Return how much of the budget is used, 0 to 1."""
        shares = [0.0]
        if self.budget_s is not None:
            shares.append((time.monotonic() - self.begun_s) / (SEARCH_SHARE * self.budget_s))
        if self.evaluations is not None:
            shares.append(self.done / self.evaluations)
        return min(max(shares), 1.0)

    def is_over(self) -> bool:
        """Whether the budget of the search itself is used."""
        return self.share() >= 1.0

    def note(self, best: Candidate | None, score: float) -> None:
        """Note the best candidate so far."""
        self.best = score
        self.elements = 0 if best is None else len(best.elements)
        self.tick()

    def tick(self, _: Progress | None = None) -> None:
        """Report how far it is."""
        part = SEARCH_SHARE * self.share()
        if self.stage != "searching":
            part = SEARCH_SHARE
        if self.stage.startswith("checking"):
            part = 0.95
        self.on_progress(SearchProgress(self.stage, part, self.done, self.best, self.elements))


def made_small(
    evaluator: Evaluator, found: Candidate, score: float, seed: int, clock: Clock
) -> Weakness:
    """Shrink what was found and check it on fresh seeds; keep the larger if it fails on more."""
    clock.stage = "shrinking"
    # With such a score twice what a failure is at least leaves a margin for fresh seeds.
    least = min(score, max(KEPT * score, evaluator.worst.least / BOUND))

    def first_failing(candidates: list[Candidate]) -> Candidate | None:
        evaluator.rank(candidates, least)
        for each in candidates:
            kept = evaluator.scores[each]
            if kept is not None and kept >= least:
                clock.note(each, kept)
                return each
        return None

    small = shrink(found, first_failing)
    clock.stage = "checking on fresh seeds"
    finding = checked(evaluator, small, found, seed, FRESH_SEEDS)
    if finding.holds or small == found:
        return finding
    larger = checked(evaluator, found, found, seed, FRESH_SEEDS)
    return larger if larger.failing > finding.failing else finding


def as_it_is(evaluator: Evaluator, found: Candidate, score: float, seed: int) -> Weakness:
    """Return what was found when the user stopped the search: neither shrunk nor checked."""
    evaluator.how["on_progress"] = None
    outcomes = evaluator.outcomes([found], evaluator.seeds)[found]
    tested, reference = mean_values(outcomes, evaluator.worst)
    scores = tuple(each.score(evaluator.worst) for each in outcomes)
    return Weakness(
        evaluator.plain, evaluator.worst, found, found, tested, reference, scores,
        bound_of(score, evaluator.worst), seed, is_checked=False,
    )  # fmt: skip


def checked(
    evaluator: Evaluator,
    candidate: Candidate,
    found: Candidate,
    seed: int,
    seeds: int,
) -> Weakness:
    """Return a finding with its scores on fresh seeds."""
    fresh = range(seed + FRESH_FROM, seed + FRESH_FROM + seeds)
    outcomes = evaluator.outcomes([candidate], fresh)[candidate]
    tested, reference = mean_values(outcomes, evaluator.worst)
    scores = tuple(each.score(evaluator.worst) for each in outcomes)
    return Weakness(
        evaluator.plain, evaluator.worst, candidate, found, tested, reference, scores,
        bound_of(evaluator.scores[candidate] or 0.0, evaluator.worst), seed,
    )  # fmt: skip


def bound_of(score: float, worst: Worst) -> float:
    """Return the score above which a run fails: with a margin below what the search saw."""
    return max(BOUND * score, worst.least)


def confirm(
    finding: Weakness,
    engine: str = KERNEL,
    on_progress: Callable[[Progress], None] | None = None,
) -> Weakness:
    """Run what was found on an engine that is Linux, and return it with what that says.

    Seeds with an INVALID run are replaced by further ones, in at most `KERNEL_TRIES` rounds.
    """
    candidate, plain = finding.candidate, finding.plain
    outcomes: list[ReferencePair] = []
    try:
        for _ in range(KERNEL_TRIES):
            missing = KERNEL_SEEDS - len(sound(outcomes))
            first = finding.seed + len(outcomes)
            pairs = [
                (
                    candidate.scenario(plain, is_reference=False, seed=seed),
                    candidate.scenario(plain, is_reference=True, seed=seed),
                )
                for seed in range(first, first + missing)
            ]
            check_engine(engine, *(each for pair in pairs for each in pair))
            outcomes += compared(pairs, finding.worst, engine=engine, on_progress=on_progress)
            if len(sound(outcomes)) == KERNEL_SEEDS:
                break
    except EngineError as error:
        return finding.confirmed_by(Confirmation("simulator only", why=str(error)))
    counted = sound(outcomes)
    scores = tuple(score for each in counted if (score := each.score(finding.worst)) is not None)
    if len(scores) == KERNEL_SEEDS and min(scores) > finding.bound:
        return finding.confirmed_by(Confirmation("confirmed", scores))
    missed = counted if len(counted) == KERNEL_SEEDS else outcomes
    return finding.confirmed_by(Confirmation("simulator only", scores, why_not(finding, missed)))


def sound(outcomes: list[ReferencePair]) -> list[ReferencePair]:
    """Return those without an INVALID run."""
    return [each for each in outcomes if not (each.tested.fault or each.reference.fault)]


def why_not(finding: Weakness, outcomes: list[ReferencePair]) -> str:
    """Say why the kernel does not confirm a finding."""
    faults = [each.tested.fault or each.reference.fault for each in outcomes]
    faults = [fault for fault in faults if fault]
    if faults:
        return faults[0]
    if any(each.reference.part < REALISTIC for each in outcomes):
        return "the reference does not do well there either"
    scores = [score for each in outcomes if (score := each.score(finding.worst)) is not None]
    if not scores:
        return f"there is nothing to compare by {finding.worst.name} there"
    return (
        f"the difference is {min(scores):.3g} to {max(scores):.3g}, not above {finding.bound:.3g}"
    )
