"""What a search found: a sentence, a scenario file, and a regression test."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dumbbell.base.writing import adding
from dumbbell.compare import Worst
from dumbbell.scenario import Scenario, describe_path
from dumbbell.scenario_space import Candidate, Plain

__all__ = ["Confirmation", "Weakness"]


@dataclass(frozen=True)
class Confirmation:
    """Whether the live kernel shows the same.

    Attributes
    ----------
    status
        ``confirmed`` or ``simulator only``.
    scores
        Of the seeds on the kernel.
    why
        Why not, in a line.
    """

    status: str
    scores: tuple[float, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Weakness:
    """A scenario in which one does worse than the reference.

    Attributes
    ----------
    plain, worst
        What was searched for.
    candidate
        The shrunk one.
    found
        As it was before it was shrunk.
    tested, reference
        Means of what is measured, over the fresh seeds.
    scores
        Of the fresh seeds; a seed that does not count has none.
    bound
        A score above it is a failure: half of that of the search, or what a failure is at least.
    seed
        Of the first run of the search.
    is_checked
        Whether `scores` are of fresh seeds; else, when the user ended the search, of the search's.
    confirmation
        What the kernel says, if it was asked.
    """

    plain: Plain
    worst: Worst
    candidate: Candidate
    found: Candidate
    tested: float
    reference: float
    scores: tuple[float | None, ...]
    bound: float
    seed: int
    is_checked: bool = True
    confirmation: Confirmation | None = None

    @property
    def scenario(self) -> Scenario:
        """The scenario, with the first seed."""
        return self.candidate.scenario(self.plain, is_reference=False, seed=self.seed)

    @property
    def failing(self) -> int:
        """On how many of the fresh seeds it fails."""
        return sum(score is not None and score > self.bound for score in self.scores)

    @property
    def counted(self) -> int:
        """How many of the fresh seeds count: valid runs in which the reference does well."""
        return sum(score is not None for score in self.scores)

    @property
    def holds(self) -> bool:
        """Whether it fails on every fresh seed that counts, and most do."""
        return self.failing == self.counted > len(self.scores) // 2

    def confirmed_by(self, confirmation: Confirmation) -> Weakness:
        """Return it with what the kernel says."""
        return replace(self, confirmation=confirmation)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence."""
        scenario, worst = self.scenario, self.worst
        roles = self.plain.roles(is_reference=False)
        flows = scenario.groups[0].flows
        subject = f"{flows} flows of {roles.tested}" if flows > 1 else roles.tested
        phrases = [
            phrase
            for each in self.candidate.elements
            if (phrase := each.kind.phrase(each.values, roles))
        ]
        verb = worst.verb() if flows == 1 else re.sub(r"^(\w+?)s\b", r"\1", worst.verb())
        verb = verb.replace("ha a", "have a").replace(" its own", " their own")
        plain_path = scenario.replace(impair=self.plain.scenario.impair)
        network = " ".join([f"a path of {describe_path(plain_path)}", *phrases])
        if self.plain.has_competitor:
            verb = verb.replace("its competitor", f"one flow of {roles.against}")
        return (
            f"{subject} {verb} {worst.shown(self.tested, scenario)} {worst.of()} {network}; "
            f"{roles.against} in its place: {worst.shown(self.reference, scenario)}"
        )

    @property
    def name(self) -> str:
        """A name for files: ``copa_gap``."""
        stem = Path(self.plain.tested.name).name.partition(".")[0]
        return re.sub(r"\W+", "_", f"{stem}_{self.worst.name}")

    def toml(self) -> str:
        """Return the scenario file."""
        named = self.scenario.replace(name=f"{self.plain.tested}: {self.worst.name}")
        head = [f"# {self.sentence}.", f"# {self.proof}"]
        return "\n".join(head) + "\n" + named.to_toml()

    @property
    def proof(self) -> str:
        """On how many seeds it fails, and what the kernel says."""
        seeds = "fresh seeds" if self.is_checked else "seeds of the search, unchecked"
        failing = (
            f"Fails on {self.failing} of {self.counted} {seeds}; the values are means over all"
        )
        if absent := len(self.scores) - self.counted:
            failing += f"; {absent} more did not count"
        kernel = "" if self.confirmation is None else f"; {self.confirmation.status}"
        return f"{failing}{kernel}."

    def pytest(self, file: str) -> str:
        """Return a test of the scenario file; it is expected to fail until the fault is fixed."""
        bound = f"at_most={self.bound:.3g}"
        return f'''"""Found by `dumbbell search`: {self.sentence}."""

import pathlib

import pytest
from dumbbell.testing import assert_keeps_up

SCENARIO = pathlib.Path(__file__).with_name({file!r})


# pytest reports the test as failed (strict) once this is fixed: then remove the mark.
@pytest.mark.xfail(raises=AssertionError, strict=True, reason="found by `dumbbell search`")
def test_{self.name}():
    assert_keeps_up(SCENARIO, {str(self.plain.against)!r}, worst={self.worst.name!r}, {bound})
'''

    def save(self, directory: Path) -> list[Path]:
        """Write the scenario file and the test.

        Raises
        ------
        ResultError
            They cannot be written.
        """
        toml, test = f"{self.name}.toml", f"test_{self.name}.py"
        with adding(directory) as place_for:
            place_for(toml).write_text(self.toml(), encoding="utf-8")
            place_for(test).write_text(self.pytest(toml), encoding="utf-8")
        return [directory / toml, directory / test]

    def to_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        kernel = self.confirmation
        return {
            "sentence": self.sentence,
            "scenario": self.scenario.to_dict(),
            "elements": elements_of(self.candidate),
            "found": elements_of(self.found),
            "tested": self.tested,
            "reference": self.reference,
            "scores": list(self.scores),
            "bound": self.bound,
            "holds": self.holds,
            "kernel": None
            if kernel is None
            else {"status": kernel.status, "scores": list(kernel.scores), "why": kernel.why},
        }


def elements_of(candidate: Candidate) -> Sequence[dict[str, Any]]:
    """Return a candidate's elements for programs."""
    return [{"kind": each.name, **each.values} for each in candidate.elements]
