"""The terminal's part of `dumbbell reproduce --attribute`: what each finding depends on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dumbbell_studies.papers.attribution import Attribution, attribute
from dumbbell_studies.papers.conclusion import Conclusion, FindingAttribution
from dumbbell_studies.papers.plain_words import PLAIN_WORDS
from dumbbell_studies.papers.trials import Trials

if TYPE_CHECKING:
    from dumbbell.runs import Cache, Progress
    from dumbbell.terminal import ProgressBar
    from dumbbell_studies.papers import Reproduction

__all__ = ["attribute_reproduction", "print_attributions"]

STYLES = {
    Conclusion.BOTH: "green",
    Conclusion.SIMULATED: "green",
    Conclusion.LOST: "yellow",
    Conclusion.APPARATUS: "cyan",
    Conclusion.CHANCE: "yellow",
    Conclusion.REFUTED: "bold red",
    Conclusion.NO_PART: "bold red",
}


def attribute_reproduction(
    result: Reproduction,
    bar: ProgressBar,
    *,
    jobs: int | None,
    cache: Cache | None,
    seeds: Sequence[int],
) -> Attribution:
    """Find out what the findings of a reproduction depend on, with a progress bar.

    How many runs there will be is not known before: the bar shows the batch under way.
    """
    name = result.paper.name
    stage = [""]

    def show(progress: Progress) -> None:
        bar.at_run(progress, f"{name}: {stage[0]}, ")

    def announce(what: str) -> None:
        stage[0] = what

    trials: Trials[Any, Any] = Trials(result.paper, cache, jobs, show)
    trials.know(result.results[0].results)
    linux = result.linux
    on_kernel = {} if linux is None else {each.id: each.outcome for each in linux.findings}
    return attribute(trials, result.findings, on_kernel, seeds=seeds, on_stage=announce)


def print_attributions(console: Console, attributions: Iterable[Attribution]) -> None:
    """Print what each finding depends on, in words."""
    found = [each for attribution in attributions for each in attribution.findings]
    counts = Counter(each.conclusion for each in found)
    totals = ", ".join(f"{counts[each]} {each}" for each in Conclusion if counts[each])
    console.print(f"[bold]What each finding depends on[/] ({len(found)} findings: {totals})")
    grid = Table.grid(padding=(0, 2, 0, 0))
    for each in found:
        grid.add_row(f"[bold]{each.finding.id}[/]", escape(words_of(each)))
        style = STYLES[each.conclusion]
        grid.add_row("", f"[{style}]→[/] {escape(each.sentence)}")
    console.print(grid)


def words_of(each: FindingAttribution) -> str:
    """Return a finding in plain words."""
    return PLAIN_WORDS.get(each.finding.id, each.finding.statement)
