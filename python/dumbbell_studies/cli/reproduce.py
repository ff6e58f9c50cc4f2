"""`dumbbell reproduce`: a paper's tables, figures and findings, checked one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities import json_text
from dumbbell.base.writing import check_writable, write_file
from dumbbell.run import KERNEL, SIMULATOR, check_engine
from dumbbell.runs import Cache, Progress, SweepInterrupted, check_run_count
from dumbbell.terminal import (
    Jobs,
    Json,
    Lang,
    SimulatorCacheFlag,
    matching,
    note,
    note_cache,
    note_missing_figures,
    print_json,
    progress_bar,
    real_time_note,
    tidying,
)
from dumbbell_studies.cli.attribution import attribute_reproduction
from dumbbell_studies.cli.print_reproduction import ATTRIBUTION, print_all
from dumbbell_studies.papers import PAPERS, Paper, Reproduction, reproduce
from dumbbell_studies.papers.attribution import SEEDS, Attribution, AttributionInterrupted
from dumbbell_studies.papers.presets import PRESETS, with_preset
from dumbbell_studies.papers.reproduce import runs_directory
from dumbbell_studies.report import write_attribution_page, write_report, write_site

__all__ = ["reproduce_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell reproduce ogino2021",
    "dumbbell reproduce saito2022 --quick --seeds 3 --out results",
)

#: Of the bar: the runs, then figures and report.
RUNS_SHARE = 0.7
#: With the kernel: where the simulator ends, and where the runs do.
KERNEL_SHARES = (0.01, 0.99)


def complete_papers(incomplete: str) -> list[tuple[str, str]]:
    """Complete a paper."""
    return matching(incomplete, ((name, paper.title) for name, paper in PAPERS.items()))


def complete_presets(incomplete: str) -> list[tuple[str, str]]:
    """Complete a paper's apparatus."""
    return matching(incomplete, ((name, preset.what) for name, preset in PRESETS.items()))


def reproduce_command(
    papers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER…]",
            help=f"One of: {', '.join(PAPERS)}; all when none is named.",
            autocompletion=complete_papers,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="Run each scenario with this many seeds. By default ten where a finding depends "
            "on a single run, one where it depends on many; one with --quick."
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if a finding is not shown.")
    ] = False,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="simulator|kernel|uml",
            help="`kernel` runs everything on this machine's Linux TCP too, in real time; `uml` on "
            "a Linux in virtual time. Both results are shown.",
        ),
    ] = SIMULATOR,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Only the points without which no finding can be checked; in a directory of its "
            "own, OUT/PAPER-quick.",
        ),
    ] = False,
    apparatus: Annotated[
        str,
        typer.Option(
            "--apparatus",
            metavar="PRESET",
            help="Run everything with the paper's apparatus instead of the plain set-up: "
            f"{', '.join(PRESETS)}.",
            autocompletion=complete_presets,
        ),
    ] = "",
    attribute: Annotated[
        bool,
        typer.Option(
            "--attribute",
            help="Also find out what each finding depends on: try every known element of the "
            "paper's apparatus on it, one by one and together, ten seeds each. Runs on which no "
            "finding depends are left out.",
        ),
    ] = False,
    capture: Annotated[
        bool,
        typer.Option(
            "--capture",
            help="Capture at the senders too, and draw the figures over time from the captures, "
            "as the paper did, in addition to the engine's own series. About 100 MB a run.",
        ),
    ] = False,
    jobs: Jobs = None,
    cache: SimulatorCacheFlag = True,
    lang: Lang = "",
    json: Json = False,
    out_dir: Annotated[
        Path, typer.Option("--out", help="Directory for runs, figures and report.html.")
    ] = Path("results"),
) -> int:
    """Repeat papers' experiments, and check their findings."""
    chosen = chosen_papers(papers, capture=capture)
    if apparatus:
        chosen = under_apparatus(chosen, apparatus, is_named=bool(papers))
    check_seeds(seeds)
    if attribute:
        check_attribute(seeds, quick=quick, apparatus=apparatus)
    how = How(seeds, engine, quick, capture, jobs, Cache() if cache else None, lang, apparatus)
    for paper in chosen:
        check_engine(engine, *(scenario for _, scenario in paper.scenarios([1], engine=engine)))
    check_writable(out_dir)
    if engine == KERNEL:
        times_s = [
            scenario.time.seconds
            for paper in chosen
            for _, scenario in paper.scenarios(how.seeds_of, quick=quick)
        ]
        note(real_time_note(times_s, jobs) + ("" if quick else "; `--quick` runs fewer"))
    note_missing_figures()
    attributions: list[Attribution] = []
    if attribute:
        results, attributions = attribute_papers(chosen, out_dir, how)
    else:
        results = [
            reproduce_paper(paper, out_dir / paper.directory(quick=quick), how) for paper in chosen
        ]
    note_cache(how.cache)
    site = None
    if len(results) > 1:
        site = write_site(results, how.command, out_dir / "index.html", lang)
    if json:
        documents = with_attributions(results, attributions)
        document = documents[0] if len(documents) == 1 else documents
        print_json(document)
    else:
        print_all(results, attributions, out_dir, site)
    return 1 if check and not all(result.holds for result in results) else 0


def chosen_papers(names: Sequence[str] | None, *, capture: bool) -> list[Paper[Any, Any]]:
    """Return the papers by these names; all when there are none."""
    for name in names or ():
        if name not in PAPERS:
            raise ScenarioError(f"unknown paper `{name}`{nearest(name, PAPERS)}")
    chosen = [PAPERS[name] for name in dict.fromkeys(names or PAPERS)]
    if capture and not any(paper.from_captures for paper in chosen):
        known = ", ".join(f"`{name}`" for name, paper in PAPERS.items() if paper.from_captures)
        raise ScenarioError(f"nothing is drawn from captures but of {known}; leave out `--capture`")
    return chosen


def under_apparatus(
    chosen: Sequence[Paper[Any, Any]], preset: str, *, is_named: bool
) -> list[Paper[Any, Any]]:
    """Return the papers with a preset; where none was named, those that it is the apparatus of."""
    if not is_named and preset in PRESETS:
        chosen = [paper for paper in chosen if paper.name in PRESETS[preset].papers]
    return [with_preset(paper, preset) for paper in chosen]


def check_seeds(seeds: int | None) -> None:
    """Refuse a number of seeds that nothing can be run with."""
    if seeds is None:
        return
    if seeds < 1:
        raise ScenarioError(f"`--seeds` must be 1 or more, not {seeds}")
    check_run_count(1, seeds, what="--seeds")


@dataclass(frozen=True)
class How:
    """What the options say of how to reproduce a paper."""

    seeds: int | None
    engine: str
    quick: bool
    capture: bool
    jobs: int | None
    cache: Cache | None
    language: str = ""
    apparatus: str = ""

    @property
    def command(self) -> str:
        """The command line that reproduces all papers again."""
        words = ["dumbbell", "reproduce"]
        words += ["--engine", self.engine] if self.engine != SIMULATOR else []
        words += ["--apparatus", self.apparatus] if self.apparatus else []
        words += ["--quick"] if self.quick else []
        words += ["--capture"] if self.capture else []
        words += ["--seeds", str(self.seeds)] if self.seeds else []
        return " ".join(words)

    def attribute_command(self, papers: Sequence[str]) -> str:
        """Return the command line that finds out again what findings depend on."""
        named = [] if len(papers) == len(PAPERS) else papers
        words = ["dumbbell", "reproduce", *named, "--attribute"]
        words += ["--seeds", str(self.seeds)] if self.seeds else []
        return " ".join(words)

    def captures(self, paper: Paper[Any, Any]) -> bool:
        """Whether runs of a paper are captured."""
        return self.capture and paper.from_captures is not None

    @property
    def seeds_of(self) -> Sequence[int] | None:
        """The seeds of every scenario; None for each paper's own."""
        return range(1, 1 + self.seeds) if self.seeds else None


def check_attribute(seeds: int | None, *, quick: bool, apparatus: str) -> None:
    """Refuse what `--attribute` makes no sense with."""
    if seeds is not None and seeds < len(SEEDS):
        raise ScenarioError(
            f"`--attribute` needs {len(SEEDS)} seeds or more, not {seeds}: a finding is shown if "
            "nine of ten seeds show it; leave out `--seeds`"
        )
    other = "--quick" if quick else "--apparatus" if apparatus else ""
    if other:
        raise ScenarioError(
            f"`--attribute` cannot be combined with `{other}`: it compares the whole plain set-up "
            "with others itself; leave one out"
        )


def attribute_papers(
    chosen: Sequence[Paper[Any, Any]], directory: Path, how: How
) -> tuple[list[Reproduction], list[Attribution]]:
    """Reproduce papers, find out what their findings depend on, and write that."""
    results: list[Reproduction] = []
    attributions: list[Attribution] = []
    try:
        for paper in chosen:
            results.append(reproduce_paper(paper.deciding, directory / paper.directory(), how))
            attributions.append(attribute_paper(results[-1], how))
    except KeyboardInterrupt as interrupt:
        write_partial(interrupt, attributions, chosen, directory, how)
        raise
    write_attribution(attributions, directory, how)
    return results, attributions


def attribute_paper(result: Reproduction, how: How) -> Attribution:
    """Find out what a paper's findings depend on."""
    seeds = SEEDS if how.seeds is None else range(1, 1 + how.seeds)
    with progress_bar(result.paper.name) as bar:
        return attribute_reproduction(result, bar, jobs=how.jobs, cache=how.cache, seeds=seeds)


def with_attributions(
    results: Sequence[Reproduction], attributions: Sequence[Attribution]
) -> list[dict[str, Any]]:
    """Return the document of each paper, with its attribution if there is one."""
    documents = [result.to_dict() for result in results]
    for document, attribution in zip(documents, attributions, strict=False):
        document["attribution"] = attribution.to_dict()
    return documents


def write_attribution(attributions: Sequence[Attribution], directory: Path, how: How) -> None:
    """Write `attribution.json` and `attribution.html`."""
    text = json_text([each.to_dict() for each in attributions])
    write_file(directory / f"{ATTRIBUTION}.json", text + "\n")
    papers = [each.paper.name for each in attributions]
    page = directory / f"{ATTRIBUTION}.html"
    write_attribution_page(attributions, how.attribute_command(papers), page, how.language)


def write_partial(
    interrupt: KeyboardInterrupt,
    attributions: Sequence[Attribution],
    papers: Sequence[Paper[Any, Any]],
    directory: Path,
    how: How,
) -> None:
    """Write what was finished when Ctrl-C came, and say where it is."""
    finished = list(attributions)
    if isinstance(interrupt, AttributionInterrupted):
        finished.append(interrupt.attribution)
    findings = sum(len(each.findings) for each in finished)
    if not findings:
        return
    finished += [Attribution.not_begun(paper) for paper in papers[len(finished) :]]
    write_attribution(finished, directory, how)
    again = "; run it again to continue" if how.cache is not None else ""
    note(f"{findings} findings are in {directory / ATTRIBUTION}.html, the rest is missing{again}")


def reproduce_paper(paper: Paper[Any, Any], directory: Path, how: How) -> Reproduction:
    """Reproduce a paper with a progress bar."""
    # Real time dwarfs everything else.
    simulated, runs = (RUNS_SHARE, RUNS_SHARE) if how.engine == SIMULATOR else KERNEL_SHARES
    with progress_bar(paper.name) as bar:

        def show(progress: Progress, engine: str) -> None:
            where = "run" if engine == SIMULATOR else "on the kernel: run"
            label = f"{paper.name}: {where} {progress.finished} of {progress.total}"
            share = progress.simulated_s / progress.total_s
            at = (
                simulated * share if engine == SIMULATOR else simulated + (runs - simulated) * share
            )
            bar.at(at, label)

        def stage(share: float, label: str) -> None:
            bar.at(runs + (1 - runs) * share, f"{paper.name}: {label}")

        with tidying(captured_directories(paper, directory, how)):
            try:
                result = reproduce(
                    paper, directory, seeds=how.seeds_of, engine=how.engine, quick=how.quick,
                    capture=how.captures(paper), jobs=how.jobs, cache=how.cache,
                    on_progress=show, on_stage=stage,
                )  # fmt: skip
                stage(0.9, "writing the report")
                write_report(result, directory / "report.html", how.language)
            except SweepInterrupted as interrupt:
                where = f", kept in {directory}" if interrupt.finished else ""
                raise KeyboardInterrupt(f"{interrupt}{where}") from None
    return result


def captured_directories(paper: Paper[Any, Any], directory: Path, how: How) -> list[Path]:
    """Return the directories of the runs that are captured."""
    if not how.captures(paper):
        return []
    return [
        directory / runs_directory(engine) / name
        for engine in dict.fromkeys((SIMULATOR, how.engine))
        for name, (point, _) in paper.placed(how.seeds_of, quick=how.quick).items()
        if paper.wants_capture(point)
    ]
