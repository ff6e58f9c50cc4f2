"""`dumbbell gate`: has a congestion control algorithm or a queue discipline become worse?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from dumbbell.base.errors import GateError
from dumbbell.base.optional import optional
from dumbbell.base.writing import write_file
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.gate import (
    LEVEL,
    Gate,
    Subject,
    Suite,
    SuiteResult,
    evaluate,
    find_suite,
    is_baseline,
    load_baseline,
    run_suite,
    save_baseline,
    shipped_suites,
)
from dumbbell.gate.case import ANY_SUBJECT
from dumbbell.gate.markdown import to_markdown
from dumbbell.gate.subject import QUEUE_UNDER_TEST, UNDER_TEST
from dumbbell.gate.text import (
    CHANGE_COLUMNS,
    CRITERION_COLUMNS,
    change_row,
    changes,
    criterion_row,
    headline,
    outline,
    unmet,
)
from dumbbell.run.engine import KERNEL, SIMULATOR
from dumbbell.runs import Cache, Progress
from dumbbell.runs.cache import as_cache
from dumbbell.scenario.element import QueueChoice
from dumbbell.scenario.fields import RUN
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_what, matching
from dumbbell.terminal.console import note, note_cache, out, print_json, print_line, progress_bar
from dumbbell.terminal.field_options import SETTABLE, Fields, with_field_options
from dumbbell.terminal.real_time import doing
from dumbbell.terminal.scenario_options import single_values
from dumbbell.terminal.table import print_table

__all__ = ["gate_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell gate --list",
    "dumbbell gate regression --cc cubic --record results/baseline",
    "dumbbell gate results/baseline --cc cubic:beta=819 --markdown results/gate.md",
)


def complete_suites(incomplete: str) -> list[tuple[str, str]]:
    """Complete a suite that comes with dumbbell."""
    return matching(incomplete, ((name, find_suite(name).title) for name in shipped_suites()))


What = Annotated[
    str | None,
    typer.Argument(
        metavar="BASELINE | SUITE",
        help="A baseline's directory, or a suite's file or name (`--list`).",
        show_default=False,
        autocompletion=complete_suites,
    ),
]
Cc = Annotated[
    str | None,
    typer.Option(
        "--cc",
        help="The congestion control under test: `./mine.bpf.c`, `cubic:beta=819`.",
        show_default="the baseline's",
        autocompletion=complete_what,
    ),
]
Qdisc = Annotated[
    str | None,
    typer.Option(
        help="The queue discipline under test, where a suite tests one: `pie:target=20ms`.",
        show_default="the baseline's",
    ),
]
Record = Annotated[
    Path | None,
    typer.Option(help="Store the suite's results in this directory, as a baseline."),
]
Tolerances = Annotated[
    list[str] | None,
    typer.Option(
        "--tolerance",
        help="Tolerated worsening, instead of the suite's: `10%` for every metric, "
        "`queue_delay_mean_us=10% + 1ms` for one. Repeatable.",
        show_default=False,
    ),
]
Cases = Annotated[
    list[str] | None,
    typer.Option("--case", help="Only this case; repeatable.", show_default=False),
]
Reps = Annotated[
    int | None,
    typer.Option(min=1, help="Repetitions of every cell.", show_default="the suite's"),
]
Level = Annotated[
    float,
    typer.Option(
        min=1e-9,
        max=0.5,
        help="Chance of a false alarm in the whole gate, for changes exactly at the tolerance.",
    ),
]
Junit = Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file.")]
Markdown = Annotated[
    Path | None, typer.Option("--markdown", help="Write a summary for a pull request to this file.")
]
List = Annotated[bool, typer.Option("--list", help="List the suites that come with dumbbell.")]


@partial(with_field_options, common=("time", "seed"))
def gate_command(
    fields: Fields,
    what: What = None,
    cc: Cc = None,
    qdisc: Qdisc = None,
    record: Record = None,
    tolerance: Tolerances = None,
    case: Cases = None,
    reps: Reps = None,
    level: Level = LEVEL,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE",
            help="`simulator`, `kernel` or `uml` (virtual time).",
            rich_help_panel=RUN,
            show_default="as in the baseline",
        ),
    ] = None,
    junit: Junit = None,
    markdown: Markdown = None,
    jobs: options.Jobs = None,
    cache: options.CacheFlag = None,
    unsafe: options.UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    json: options.Json = False,
    list_suites: List = False,
) -> int:
    """Find regressions: run a suite, and compare with a baseline.

    With --record, a suite's results become a baseline. With a baseline, its suite is run again and
    compared; with other seeds the runs are not paired, and chance differences are larger. A
    scenario field set here is set in every case of the suite. Exits with 1 if anything became
    worse or a criterion is missed.
    """
    if list_suites:
        print_suites()
        return 0
    # Before the suite runs: it takes minutes.
    if junit is not None:
        optional("junitparser", extra="gate", purpose="`--junit`")
    if what is None:
        raise GateError("name a baseline's directory or a suite; `dumbbell gate --list` lists them")
    values = single_values(fields, "gate")
    seed = SETTABLE["seed"].parse(values.pop("seed")) if "seed" in values else None
    baseline = load_baseline(Path(what)) if is_baseline(Path(what)) else None
    if baseline is None:
        suite = suite_to_run(what, tolerance).with_fields(values)
    else:
        suite = suite_of(baseline, what, record, reps, values)
    suite = suite.of_cases(case) if case else suite
    suite = suite.with_reps(reps) if reps else suite
    tested = subject_of(suite, cc, qdisc, baseline)
    of_suite = KERNEL if any(case.tests_program for case in suite.runnable) else SIMULATOR
    used_engine = engine or (baseline.engine if baseline else of_suite)
    kept = as_cache(cache, used_engine)
    after = run_with_progress(suite, tested, used_engine, baseline, seed, jobs, kept)
    note_cache(kept)
    gate = evaluate(after, baseline, tolerances=tolerance or (), level=level)
    write_files(gate, record, junit, markdown)
    if json:
        print_json(gate.to_dict())
    else:
        print_gate(out(), gate, is_recorded=record is not None)
        if record is not None:
            print_line(f"recorded in {record}; compare with it by `dumbbell gate {record}`")
        elif gate.compares_nothing:
            print_line(
                f"suite `{after.suite.name}` has no criteria: record a baseline with `--record "
                "DIR`, then compare with it by `dumbbell gate DIR`"
            )
    return 0 if gate.passed else 1


def suite_to_run(what: str, tolerances: list[str] | None) -> Suite:
    """Read a suite; refuse options that a suite without a baseline does not take."""
    suite = find_suite(what)
    if tolerances:
        raise GateError(
            "a tolerance is of a comparison with a baseline; record one with `--record DIR` first"
        )
    return suite


def subject_of(
    suite: Suite, cc: str | None, qdisc: str | None, baseline: SuiteResult | None
) -> Subject:
    """Return what is under test; what the command line does not name is the baseline's."""
    before = Subject() if baseline is None else baseline.subject
    subject = Subject(cc or before.cc, qdisc or before.qdisc)
    suite.check_subject(subject)
    if subject.cc:
        subject = subject._replace(cc=str(CongestionControlChoice.parse(subject.cc)))
    if subject.qdisc:
        subject = subject._replace(qdisc=str(QueueChoice.parse(subject.qdisc)))
    return subject


def suite_of(
    baseline: SuiteResult,
    what: str,
    record: Path | None,
    reps: int | None,
    values: Mapping[str, Any],
) -> Suite:
    """Return a baseline's suite; refuse what would change it."""
    name = baseline.suite.name
    words = [
        f"dumbbell gate {name if name in shipped_suites() else f'{name}.toml'}",
        *(f"--{key} {value}" for key, value in baseline.subject._asdict().items() if value),
    ]
    command = " ".join(words)
    if record is not None:
        raise GateError(
            f"{what} is a baseline already; record one of a suite: `{command} --record {what}`"
        )
    if reps is not None:
        raise GateError(
            f"the repetitions are the baseline's; record it again with others: "
            f"`{command} --reps {reps} --record {what}`"
        )
    if values:
        given = " ".join(f"{SETTABLE[field].option} {value}" for field, value in values.items())
        raise GateError(
            f"the scenarios are the baseline's; record it again with others: "
            f"`{command} {given} --record {what}`"
        )
    return baseline.suite


def write_files(gate: Gate, record: Path | None, junit: Path | None, markdown: Path | None) -> None:
    """Write the files that were asked for."""
    if record is not None:
        save_baseline(gate.after, record)
    if junit is not None:
        from dumbbell.gate.junit import write_junit  # needs a package that an extra installs

        write_junit(gate, junit)
    if markdown is not None:
        write_file(markdown, to_markdown(gate))


def run_with_progress(
    suite: Suite,
    subject: Subject,
    engine: str,
    baseline: SuiteResult | None,
    seed: int | None,
    jobs: int | None,
    cache: Cache | None,
) -> SuiteResult:
    """Run the suite, with a progress bar; a baseline's seeds are its first run's and the next."""
    if seed is None and baseline is not None:
        seed = min(baseline.seeds)
    with progress_bar(doing(engine), is_even=True) as bar:
        # Once it is known that the suite runs: at the first progress.
        skipped = [case for case in suite.cases if case.needs]

        def show(progress: Progress) -> None:
            while skipped:
                case = skipped.pop(0)
                note(f"case `{case.name}` is skipped: it needs {case.needs}")
            bar.at_run(progress)

        return run_suite(
            suite,
            subject,
            engine=engine,
            seed=seed,
            jobs=jobs,
            cache=cache or False,
            on_progress=show,
        )


def print_gate(console: Console, gate: Gate, *, is_recorded: bool) -> None:
    """Print what changed and the outcome, for a person; to record needs no outcome."""
    rows = [change_row(comparison) for comparison in changes(gate)]
    if rows:
        print_cases(CHANGE_COLUMNS, rows)
    rows = [criterion_row(outcome) for outcome in unmet(gate)]
    if rows:
        print_cases(CRITERION_COLUMNS, rows)
    ending = [] if is_recorded and gate.compares_nothing else [headline(gate)]
    for line in [*outline(gate), *ending]:
        console.print(line, markup=False, soft_wrap=True)


def print_cases(columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows of cases, whose axes' values are a line of their own."""
    broken = [(cell.replace("[", "\n[", 1), *rest) for cell, *rest in rows]
    print_table(
        columns, broken, left=range(2), optional=("p", "mean", "tolerated", "before", "after")
    )


def print_suites() -> None:
    """Print the suites that come with dumbbell."""
    rows = []
    for name in shipped_suites():
        suite = find_suite(name)
        counts = [(len(case.cells(ANY_SUBJECT)), len(case.reference_cells(ANY_SUBJECT)), case.reps)
                  for case in suite.runnable]  # fmt: skip
        cells = sum(count for count, _, _ in counts)
        runs = sum((count + references) * reps for count, references, reps in counts)
        tested = [
            place for place, tests in (
                (UNDER_TEST, any(case.tests_cc for case in suite.runnable)),
                (QUEUE_UNDER_TEST, any(case.tests_queue for case in suite.runnable)),
            ) if tests
        ]  # fmt: skip
        rows.append((name, suite.title, " ".join(tested), f"{len(counts)}", f"{cells}", f"{runs}"))
    columns = ("suite", "what it asks", "tests", "cases", "cells", "runs")
    print_table(columns, rows, left=range(3))
