"""`dumbbell reproduce`: a paper's tables, figures and findings, checked one by one."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dumbbell.cli import options
from dumbbell.cli.console import out, print_json, progress_bar, table
from dumbbell.errors import ScenarioError, nearest
from dumbbell.papers import PAPERS, Finding, Paper, Reproduction, reproduce
from dumbbell.run_directory import check_parent
from dumbbell.sweep import Progress, SweepInterrupted

__all__ = ["reproduce_command"]

#: Of the bar: the runs, then figures and report.
RUNS_SHARE = 0.7


def reproduce_command(
    papers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER…]", help=f"Of: {', '.join(PAPERS)}; all when none is named."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Run each scenario with this many seeds.")] = 1,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if a finding is not shown.")
    ] = False,
    json: options.Json = False,
    out_dir: Annotated[
        Path, typer.Option("--out", help="Directory for runs, figures and report.html.")
    ] = Path("results"),
) -> int:
    """Repeat the papers' experiments: tables, figures, and the findings one by one."""
    for name in papers or ():
        if name not in PAPERS:
            raise ScenarioError(f"unknown paper `{name}`{nearest(name, PAPERS)}")
    if seeds < 1:
        raise ScenarioError(f"seeds is {seeds}; say 1 or more")
    chosen = [PAPERS[name] for name in dict.fromkeys(papers or PAPERS)]
    check_parent(out_dir)
    results = [reproduce_paper(paper, out_dir / paper.name, seeds) for paper in chosen]
    if json:
        documents = [result.to_dict() for result in results]
        document = documents[0] if len(documents) == 1 else documents
        print_json(json_module.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        for result in results:
            print_reproduction(out(), result, out_dir / result.paper.name)
    return 1 if check and not all(result.holds for result in results) else 0


def reproduce_paper(paper: Paper, directory: Path, seeds: int) -> Reproduction:
    """Reproduce a paper with a progress bar."""
    with progress_bar(paper.name) as bar:

        def show(progress: Progress) -> None:
            label = f"{paper.name}: run {progress.finished} of {progress.total}"
            bar.at(RUNS_SHARE * progress.simulated_s / progress.total_s, label)

        def stage(share: float, label: str) -> None:
            bar.at(RUNS_SHARE + (1 - RUNS_SHARE) * share, f"{paper.name}: {label}")

        try:
            seed_list = range(1, seeds + 1)
            return reproduce(paper, directory, seeds=seed_list, on_progress=show, on_stage=stage)
        except SweepInterrupted as interrupt:
            where = f", kept in {directory / 'runs'}" if interrupt.finished else ""
            raise KeyboardInterrupt(f"{interrupt}{where}") from None


def print_reproduction(console: Console, result: Reproduction, directory: Path) -> None:
    """Print tables and findings for a person."""
    console.print(f"[bold]{result.paper.title}[/]", soft_wrap=True)
    console.print(result.paper.authors, markup=False)
    for grid in result.tables:
        console.print()
        console.print(table(grid.title, grid.columns, grid.rows))
    for finding in result.findings:
        console.print()
        console.print(finding_grid(finding))
    shown = sum(finding.shown for finding in result.findings)
    verdicts = ", ".join(f"{count} {status}" for status, count in sorted(result.verdicts.items()))
    console.print()
    console.print(f"{shown} of {len(result.findings)} findings shown; runs: {verdicts}")
    console.print(f"report: {directory / 'report.html'}", markup=False, soft_wrap=True)


def finding_grid(finding: Finding) -> Table:
    """Lay out a finding: what the paper says, what we see, shown or not."""
    mark = "[green]shown[/]" if finding.shown else "[bold red]not shown[/]"
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_row(f"[bold]{finding.id}[/]", mark)
    grid.add_row("paper says", escape(finding.statement))
    for index, check in enumerate(finding.checks):
        holds = "[green]✓[/]" if check.holds else "[bold red]✗[/]"
        grid.add_row("" if index else "we see", f"{holds} {escape(check.text)}")
    if finding.note:
        grid.add_row("", escape(finding.note))
    return grid
