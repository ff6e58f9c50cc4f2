"""`dumbbell search`: the scenario in which a CCA does worst, made small."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities import Time, pluralize
from dumbbell.compare import WORST
from dumbbell.run import KERNEL, UML, check_engine
from dumbbell.runs import Cache
from dumbbell.scenario_space import SPACES
from dumbbell.terminal import (
    OUTPUT,
    Fields,
    Jobs,
    Json,
    LinuxTreeOption,
    SimulatorCacheFlag,
    UnsafeNoSandbox,
    base_scenario,
    complete_what,
    note,
    note_cache,
    print_json,
    print_line,
    progress_bar,
    real_time_note,
    single_values,
    with_field_options,
)
from dumbbell_studies.search import SearchProgress, SearchResult, confirm, search
from dumbbell_studies.search.search import KERNEL_SEEDS, NOISE

__all__ = ["search_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell search copa --against cubic --worst gap",
    "dumbbell search ./mine.bpf.c --space loss-window --budget 2min --out found",
    "dumbbell search bbr --worst queue_delay_p95_us --space cross --evaluations 500",
)
#: Engines that a finding can be confirmed on.
LINUX_ENGINES = (KERNEL, UML)
#: Panel of `--help`.
SEARCH = "Search"
#: Of a run, unless the user sets it: short enough for thousands of them.
TIME, SAMPLE = "20s", "50ms"
#: Without a budget of the user's.
BUDGET = "5min"


@partial(with_field_options, common=("time", "seed"))
def search_command(
    cc: Annotated[
        str,
        typer.Argument(
            metavar="CC",
            help="The congestion control under test: `copa`, `copa:mode_switching=0`, "
            "`./mine.bpf.c`.",
            show_default=False,
            autocompletion=complete_what,
        ),
    ],
    fields: Fields,
    against: Annotated[
        str,
        typer.Option(
            metavar="CC",
            help="The reference, which must do well where the one under test does not; also all "
            "competitors.",
            rich_help_panel=SEARCH,
            autocompletion=complete_what,
        ),
    ] = "cubic",
    worst: Annotated[
        str,
        typer.Option(
            metavar="|".join([*WORST, "METRIC"]),
            help="What to make as bad as possible, compared with the reference.",
            rich_help_panel=SEARCH,
        ),
    ] = "gap",
    space: Annotated[
        str,
        typer.Option(
            metavar="|".join(SPACES), help="What scenarios may have.", rich_help_panel=SEARCH
        ),
    ] = "static",
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="How long to search and shrink, in real time.",
            rich_help_panel=SEARCH,
            show_default=f"{BUDGET}; with --evaluations none",
        ),
    ] = None,
    evaluations: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Search this many scenarios. The same seed then finds the same on every machine; "
            "with a budget of time alone it does not.",
            rich_help_panel=SEARCH,
            show_default=False,
        ),
    ] = None,
    confirmed: Annotated[
        str | None,
        typer.Option(
            "--confirm",
            metavar="|".join(LINUX_ENGINES),
            help="Run what is found on Linux too: on this machine's, or in virtual time.",
            rich_help_panel=SEARCH,
            show_default=False,
        ),
    ] = None,
    unsafe: UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    linux_tree: LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    jobs: Jobs = None,
    cache: SimulatorCacheFlag = True,
    json: Json = False,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write the scenario file and a pytest regression test to this directory.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
) -> int:
    """Search for the scenario in which an algorithm does worst.

    Every scenario runs with the congestion control algorithm and with the reference in its place;
    what counts is by how much it does worse. Runs that are INVALID, and scenarios in which the
    reference gets less than half of its share, do not count. What is found is shrunk, checked on 20
    fresh seeds, and said in a sentence. Ctrl-C keeps the best so far. Exits with 1 if a failure is
    found and fresh seeds confirm it.
    """
    plain = {"time": TIME, "sample": SAMPLE, "impair": NOISE}
    values = {**plain, **single_values(fields, "search")}
    if cc.endswith(".toml"):
        raise ScenarioError(
            "`dumbbell search` takes one algorithm; set its path by options, like `--rate 20mbit`"
        )
    scenario = base_scenario([cc], values)
    if confirmed is not None:
        check_confirming(confirmed)
    budget_s = None
    if budget is not None or evaluations is None:
        budget_s = Time.parse(budget or BUDGET, "budget", minimum=10**9).seconds
    kept = Cache() if cache else None
    with progress_bar("searching") as bar:

        def follow(progress: SearchProgress) -> None:
            best = "" if progress.best < 0 else f", worst {progress.best:.2f}"
            bar.at(progress.share, f"{progress.stage}: {progress.evaluations} scenarios{best}")

        result = search(
            scenario, against, worst=worst, space=space, budget_s=budget_s, evaluations=evaluations,
            seed=scenario.seed, jobs=jobs, cache=kept or False, on_progress=follow,
        )  # fmt: skip
    if confirmed is not None and result.failure is not None and not result.is_interrupted:
        result = on_linux(result, confirmed)
    note_cache(kept)
    written = []
    if out_dir is not None and result.failure is not None:
        written = result.failure.save(out_dir)
    if json:
        print_json(result.to_dict())
    else:
        show(result, worst, written)
    if result.is_interrupted:
        raise KeyboardInterrupt(f"{pluralize(result.evaluations, 'scenario')} searched")
    return 1 if result.failure is not None else 0


def check_confirming(engine: str) -> None:
    """Refuse an engine that is not Linux, before a search begins."""
    if engine.partition(":")[0] not in LINUX_ENGINES:
        raise ScenarioError(
            f"--confirm is `{engine}`; use {' or '.join(f'`{each}`' for each in LINUX_ENGINES)}"
        )
    check_engine(engine)


def on_linux(result: SearchResult, engine: str) -> SearchResult:
    """Run what was found on Linux, with a progress bar."""
    from dataclasses import replace

    finding = result.finding
    if finding is None:
        return result
    if engine == KERNEL:
        note(real_time_note([finding.scenario.time.seconds] * (2 * KERNEL_SEEDS), 1))
    with progress_bar(f"running on the engine {engine}") as bar:
        follow = partial(bar.at_run, of=f"{engine}: ")
        return replace(result, finding=confirm(finding, engine, follow))


def show(result: SearchResult, worst: str, written: list[Path]) -> None:
    """Print what was found, for a person."""
    finding = result.finding
    counted = f"{pluralize(result.evaluations, 'scenario')}, {pluralize(result.runs, 'run')}"
    for fault, times in sorted(result.faults.items(), key=lambda each: -each[1])[:3]:
        note(f"{pluralize(times, 'run')} did not count: {fault}")
    if finding is None:
        best = "none counted" if result.best is None else f"the worst is {result.best:.3g}"
        print_line(f"no failure found by {worst}: {best}, below {result.least:g} ({counted})")
        return
    print_line(finding.sentence)
    print_line(finding.proof + f" A run fails if the difference exceeds {finding.bound:.3g}.")
    if result.failure is None:
        note("fresh seeds do not confirm it: it does not count as a failure, no test is written")
    if finding.confirmation is not None and finding.confirmation.why:
        note(f"on Linux: {finding.confirmation.why}")
    print_line(f"shrunk from {pluralize(len(finding.found.elements), 'element')} to "
               f"{len(finding.candidate.elements)} ({counted})")  # fmt: skip
    if written:
        for path in written:
            print_line(str(path))
    else:
        print_line("")
        print_line(finding.toml())
