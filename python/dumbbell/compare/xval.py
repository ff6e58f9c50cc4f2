"""Run scenarios in both engines, and compare the engines' metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from dumbbell._core import ENGINE_VERSION
from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.json_text import json_text
from dumbbell.compare.comparison import Comparison
from dumbbell.compare.engines import EngineSummary, compare_engines, summarize, to_dict
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.congestion_control.linux_tree import tree_in_use
from dumbbell.metrics import measure
from dumbbell.run import SCHEMA_VERSION, Run
from dumbbell.run.engine import KERNEL, SIMULATOR, check_engine
from dumbbell.run.guest import UML
from dumbbell.run.verdict import INVALID
from dumbbell.runs import Cache, Progress, repetitions, run_all
from dumbbell.scenario import Group, Scenario

__all__ = [
    "MIN_SIMULATOR_REPS",
    "CrossValidation",
    "XvalCase",
    "cross_validate",
    "in_simulator",
    "xval",
]

#: Simulated runs take a fraction of a second: with ten, the interval shows the kernel's spread.
#: In virtual time each has its pair.
MIN_SIMULATOR_REPS = 10


@dataclass(frozen=True)
class XvalCase:
    """One scenario in both engines.

    Attributes
    ----------
    name
        Its name in tables.
    scenario
        With the first repetition's seed.
    simulator, kernel
        The runs, one per seed.
    """

    name: str
    scenario: Scenario
    simulator: tuple[Run, ...]
    kernel: tuple[Run, ...]

    @property
    def valid(self) -> tuple[Run, ...]:
        """The runs on the kernel that are not INVALID; the others are in no number."""
        return tuple(run for run in self.kernel if run.verdict.status != INVALID)

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """Every metric of every group, and of the run; in virtual time by pairs of one seed."""
        ccs = [str(group.cc) for group in self.scenario.groups]
        by_seed = {run.scenario.seed: run for run in self.simulator}
        seeds = [run.scenario.seed for run in self.valid]
        is_virtual = bool(seeds) and all(run.engine == UML for run in self.valid)
        paired = is_virtual and by_seed.keys() >= set(seeds)
        simulated = [by_seed[seed] for seed in seeds] if paired else self.simulator
        simulator, kernel = ([measure(run) for run in r] for r in (simulated, self.valid))
        labels = self.scenario.group_labels
        return compare_engines(self.name, ccs, simulator, kernel, labels, paired=paired)

    @property
    def verdicts(self) -> Counter[str]:
        """How many runs on the kernel were OK, WARN and INVALID."""
        return Counter(run.verdict.status for run in self.kernel)

    def to_dict(self) -> dict[str, Any]:
        """Return the case as `xval --json` has it."""
        return {
            "name": self.name,
            "scenario": self.scenario.to_dict(),
            "kernel_verdicts": dict(self.verdicts),
            "comparisons": [to_dict(comparison) for comparison in self.comparisons],
        }


@dataclass(frozen=True)
class CrossValidation:
    """Scenarios in both engines."""

    cases: tuple[XvalCase, ...]

    @property
    def summary(self) -> EngineSummary:
        """All scenarios in a few numbers."""
        return summarize(entry for case in self.cases for entry in case.comparisons)

    @property
    def verdicts(self) -> Counter[str]:
        """How many runs on the kernel were OK, WARN and INVALID."""
        return sum((case.verdicts for case in self.cases), Counter())

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `xval --json` prints it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "engine_version": ENGINE_VERSION,
            "kernel_verdicts": dict(self.verdicts),
            "summary": self.summary.to_dict(),
            "cases": [case.to_dict() for case in self.cases],
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json_text(self.to_dict())


Key = tuple[str, int]


def xval(
    scenarios: Iterable[tuple[str, Scenario]],
    out: str | Path,
    *,
    reps: int = 3,
    simulator_reps: int | None = None,
    engine: str = KERNEL,
    jobs: int | None = None,
    cache: Cache | None = None,
    on_progress: Callable[[str, Progress], None] | None = None,
) -> CrossValidation:
    """Run scenarios in both engines, repeated, and compare.

    Parameters
    ----------
    scenarios
        A name, fit for a directory, and a scenario for each case; repetitions have the next seeds.
    out
        Directory of the runs: ``runs/<name>/<engine>-seed<seed>``.
    reps
        Repetitions on the kernel. For each that is INVALID one with the next seed follows, until as
        many are valid or twice as many were run.
    simulator_reps
        Repetitions in the simulator; by default `reps`, next to the kernel at least 10.
    engine
        Whose Linux is compared with the simulator: ``kernel``, or ``uml`` in virtual time.
    jobs
        Runs at a time on the kernel; 1 by default, in virtual time as many as there are cores.
    cache
        Where simulated runs are found and kept; runs on the kernel are measured each time.
    on_progress
        Called with the engine and the progress of its runs.

    Returns
    -------
    CrossValidation
        The cases in order; their runs' tables are read from `out` on access.

    Raises
    ------
    SweepInterrupted
        Ctrl-C; finished runs are in `out`.
    """
    cases = list(scenarios)
    simulated = [(name, in_simulator(scenario)) for name, scenario in cases]
    of_engine = {engine: cases, SIMULATOR: simulated}
    for each in of_engine:
        check_engine(each, *(scenario for _, scenario in of_engine[each]))
    least = MIN_SIMULATOR_REPS if engine == KERNEL else 1
    counts = {SIMULATOR: simulator_reps or max(reps, least), engine: reps}
    workers = {SIMULATOR: None, engine: jobs}
    runs = {}
    for each, count in counts.items():

        def keep(key: Key, run: Run, each: str = each) -> Run:
            where = Path(out, "runs", key[0], f"{each}-seed{run.scenario.seed}")
            return Run.load(run.save(where, sources_in=Path(out)))

        def report(progress: Progress, each: str = each) -> None:
            if on_progress is not None:
                on_progress(each, progress)

        runs[each] = run_all(
            repetitions(of_engine[each], count),
            engine=each,
            jobs=workers[each],
            cache=cache if each != KERNEL and cache is not None else False,
            on_progress=report,
            on_finished=keep,
        )
        while each == KERNEL and (further := in_place_of_invalid(cases, runs[KERNEL], reps)):
            runs[KERNEL] |= run_all(
                further, engine=KERNEL, jobs=jobs, cache=False, on_finished=keep
            )
    return cross_validate(
        (name, scenario, of_case(runs[SIMULATOR], name), of_case(runs[engine], name))
        for name, scenario in cases
    )


def in_simulator(scenario: Scenario) -> Scenario:
    """Return a scenario with the sources of the Linux tree in use for a kernel's own algorithms.

    Reno's is not in a file of its own there: ours takes its place.

    Raises
    ------
    ScenarioError
        No tree is in use, or it has no such algorithm.
    """

    def with_source(group: Group) -> Group:
        name = group.cc.kernel_name
        if not group.cc.is_kernels_own or group.client is not None:
            return group
        tree = tree_in_use()
        if tree is None and name != "reno":
            raise ScenarioError(
                f"`{group.cc}` is a kernel's own; the simulator runs its source: name the tree "
                "with `--linux-tree DIR`",
                key="cc",
            )
        source = name if tree is None or name == "reno" else tree.source(name)
        return replace(group, cc=CongestionControlChoice.parse(source))

    groups = [with_source(group) for group in scenario.groups]
    return scenario.replace(groups=groups) if groups != list(scenario.groups) else scenario


def in_place_of_invalid(
    cases: Iterable[tuple[str, Scenario]], runs: Mapping[Key, Run], reps: int
) -> list[tuple[Key, Scenario]]:
    """Return what is still to be run, with the next seeds, for `reps` valid runs of each case."""
    further: list[tuple[Key, Scenario]] = []
    for name, scenario in cases:
        done = of_case(runs, name)
        valid = sum(run.verdict.status != INVALID for run in done)
        further += [
            ((name, rep), scenario.replace(seed=scenario.seed + rep))
            for rep in range(len(done), min(len(done) + reps - valid, 2 * reps))
        ]
    return further


def of_case(runs: Mapping[Key, Run], name: str) -> tuple[Run, ...]:
    """Return the runs of a case, by seed."""
    return tuple(run for (case, _), run in runs.items() if case == name)


def cross_validate(
    cases: Iterable[tuple[str, Scenario, Sequence[Run], Sequence[Run]]],
) -> CrossValidation:
    """Compare runs: for each case its name, its scenario, the simulator's runs, the kernel's."""
    return CrossValidation(
        tuple(
            XvalCase(name, scenario, tuple(simulator), tuple(kernel))
            for name, scenario, simulator, kernel in cases
        )
    )
