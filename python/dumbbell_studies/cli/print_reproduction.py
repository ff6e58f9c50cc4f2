"""What `dumbbell reproduce` prints for a person: the answer first, then tables and rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dumbbell.terminal import out, print_line, print_table
from dumbbell_studies.cli.attribution import print_attributions
from dumbbell_studies.papers import EngineResult, Finding, Outcome, Reproduction
from dumbbell_studies.papers.answers import answer_to, is_lost
from dumbbell_studies.papers.attribution import Attribution
from dumbbell_studies.papers.plain_words import PLAIN_WORDS, in_plain_words

__all__ = ["ATTRIBUTION", "print_all"]

#: Name of the files that say what findings depend on, without suffix.
ATTRIBUTION = "attribution"


def print_all(
    results: Sequence[Reproduction],
    attributions: Sequence[Attribution],
    directory: Path,
    site: Path | None,
) -> None:
    """Print the papers for a person: first what the findings depend on, if that was asked for."""
    if attributions:
        print_attributions(out(), attributions)
        out().print()
    for result in results:
        print_reproduction(
            out(),
            result,
            directory / result.paper.directory(quick=result.quick),
            is_alone=not attributions,
        )
    if site is not None:
        out().print()
        for result in results:
            for each in result.results:
                line = engine_line(each, alone=len(result.results) == 1)
                out().print(f"{result.paper.name}: {line}", soft_wrap=True)
        print_line(f"all papers: {site}")
    if attributions:
        print_line(f"what each finding depends on: {directory / ATTRIBUTION}.html")


def print_answer(console: Console, result: Reproduction) -> None:
    """Print in words what the paper found, whether it is so here, and what that depends on."""
    console.print(
        f"[bold]{result.results[0].headline}[/] in simulation: what the paper found, and in how "
        "many repetitions it is so here",
        soft_wrap=True,
    )
    grid = Table.grid(padding=(0, 1, 0, 0))
    for finding in result.findings:
        words = escape(PLAIN_WORDS.get(finding.id, finding.statement))
        count = finding.count or str(finding.outcome)
        grid.add_row(SYMBOLS[finding.outcome], f"[bold]{finding.id}[/]", words, count)
        answer = "" if result.paper.apparatus else what_it_depends_on(finding)
        if answer:
            grid.add_row("", "", escape(f"→ {answer}"), "")
    console.print(grid)


def what_it_depends_on(finding: Finding) -> str:
    """Return a finding's answer in plain words; empty if it is shown with the apparatus too."""
    if finding.shown and not is_lost(finding.id):
        return ""
    return in_plain_words(answer_to(finding.id))


def print_reproduction(
    console: Console, result: Reproduction, directory: Path, *, is_alone: bool
) -> None:
    """Print the answer, tables and findings for a person; elsewhere it may be said already."""
    console.print(f"[bold]{result.paper.title}[/]", soft_wrap=True)
    console.print(result.paper.authors, markup=False)
    if result.paper.apparatus:
        console.print(f"with the apparatus {result.paper.apparatus}", markup=False)
    if is_alone:
        console.print()
        print_answer(console, result)
    for engine in result.results:
        for grid in engine.tables:
            console.print()
            print_table(grid.columns, grid.rows, title=grid.title)
    for finding, said in result.findings_by_engine:
        console.print()
        console.print(finding_grid(finding, said))
    console.print()
    if result.quick:
        console.print(result.missing, markup=False, soft_wrap=True)
    for engine in result.results:
        console.print(engine_line(engine, alone=len(result.results) == 1), soft_wrap=True)
    console.print(f"report: {directory / 'report.html'}", markup=False, soft_wrap=True)


def engine_line(result: EngineResult, *, alone: bool) -> str:
    """Write what an engine shows, in a line."""
    verdicts = ", ".join(f"{count} {status}" for status, count in sorted(result.verdicts.items()))
    where = "" if alone else f"{result.engine}: "
    return f"{where}{result.headline}; runs: {verdicts}"


def finding_grid(finding: Finding, by_engine: Sequence[tuple[str, Finding]]) -> Table:
    """Lay out a finding: what the paper says, what each engine shows, and the outcome."""
    alone = len(by_engine) == 1
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_row(f"[bold]{finding.id}[/]", mark(finding) if alone else "")
    grid.add_row("paper says", escape(finding.statement))
    for engine, result in by_engine:
        if not alone:
            grid.add_row(f"[bold]{engine}[/]", mark(result))
        for index, check in enumerate(result.checks):
            symbol = SYMBOLS[check.outcome]
            grid.add_row("" if index else "we see", f"{symbol} {escape(check.text)}")
        for index, each in enumerate(result.variations):
            text = f"{each.conditions}: {each.outcome} ({each.held} of {len(each.results)})"
            text += f", {each.seen}" if each.seen else ""
            grid.add_row("" if index else "varied", escape(text))
        if result.note:
            grid.add_row("", escape(result.note))
    return grid


#: Of a check, by its outcome.
SYMBOLS = {
    Outcome.SHOWN: "[green]✓[/]",
    Outcome.NOT_SHOWN: "[bold red]✗[/]",
    Outcome.BY_CHANCE: "[yellow]±[/]",
    Outcome.NOT_DECIDED: "[yellow]?[/]",
}
STYLES = {Outcome.SHOWN: "green", Outcome.NOT_SHOWN: "bold red"}


def mark(finding: Finding) -> str:
    """Return a finding's outcome, in colour."""
    style = STYLES.get(finding.outcome, "yellow")
    if not finding.count:
        return f"[{style}]{finding.outcome}[/]"
    where = f": shown in {finding.count}" if finding.outcome != Outcome.SHOWN else ""
    where = where or f" in {finding.count}"
    return f"[{style}]{finding.outcome}{where}[/]"
