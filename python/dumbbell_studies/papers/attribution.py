"""What each finding of a paper depends on: elements of the apparatus, tried alone and together.

A finding that the plain set-up shows is checked under the paper's preset, or with each element that
may matter for it where there is none. One that it does not show is tried with each candidate alone,
under the preset and with each of the preset's elements removed, and then with the candidates that
matter together, by a fractional factorial experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell import __version__
from dumbbell.run import engine_build
from dumbbell_studies.papers.conclusion import FindingAttribution
from dumbbell_studies.papers.finding import Finding, Outcome
from dumbbell_studies.papers.paper import Paper
from dumbbell_studies.papers.prediction import Prediction, predictions_on
from dumbbell_studies.papers.presets import Preset, preset_for
from dumbbell_studies.papers.question import Question
from dumbbell_studies.papers.questions import QUESTIONS
from dumbbell_studies.papers.screening import Screening
from dumbbell_studies.papers.trials import Trials

__all__ = ["SEEDS", "Attribution", "AttributionInterrupted", "attribute"]

#: Of each trial.
SEEDS = tuple(range(1, 11))


@dataclass(frozen=True)
class Attribution:
    """What the findings of a paper depend on.

    Attributes
    ----------
    paper
        Which.
    preset
        Its apparatus; None if nothing of it is known.
    findings
        Each of them.
    predictions
        What was expected of the findings, and how it ended.
    seeds
        Of each trial but those with fresh seeds.
    unfinished
        Ids of the findings that an interrupt left out; the paper's name if it was not begun.
    """

    paper: Paper[Any, Any]
    preset: Preset | None
    findings: tuple[FindingAttribution, ...]
    predictions: tuple[Prediction, ...] = ()
    seeds: tuple[int, ...] = SEEDS
    unfinished: tuple[str, ...] = ()

    @staticmethod
    def not_begun(paper: Paper[Any, Any]) -> Attribution:
        """Return that of a paper of which nothing is known yet."""
        return Attribution(paper, preset_for(paper.name), (), unfinished=(paper.name,))

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "paper": self.paper.name,
            "engine_version": __version__,
            "engine_build": engine_build(),
            "seeds": list(self.seeds),
            "preset": None if self.preset is None else self.preset.name,
            "findings": [each.to_dict() for each in self.findings],
            "predictions": [each.to_dict() for each in self.predictions],
            "unfinished": list(self.unfinished),
        }


class AttributionInterrupted(KeyboardInterrupt):
    """Ctrl-C came before everything was tried.

    Attributes
    ----------
    attribution
        What is finished.
    """

    def __init__(self, attribution: Attribution) -> None:
        super().__init__(f"{len(attribution.unfinished)} findings unfinished")
        self.attribution = attribution


def attribute(
    trials: Trials[Any, Any],
    findings: Sequence[Finding],
    on_kernel: Mapping[str, Outcome] | None = None,
    *,
    seeds: Sequence[int] = SEEDS,
    on_stage: Callable[[str], None] = lambda _what: None,
    questions: Sequence[Question[Any, Any]] | None = None,
    preset: Preset | None = None,
) -> Attribution:
    """Find out what a paper's findings depend on.

    Parameters
    ----------
    trials
        The paper's, which knows the plain runs.
    findings
        What the plain runs show.
    on_kernel
        What the kernel's runs show, by the finding's id.
    seeds
        Of every trial.
    on_stage
        Called with what is tried next.
    questions, preset
        In place of the paper's own.

    Raises
    ------
    AttributionInterrupted
        Ctrl-C; what is finished is in it, and finished runs are in the cache.
    """
    paper = trials.paper
    asked = {q.finding: q for q in (QUESTIONS[paper.name] if questions is None else questions)}
    preset = preset_for(paper.name) if preset is None else preset
    kernel = on_kernel or {}
    done: list[FindingAttribution] = []
    predictions: list[Prediction] = []

    def so_far() -> Attribution:
        finished = {each.finding.id for each in done}
        return Attribution(
            paper, preset, tuple(done), tuple(predictions), tuple(seeds),
            tuple(each.id for each in findings if each.id not in finished),
        )  # fmt: skip

    try:
        for finding in findings:
            if finding.id not in asked:
                done.append(FindingAttribution(finding, on_kernel=kernel.get(finding.id)))
                continue
            on_stage(f"what {finding.id} depends on")
            one = Screening(trials, asked[finding.id], seeds, preset)
            done.append(one.attribute(finding, kernel.get(finding.id)))
            predictions += predictions_on(finding.id)
    except KeyboardInterrupt:
        raise AttributionInterrupted(so_far()) from None
    return so_far()
