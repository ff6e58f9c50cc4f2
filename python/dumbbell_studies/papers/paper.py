"""The parts of a paper's reproduction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from dumbbell.figures import Figure
from dumbbell.run import SIMULATOR, Run
from dumbbell.scenario import Scenario
from dumbbell_studies.papers.finding import CheckSummary, ClauseResult, Finding, evaluate, summarize
from dumbbell_studies.papers.results import Results

__all__ = ["FromCaptures", "ModelCheck", "Paper", "ResultTable"]

#: A run's point in a paper's experiment, and what is measured of it.
P = TypeVar("P")
M = TypeVar("M")


@dataclass(frozen=True)
class ResultTable:
    """A table of results.

    Attributes
    ----------
    title
        What it shows.
    columns
        Headings, with units.
    rows
        Cells, as text.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class FromCaptures:
    """What captures at the senders show.

    Attributes
    ----------
    figures
        Drawn from captures, as the paper drew its own.
    notes
        A note on a finding, by its id; it does not decide the finding.
    """

    figures: tuple[Figure, ...]
    notes: Mapping[str, str]


@dataclass(frozen=True)
class ModelCheck:
    """A model's prediction about a finding, without a run.

    Attributes
    ----------
    finding
        The finding's id.
    model
        The model's name in a legend.
    checks
        The finding's rule, applied to the prediction.
    """

    finding: str
    model: str
    checks: tuple[ClauseResult, ...]

    @property
    def shown(self) -> bool:
        """Whether every check holds."""
        return evaluate(self.checks) is True

    @property
    def summaries(self) -> tuple[CheckSummary, ...]:
        """The checks, summarized as in a finding."""
        return summarize([self.checks])

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "model": self.model,
            "shown": self.shown,
            "checks": [check.to_dict() for check in self.summaries],
        }


@dataclass(frozen=True)
class Paper(Generic[P, M]):
    """A paper's experiment, and how to evaluate its runs.

    Attributes
    ----------
    name
        On the command line: ``ogino2021``.
    title, authors
        Of the paper.
    setup
        The set-up as text: (what, value).
    departures
        Where the reproduction is a reconstruction, and why.
    points
        The points of the experiment, in the order of the paper.
    quick_points
        The points that `--quick` keeps.
    quick_note
        What `--quick` leaves out.
    run_name
        Returns the name under which a point's runs are saved, without the seed.
    scenario
        Returns the scenario of a point and a seed.
    measure
        Measures a run.
    findings, tables, figures
        Return the paper's findings, tables and figures from the measurements.
    default_seeds
        Returns a point's default number of seeds: ten if a finding depends on a single run, one if
        it depends on many or on none.
    decides
        Whether a finding depends on the runs at a point; others are only reported or drawn.
    wants_capture
        Whether `from_captures` draws the run at a point.
    from_captures
        Returns what the captures of some runs show; None if nothing is drawn from captures.
    model_checks
        Returns the models' predictions about findings.
    apparatus
        Name of the preset that its runs have; empty for the plain set-up.
    apparatus_points
        The points that a preset leaves; None for all.
    kernel_scenario
        Returns the scenario of a point and a seed on a real Linux; None if it is `scenario`'s.
    """

    name: str
    title: str
    authors: str
    setup: tuple[tuple[str, str], ...]
    departures: tuple[str, ...]
    points: tuple[P, ...]
    quick_points: tuple[P, ...]
    quick_note: str
    run_name: Callable[[P], str]
    scenario: Callable[[P, int], Scenario]
    measure: Callable[[P, Run], M]
    findings: Callable[[Results[P, M]], list[Finding]]
    tables: Callable[[Results[P, M]], list[ResultTable]]
    figures: Callable[[Results[P, M]], list[Figure]]
    default_seeds: Callable[[P], int] = lambda _point: 10
    decides: Callable[[P], bool] = lambda _point: True
    wants_capture: Callable[[P], bool] = lambda _point: False
    from_captures: Callable[[Results[P, M]], FromCaptures] | None = None
    model_checks: Callable[[], tuple[ModelCheck, ...]] = tuple
    apparatus: str = ""
    apparatus_points: tuple[P, ...] | None = None
    kernel_scenario: Callable[[P, int], Scenario] | None = None

    @property
    def deciding(self) -> Paper[P, M]:
        """The paper with the runs alone that its findings depend on."""
        points = tuple(point for point in self.points if self.decides(point))
        if points == self.points:
            return self
        left_out = "Runs on which no finding depends are left out."
        return replace(self, points=points, departures=(*self.departures, left_out))

    def directory(self, *, quick: bool = False) -> str:
        """Return the name of the directory of its results; those with `quick` replace no others."""
        return "-".join(filter(None, [self.name, self.apparatus, "quick" if quick else ""]))

    def placed(
        self, seeds: Sequence[int] | None = None, *, quick: bool = False
    ) -> dict[str, tuple[P, int]]:
        """Return the point and seed of each run, by the name it is saved under.

        Parameters
        ----------
        seeds
            Seeds of every point; None for 1 to `default_seeds`, or for 1 with `quick`.
        quick
            Only the quick points.
        """
        return {
            f"{self.run_name(point)}-seed{seed}": (point, seed)
            for point in (self.quick_points if quick else self.points)
            for seed in seeds or range(1, 1 + (1 if quick else self.default_seeds(point)))
        }

    def scenarios(
        self, seeds: Sequence[int] | None = None, *, quick: bool = False, engine: str = SIMULATOR
    ) -> list[tuple[str, Scenario]]:
        """Return every run's name and scenario in an engine; the rest is as for `placed`."""
        scenario_of = (engine != SIMULATOR and self.kernel_scenario) or self.scenario
        return [
            (name, scenario_of(point, seed).replace(name=name))
            for name, (point, seed) in self.placed(seeds, quick=quick).items()
        ]
