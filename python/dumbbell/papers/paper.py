"""What a paper's reproduction is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.papers.finding import Check, CheckSummary, Finding, evaluate, summarize
from dumbbell.plots import Figure
from dumbbell.run import Run
from dumbbell.scenario import Scenario

__all__ = ["FromCaptures", "ModelCheck", "Paper", "ResultTable"]


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
        Cells as printed.
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
        Drawn from them, as the paper drew its own.
    notes
        What they say of a finding, by its id; it decides nothing.
    """

    figures: tuple[Figure, ...]
    notes: Mapping[str, str]


@dataclass(frozen=True)
class ModelCheck:
    """What a model predicts about a finding, by formula and without a run.

    Attributes
    ----------
    finding
        The finding's id.
    model
        Which, as a legend has it.
    checks
        The finding's rule, applied to the prediction.
    """

    finding: str
    model: str
    checks: tuple[Check, ...]

    @property
    def shown(self) -> bool:
        """Whether every check holds."""
        return evaluate(self.checks) is True

    @property
    def summaries(self) -> tuple[CheckSummary, ...]:
        """The checks, as a finding has them."""
        return summarize([self.checks])

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "model": self.model,
            "shown": self.shown,
            "checks": [check.to_dict() for check in self.summaries],
        }


@dataclass(frozen=True)
class Paper:
    """A paper's experiment, and what to make of its runs.

    Attributes
    ----------
    name
        On the command line: ``ogino2021``.
    title, authors
        Of the paper.
    setup
        The set-up in words: (what, value).
    departures
        Where the reproduction is a reconstruction, and why.
    scenarios
        From the seeds to the scenario of each run, by the name it is saved under.
    quick_scenarios
        Those of them without which a finding could not be checked at all.
    quick_note
        What the quick ones leave out, and what that does to the findings.
    findings, tables, figures
        From the runs by those names to what the paper shows.
    default_seeds
        How many seeds each scenario runs with when nobody says.
    wants_capture
        Whether the run of a name is in what `from_captures` draws.
    from_captures
        From the runs by those names, of which some have captures, to what these show; None if
        nothing is drawn from captures.
    model_checks
        What models predict about findings.
    """

    name: str
    title: str
    authors: str
    setup: tuple[tuple[str, str], ...]
    departures: tuple[str, ...]
    scenarios: Callable[[Sequence[int]], list[tuple[str, Scenario]]]
    quick_scenarios: Callable[[Sequence[int]], list[tuple[str, Scenario]]]
    quick_note: str
    findings: Callable[[Mapping[str, Run]], list[Finding]]
    tables: Callable[[Mapping[str, Run]], list[ResultTable]]
    figures: Callable[[Mapping[str, Run]], list[Figure]]
    default_seeds: int = 1
    wants_capture: Callable[[str], bool] = lambda _name: False
    from_captures: Callable[[Mapping[str, Run]], FromCaptures] | None = None
    model_checks: Callable[[], tuple[ModelCheck, ...]] = tuple

    def scenarios_of(self, seeds: Sequence[int], *, quick: bool) -> list[tuple[str, Scenario]]:
        """Return every run's name and scenario, or the quick ones'."""
        return (self.quick_scenarios if quick else self.scenarios)(seeds)
