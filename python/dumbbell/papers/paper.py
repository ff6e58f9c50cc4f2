"""What a paper's reproduction is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.plots import Figure
from dumbbell.run import Run
from dumbbell.scenario import Scenario

__all__ = ["Check", "Finding", "FromCaptures", "ModelSays", "Paper", "ResultTable"]


@dataclass(frozen=True)
class Check:
    """One thing that a finding claims, and what was measured.

    Attributes
    ----------
    text
        The claim with our numbers: ``0.5 BDP: Copa 31.2 > CUBIC 16.0 Mbit/s``.
    holds
        Whether the numbers bear it out.
    """

    text: str
    holds: bool


@dataclass(frozen=True)
class Finding:
    """A finding of the paper, checked.

    Attributes
    ----------
    id
        ``A1``.
    statement
        What the paper says.
    checks
        What it claims, one by one.
    note
        What the reader should know that decides nothing.
    """

    id: str
    statement: str
    checks: tuple[Check, ...]
    note: str = ""

    @property
    def shown(self) -> bool:
        """Whether every check holds, and there was one."""
        return bool(self.checks) and all(check.holds for check in self.checks)

    @property
    def evidence(self) -> str:
        """What we see, in one line."""
        parts = [check.text if check.holds else f"NOT: {check.text}" for check in self.checks]
        return "; ".join([*parts, self.note] if self.note else parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as `--json` has it."""
        return {
            "id": self.id,
            "statement": self.statement,
            "shown": self.shown,
            "evidence": self.evidence,
            "checks": [{"text": check.text, "holds": check.holds} for check in self.checks],
        }


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
class ModelSays:
    """What a model says to a finding, by formula and without a run.

    Attributes
    ----------
    finding
        The finding's id.
    model
        Which, as a legend has it.
    checks
        The finding's rule, applied to what the model predicts.
    """

    finding: str
    model: str
    checks: tuple[Check, ...]

    @property
    def shown(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        checks = [{"text": check.text, "holds": check.holds} for check in self.checks]
        return {"model": self.model, "shown": self.shown, "checks": checks}


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
    model_says
        What models say to the findings that they are of.
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
    model_says: Callable[[], tuple[ModelSays, ...]] = tuple

    def scenarios_of(self, seeds: Sequence[int], *, quick: bool) -> list[tuple[str, Scenario]]:
        """Return every run's name and scenario, or the quick ones'."""
        return (self.quick_scenarios if quick else self.scenarios)(seeds)
