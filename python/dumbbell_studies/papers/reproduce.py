"""Repeat a paper's experiment: run, measure, check the findings, draw the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dumbbell import __version__
from dumbbell.base.quantities import json_text
from dumbbell.base.writing import write_file
from dumbbell.figures import Figure, save_all
from dumbbell.run import (
    KERNEL,
    SCHEMA_VERSION,
    SIMULATOR,
    UML,
    Capture,
    Run,
    check_engine,
    pending_capture,
)
from dumbbell.runs import Cache, Progress, run_all
from dumbbell_studies.papers.finding import Finding, Outcome
from dumbbell_studies.papers.paper import Paper, ResultTable
from dumbbell_studies.papers.results import Results

__all__ = ["EngineResult", "Reproduction", "kind_of", "reproduce", "runs_directory"]

#: What is added to titles of figures and tables of another engine than the simulator.
WHERE = {KERNEL: "on the kernel", UML: "on Linux in virtual time"}


def kind_of(engine: str) -> str:
    """Return ``simulator``, ``kernel`` or ``uml``, whichever kernel that runs."""
    return engine.partition(":")[0]


def runs_directory(engine: str) -> str:
    """Return the name of the directory of an engine's runs."""
    return "runs" if engine == SIMULATOR else f"{kind_of(engine)}-runs"


@dataclass(frozen=True)
class EngineResult:
    """What a paper's experiment shows in one engine.

    Attributes
    ----------
    engine
        Which.
    runs
        By the name they are saved under.
    results
        What was measured of them, by point and seed.
    findings, tables, figures
        What the runs show.
    """

    engine: str
    runs: Mapping[str, Run]
    results: Results[Any, Any]
    findings: tuple[Finding, ...]
    tables: tuple[ResultTable, ...]
    figures: tuple[Figure, ...]

    @property
    def verdicts(self) -> Counter[str]:
        """How many runs were OK, WARN and INVALID."""
        return Counter(run.verdict.status for run in self.runs.values())

    @property
    def outcomes(self) -> Counter[Outcome]:
        """How many findings have each outcome."""
        return Counter(finding.outcome for finding in self.findings)

    @property
    def headline(self) -> str:
        """Return ``2 of 7 findings shown, 1 undecided by chance``."""
        return write_outcomes(self.outcomes)

    @property
    def holds(self) -> bool:
        """Whether every finding is shown, by runs that can be trusted."""
        return all(finding.shown for finding in self.findings) and not self.verdicts["INVALID"]


def write_outcomes(outcomes: Counter[Outcome]) -> str:
    """Return ``2 of 7 findings shown, 1 undecided by chance``."""
    rest = [
        f"{outcomes[outcome]} {outcome}"
        for outcome in Outcome
        if outcome is not Outcome.SHOWN and outcomes[outcome]
    ]
    shown = f"{outcomes[Outcome.SHOWN]} of {outcomes.total()} findings shown"
    return ", ".join([shown, *rest])


@dataclass(frozen=True)
class Reproduction:
    """A paper's experiment, repeated.

    Attributes
    ----------
    paper
        The paper.
    seeds
        Seeds of every scenario; None if each point has its own default number.
    results
        The simulator's, and those of another engine if one ran too.
    quick
        Whether only the points ran that are needed to check a finding.
    has_captures
        Whether the figures over time were drawn from captures too.
    """

    paper: Paper[Any, Any]
    seeds: tuple[int, ...] | None
    results: tuple[EngineResult, ...]
    quick: bool = False
    has_captures: bool = False

    @property
    def seeds_run(self) -> tuple[int, ...]:
        """Every seed that a scenario ran with."""
        return tuple(sorted({int(name.rpartition("-seed")[2]) for name in self.runs}))

    @property
    def runs(self) -> Mapping[str, Run]:
        """The simulator's runs."""
        return self.results[0].runs

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the simulator's runs show."""
        return self.results[0].findings

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        """The simulator's tables."""
        return self.results[0].tables

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The simulator's figures."""
        return self.results[0].figures

    @property
    def linux(self) -> EngineResult | None:
        """What the runs on a real Linux show; None if there were none."""
        return self.results[1] if len(self.results) > 1 else None

    @property
    def findings_by_engine(self) -> list[tuple[Finding, list[tuple[str, Finding]]]]:
        """Each finding, with each engine's result."""
        columns = zip(*(result.findings for result in self.results), strict=True)
        engines = [result.engine for result in self.results]
        return [(row[0], list(zip(engines, row, strict=True))) for row in columns]

    @property
    def verdicts(self) -> Counter[str]:
        """How many runs of all engines were OK, WARN and INVALID."""
        return sum((result.verdicts for result in self.results), Counter())

    @property
    def holds(self) -> bool:
        """Whether every finding is shown in every engine, by runs that can be trusted."""
        return all(result.holds for result in self.results)

    @property
    def missing(self) -> str:
        """What `--quick` leaves out; empty if nothing is missing."""
        return self.paper.quick_note if self.quick else ""

    @property
    def command(self) -> str:
        """The command line that repeats it."""
        words = ["dumbbell", "reproduce", self.paper.name]
        words += ["--apparatus", self.paper.apparatus] if self.paper.apparatus else []
        words += ["--engine", self.linux.engine] if self.linux is not None else []
        words += ["--quick"] if self.quick else []
        words += ["--capture"] if self.has_captures else []
        words += ["--seeds", str(len(self.seeds))] if self.seeds else []
        return " ".join(words)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `reproduce --json` prints it."""
        linux = self.linux
        findings = [finding.to_dict() for finding in self.findings]
        if linux is not None:
            for document, finding in zip(findings, linux.findings, strict=True):
                about = ("id", "statement")
                there = {k: v for k, v in finding.to_dict().items() if k not in about}
                document[kind_of(linux.engine)] = there
        predicted = {each.finding: each.to_dict() for each in self.paper.model_checks()}
        for each in findings:
            each["model"] = predicted.get(each["id"])
        document = {
            "schema_version": SCHEMA_VERSION,
            "paper": self.paper.name,
            **({"apparatus": self.paper.apparatus} if self.paper.apparatus else {}),
            "engine": self.results[-1].engine,
            "engine_version": __version__,
            "seeds": list(self.seeds_run),
            "quick": self.quick,
            "capture": self.has_captures,
            "missing": self.missing,
            "findings": findings,
            "runs": {name: run_digest(run) for name, run in self.runs.items()},
        }
        if linux is not None:
            runs = {name: run_digest(run) for name, run in linux.runs.items()}
            document[f"{kind_of(linux.engine)}_runs"] = runs
        return document


def run_digest(run: Run) -> dict[str, Any]:
    """Return a run for `reproduce --json`: without the flows, which its directory has."""
    document = run.to_dict()
    return {key: value for key, value in document.items() if key not in ("flows", "scenario")}


def reproduce(
    paper: Paper[Any, Any],
    out: Path,
    *,
    seeds: Sequence[int] | None = None,
    engine: str = SIMULATOR,
    quick: bool = False,
    capture: bool = False,
    jobs: int | None = None,
    cache: Cache | None = None,
    on_progress: Callable[[Progress, str], None] | None = None,
    on_stage: Callable[[float, str], None] | None = None,
) -> Reproduction:
    """Repeat a paper's experiment.

    Parameters
    ----------
    paper
        Which.
    out
        Directory for `runs/`, `figures/` and `findings.json`; time series are kept of the first
        seed's runs.
    seeds
        Run each scenario once per seed; None for as many as the paper's points have by default.
    engine
        ``kernel`` or ``uml`` runs it there too, in addition to the simulator.
    quick
        Run only the points that are needed to check a finding.
    capture
        Capture at the senders, keep that in each run's directory, and draw the figures over time
        from it too.
    jobs
        Runs at a time in `engine`.
    cache
        Cache of runs in virtual time; those on the kernel engine are measured each time.
    on_progress
        Called with the progress of the runs, and the engine.
    on_stage
        Called with the finished share of the work after the runs, and the next step.

    Returns
    -------
    Reproduction
        Findings, tables and figures; the runs are read from `out` on access.

    Raises
    ------
    SweepInterrupted
        Ctrl-C; finished runs are in `out`.
    """
    placed = paper.placed(seeds, quick=quick)
    check_engine(engine, *(s for _, s in paper.scenarios(seeds, quick=quick, engine=engine)))
    report_stage = on_stage or (lambda _share, _what: None)
    # Figures over time are of the first seed; the tables of all seeds are hundreds of megabytes.
    drawn_seed = seeds[0] if seeds else 1
    results = []
    for each in dict.fromkeys((SIMULATOR, engine)):
        measured: dict[str, Any] = {}

        def keep(name: str, run: Run, each: str = each, measured: dict[str, Any] = measured) -> Run:
            # Measure while the tables are in memory, then save; they are read back when needed,
            # because a small machine cannot hold the tables of 32 runs.
            point, seed = placed[name]
            measured[name] = paper.measure(point, run)
            tables = run.tables if seed == drawn_seed else {}
            kept = Run(run.scenario, run.summary, tables, run.capture, run.sources)
            directory = kept.save(out / runs_directory(each) / name, sources_in=out)
            if run.capture is not None:
                run.capture.unlink()  # the directory has it now
            return Run.load(directory)

        def capture_at(name: str, each: str = each) -> Capture | None:
            if not capture or not paper.wants_capture(placed[name][0]):
                return None
            directory = out / runs_directory(each)
            directory.mkdir(parents=True, exist_ok=True)
            return Capture(pending_capture(directory / name), points=["sender"])

        def follow(progress: Progress, each: str = each) -> None:
            if on_progress is not None:
                on_progress(progress, each)

        runs = run_all(
            paper.scenarios(seeds, quick=quick, engine=each),
            engine=each,
            jobs=jobs if each == engine else None,
            cache=cache if each != KERNEL and cache is not None else False,
            on_progress=follow,
            on_finished=keep,
            capture=capture_at,
        )
        report_stage(0.0, "checking the findings")
        results.append(evaluate(paper, each, placed, runs, measured, report_stage))
    if capture:
        results = [with_captures(paper, each, report_stage) for each in results]
    result = Reproduction(paper, tuple(seeds) if seeds else None, tuple(results), quick, capture)
    figures = [figure for each in results for figure in each.figures]
    for index, figure in enumerate(figures):
        report_stage(0.3 + 0.6 * index / len(figures), f"drawing {figure.name}")
        save_all([figure], out / "figures")
    write_file(out / "findings.json", json_text(result.to_dict()) + "\n")
    return result


def evaluate(
    paper: Paper[Any, Any],
    engine: str,
    placed: Mapping[str, tuple[Any, int]],
    runs: Mapping[str, Run],
    measured: Mapping[str, Any],
    report_stage: Callable[[float, str], None],
) -> EngineResult:
    """Check the findings, make the tables and draw the figures of one engine's runs."""
    by_point: dict[Any, list[str]] = {}
    for name in runs:
        by_point.setdefault(placed[name][0], []).append(name)
    results = Results(
        {point: [measured[name] for name in names] for point, names in by_point.items()},
        {point: [runs[name] for name in names] for point, names in by_point.items()},
    )
    findings = tuple(paper.findings(results))
    report_stage(0.1, "reading the time series")
    figures, tables = tuple(paper.figures(results)), tuple(paper.tables(results))
    if engine != SIMULATOR:
        where = WHERE[kind_of(engine)]
        figures = tuple(of_engine(figure, engine) for figure in figures)
        tables = tuple(replace(grid, title=f"{grid.title}, {where}") for grid in tables)
    return EngineResult(engine, runs, results, findings, tables, figures)


def of_engine(figure: Figure, engine: str) -> Figure:
    """Give a figure of another engine's runs another name than the simulator's."""
    if engine == SIMULATOR:
        return figure
    kind = kind_of(engine)
    return replace(figure, name=f"{kind}-{figure.name}", title=f"{figure.title}, {WHERE[kind]}")


def with_captures(
    paper: Paper[Any, Any], result: EngineResult, report_stage: Callable[[float, str], None]
) -> EngineResult:
    """Add what the captures show: figures next to the engine's own, and notes to findings."""
    if paper.from_captures is None:
        return result
    report_stage(0.2, "analysing the captures")
    shown = paper.from_captures(result.results)
    drawn = [of_engine(figure, result.engine) for figure in shown.figures]
    findings = tuple(noted(finding, shown.notes.get(finding.id)) for finding in result.findings)
    return replace(result, findings=findings, figures=interleave(result.figures, drawn))


def noted(finding: Finding, note: str | None) -> Finding:
    """Add a note to a finding."""
    return replace(finding, note="; ".join(filter(None, (finding.note, note))))


def interleave(figures: Sequence[Figure], drawn: Sequence[Figure]) -> tuple[Figure, ...]:
    """Put each figure that was drawn from captures after the engine's own of the same number."""
    rest = {figure.name.replace("capture-", ""): figure for figure in drawn}
    pairs = [
        each
        for figure in figures
        for each in (figure, rest.pop(figure.name, None))
        if each is not None
    ]
    return (*pairs, *rest.values())
