"""`dumbbell validate`: the same scenarios in both engines, compared."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dumbbell.base.writing import check_replacing, check_writable
from dumbbell.cli import axes
from dumbbell.compare import measurements
from dumbbell.compare.xval import CrossValidation, XvalCase, in_simulator, xval
from dumbbell.compare.xval_table import (
    COLUMNS,
    OVERVIEW_COLUMNS,
    comparison_row,
    counts,
    overview_rows,
    summary_lines,
)
from dumbbell.report.xval_page import write_page_of
from dumbbell.run.engine import KERNEL, SIMULATOR, check_engine
from dumbbell.run.verdict import Reason
from dumbbell.runs import Cache, Progress, SweepInterrupted
from dumbbell.runs.run_count import check_run_count
from dumbbell.scenario import Scenario
from dumbbell.scenario.fields import RUN
from dumbbell.sweeps.design import directory_name, make_design
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_what
from dumbbell.terminal.console import note, note_cache, out, print_json, progress_bar
from dumbbell.terminal.field_options import Fields, with_field_options
from dumbbell.terminal.help import rare
from dumbbell.terminal.options import OUTPUT
from dumbbell.terminal.out_directory import out_directory
from dumbbell.terminal.real_time import real_time_note
from dumbbell.terminal.scenario_options import base_of_axes
from dumbbell.terminal.table import print_table

__all__ = ["validate_command"]

#: Of the bar: the simulator takes seconds, the kernel the scenarios' own time.
SIMULATOR_SHARE = 0.01

What = Annotated[
    list[str],
    typer.Argument(
        metavar="CC… | CC+CC… | FILE.toml…",
        callback=options.with_files,
        help="One scenario of these algorithms, a group each; or one per `copa+cubic`, "
        "one per file.",
        show_default=False,
        autocompletion=complete_what,
    ),
]
#: What the help ends with.
EXAMPLES = (
    "dumbbell validate cubic --time 30s",
    "dumbbell validate copa+cubic --buffer 1bdp,4bdp --time 20s --out results/v",
)


@with_field_options
def validate_command(
    what: What,
    fields: Fields,
    name: options.Names = None,
    upload: options.Uploads = None,
    reps: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Repetitions on the kernel, each with the next seed; one more for an INVALID one.",
            rich_help_panel=RUN,
        ),
    ] = 3,
    simulator_reps: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Repetitions in the simulator.",
            rich_help_panel=RUN,
            show_default="10, or as on the kernel",
        ),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help="What the simulator is compared with: `kernel`, or `uml` (Linux in virtual time).",
            rich_help_panel=rare(RUN),
            autocompletion=options.complete_engines,
        ),
    ] = KERNEL,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Runs on the kernel at a time; they share its cores.",
            rich_help_panel=RUN,
            show_default="1; of `uml` all cores",
        ),
    ] = None,
    cache: options.SimulatorCacheFlag = True,
    lang: options.Lang = "",
    linux_tree: options.LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    unsafe: options.UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    json: options.Json = False,
    out_dir: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="DIR",
            callback=out_directory,
            help="Directory for the runs and report.html.",
            rich_help_panel=OUTPUT,
        ),
    ] = Path("results/validate"),
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the measurements on the kernel to this JSON file.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
) -> int:
    """Compare the simulator with the kernel on the same scenarios.

    Prints share, RTT, inflight, retransmissions, queueing delay and drops with the differences and
    their confidence intervals, and writes a page with both engines' time series. A field with
    several values (`1,4`, `0.5..64bdp`) makes a scenario for each. Runs on the kernel are in real
    time, repetitions × scenarios × `--time`; the estimate is printed first. Exits with 1 if all
    runs on the kernel of a scenario are INVALID.
    """
    constants, lists = axes.constants_and_lists(fields)
    cases = named(
        [
            (words, cell.label, scenario)
            for words in mixes(what)
            for cell, scenario in make_design(
                *base_of_axes(words, constants, lists, uploads=upload, names=name)
            ).points
        ]
    )
    check_engine(SIMULATOR, *(in_simulator(scenario) for _, scenario in cases))
    check_engine(engine, *(scenario for _, scenario in cases))
    check_run_count(len(cases), max(reps, simulator_reps or 0))
    check_writable(out_dir)
    if save is not None:
        check_replacing(save, is_file=True)
    if engine == KERNEL:
        note(real_time_note([scenario.time.seconds for _, scenario in cases] * reps, jobs))
    kept = Cache() if cache else None
    result = run_both(cases, out_dir, (engine, reps, jobs), simulator_reps, kept)
    note_cache(kept)
    page = write_page_of(result, out_dir / "report.html", lang)
    if save is not None:
        measurements.save([(c.name, c.scenario, c.kernel) for c in result.cases], save)
    if json:
        print_json(result.to_dict())
    else:
        print_cross_validation(out(), result, page)
    return 0 if all(case.valid for case in result.cases) else 1


def mixes(what: list[str]) -> list[list[str]]:
    """Return the words of each scenario: a file, or the CCAs of its groups."""
    if not any("+" in word or word.endswith(".toml") for word in what):
        return [what]
    return [[word] if word.endswith(".toml") else word.split("+") for word in what]


def named(cases: list[tuple[list[str], str, Scenario]]) -> list[tuple[str, Scenario]]:
    """Give each case a unique name that can be a directory's."""
    names = []
    for words, label, scenario in cases:
        base = Path(words[0]).stem if words[0].endswith(".toml") else directory_name(scenario)
        names.append(base if label == "all" else f"{base},{label}")
    seen: Counter[str] = Counter()
    result = []
    for name, (_, _, scenario) in zip(names, cases, strict=True):
        seen[name] += 1
        result.append((name if seen[name] == 1 else f"{name},{seen[name]}", scenario))
    return result


def run_both(
    cases: list[tuple[str, Scenario]],
    out_dir: Path,
    how: tuple[str, int, int | None],
    simulator_reps: int | None,
    cache: Cache | None,
) -> CrossValidation:
    """Run and compare, with a progress bar; `how`: engine, repetitions, runs at a time."""
    engine, reps, jobs = how
    with progress_bar("simulating") as bar:

        def show(each: str, progress: Progress) -> None:
            share = progress.simulated_s / progress.total_s
            if each == SIMULATOR:
                bar.at(SIMULATOR_SHARE * share, "simulating")
            else:
                label = f"on the kernel: run {progress.finished} of {progress.total}"
                bar.at(SIMULATOR_SHARE + (1 - SIMULATOR_SHARE) * share, label)

        try:
            return xval(
                cases, out_dir, reps=reps, simulator_reps=simulator_reps, engine=engine, jobs=jobs,
                cache=cache, on_progress=show,
            )  # fmt: skip
        except SweepInterrupted as interrupt:
            where = f", kept in {out_dir / 'runs'}" if interrupt.finished else ""
            raise KeyboardInterrupt(f"{interrupt}{where}") from None


def print_cross_validation(console: Console, result: CrossValidation, page: Path) -> None:
    """Print a table per case and the summary, for a person."""
    for case in result.cases:
        rows = [comparison_row(entry) for entry in case.comparisons]
        print_table(COLUMNS, rows, title=case.name, optional=("kernel", "simulator"))
        console.print(f"runs on the kernel: {counts(case.verdicts)}", markup=False)
        for reason in remarks(case):
            line = f"  {reason.status.lower()}: {reason.message}"
            console.print(line, markup=False, soft_wrap=True)
        console.print()
    if len(result.cases) > 1:
        heads = [column.replace(": ", "\n") for column in OVERVIEW_COLUMNS]
        print_table(heads, overview_rows(result), left=range(2), optional=("difference,\n%",))
    for line in summary_lines(result):
        console.print(line, markup=False, soft_wrap=True)
    console.print(f"report: {page}", markup=False, soft_wrap=True)


def remarks(case: XvalCase) -> list[Reason]:
    """Return the verdicts' reasons, one for each check and status."""
    reasons = [reason for run in case.kernel for reason in run.verdict.reasons]
    return list({(reason.check, reason.status): reason for reason in reasons}.values())
