"""A sweep: one scenario over the values of its axes, repeated."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from dumbbell._core import ENGINE_VERSION
from dumbbell.base.errors import EngineError, ResultError, ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.congestion_control import SourceFiles, live
from dumbbell.metrics import AllMetrics, judged_by
from dumbbell.run.capture import Capture
from dumbbell.run.engine import KERNEL, SIMULATOR, check_engine, default_workers, engine_build
from dumbbell.runs.cache import Cache, as_cache
from dumbbell.runs.cluster import WORKER_TIMEOUT, Cluster, ClusterRunner, connected
from dumbbell.runs.executor import LocalRunner, RemoteRunner, Runner, drive
from dumbbell.runs.handler import RunHandler
from dumbbell.runs.measuring import Measures
from dumbbell.runs.progress import Progress, SweepInterrupted
from dumbbell.scenario import Scenario
from dumbbell.sweeps.design import make_design
from dumbbell.sweeps.identical_runs import IdenticalRuns
from dumbbell.sweeps.kept_runs import KeptRuns
from dumbbell.sweeps.plan import Plan, make_plan
from dumbbell.sweeps.repetitions import Repetitions
from dumbbell.sweeps.result import SweepResult
from dumbbell.sweeps.rows import Rows
from dumbbell.sweeps.run_store import RunStore
from dumbbell.sweeps.sweep_directory import SweepDirectory, open_sweep

__all__ = ["Sweep"]


class Sweep:
    """A scenario over the values of its axes.

    Parameters
    ----------
    scenario
        What no axis changes: a `Scenario`, a scenario file, or a list of groups.
    axes
        Values by field: ``{"buffer": "0.5..64bdp", "flows": [1, 4]}``. A field is the scenario's
        (``rate``), every group's (``flows``), one group's (``1.cc``, ``copa.flows``), or a
        parameter of its congestion control algorithm (``copa.mode_window_rtts``).
    zipped
        Names of axes that change together instead of being crossed: ``[("rate", "rtt")]``.
    reps
        Repetitions of each cell, each with the next seed; the same seeds in every cell, so that
        cells can be compared pair by pair. 1 by default; the fewest with `until_ci`, then 5.
    until_ci
        Repeat each cell until the confidence interval of `metric`'s mean, of every group, reaches
        no further to each side than this: ``"2%"`` of the mean, ``"0.5Mbit/s"``,
        or a number, which is in the metric's unit: 2 is 2 bit/s, not 2 %.
    metric, max_reps
        For `until_ci`: which metric, and the most repetitions of a cell.
    warmup
        What metrics leave out of each run's start: ``"20s"``, or ``"auto"`` to detect it; None
        for nothing, as in papers.
    engine
        ``simulator`` or ``kernel``.

    Attributes
    ----------
    has_all_runs
        Whether nothing is left to run.

    Raises
    ------
    ScenarioError
        There is no such field, values do not fit together, or the plan is invalid.

    Examples
    --------
    >>> import dumbbell
    >>> scenario = dumbbell.Scenario(["copa", "cubic"], time="2s")
    >>> result = dumbbell.Sweep(scenario, {"buffer": "1..2bdp"}, reps=2).run(cache=False)
    >>> [cell.label for cell in result.cells], len(result.runs)
    (['buffer=1bdp', 'buffer=2bdp'], 4)
    """

    def __init__(
        self,
        scenario: Scenario | str | Path | Sequence[Any],
        axes: Mapping[str, Sequence[Any] | str],
        *,
        zipped: Iterable[Sequence[str]] = (),
        reps: int | None = None,
        until_ci: str | float | None = None,
        metric: str = "goodput_bps",
        max_reps: int = 100,
        warmup: str | None = None,
        engine: str = SIMULATOR,
    ) -> None:
        self.design = make_design(Scenario.of(scenario), axes, zipped)
        self.scenarios = [scenario for _, scenario in self.design.points]
        judged_by(self.design.scenario)  # before anything runs
        self.plan: Plan = make_plan(reps, until_ci, metric, max_reps, warmup, self.scenarios)
        self.engine = engine
        self.has_all_runs = False

    @classmethod
    def resume(
        cls, directory: str | Path, *, files: Sequence[str | Path] = (), trust: bool = False
    ) -> Sweep:
        """Return the sweep that was started in a directory; ``run(out=directory)`` completes it.

        Parameters
        ----------
        directory
            Where it was started.
        files
            Where the files of its congestion control algorithms are, if not where they were. They
            must be those that ran.
        trust
            Run the source that the directory carries, and the programs that it names.

        Raises
        ------
        ResultError
            The directory holds no sweep.
        ScenarioError
            Runs are missing, and the file of a congestion control algorithm is not here or has
            changed, or they run programs and are not trusted.
        """
        started = open_sweep(Path(directory))
        programs = [group.client for group in started.design.scenario.groups if group.client]
        is_complete = started.is_complete()
        # Otherwise an interval that is too wide asks for further runs.
        needs_none = is_complete and started.plan.until_ci is None
        if programs and not trust and not needs_none:
            raise ScenarioError(
                f"the sweep in `{directory}` runs `{excerpt(str(programs[0]))}` on this machine; "
                "read its commands in `sweep.json`, then use `--trust`"
            )
        where = SourceFiles(Path(directory), [Path(file) for file in files], trust)
        where.check(started.design.ccs)
        design = started.design
        if not is_complete:
            design = design.with_ccs(lambda cc: live(cc, where))
        if trust:
            design = design.with_live_programs()
        sweep = cls.__new__(cls)
        sweep.has_all_runs = needs_none
        sweep.design, sweep.plan, sweep.engine = design, started.plan, started.engine
        sweep.scenarios = [scenario for _, scenario in design.points]
        return sweep

    def run(
        self,
        *,
        executor: Executor | None = None,
        cluster: Any = None,
        worker_timeout: str = WORKER_TIMEOUT,
        jobs: int | None = None,
        cache: Cache | str | Path | bool | None = None,
        out: str | Path | None = None,
        capture: Capture | None = None,
        texts: bool = True,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> SweepResult:
        """Run everything that has not been run before.

        Parameters
        ----------
        executor
            Where to, instead of threads of this process: any `concurrent.futures.Executor`.
        cluster
            A Dask cluster: its scheduler's address, a `distributed.Client` or a cluster of Dask's.
        worker_timeout
            How long the cluster may have no workers.
        jobs
            Runs at a time: all cores by default, 1 on the kernel. With an executor or cluster, how
            many it is given at a time.
        cache
            Where runs are found and kept: a `Cache`, a directory, True for the user's, False for
            none. None is the user's with the simulator, and none with the kernel, whose runs are
            measurements.
        out
            Where the sweep is written as it runs, with time series; a sweep that was started there
            is gone on with.
        capture
            What to capture of each run, into its directory in `out`. Nothing of the cache then.
        texts
            Write the source text of the congestion control algorithms to `out` too; their digests
            always are.
        on_progress
            Called several times a second.

        Raises
        ------
        SweepInterrupted
            Ctrl-C; what is finished is in the cache and in `out`.
        DumbbellError
            The first run that failed. But a run that its congestion control algorithm crashed, or
            whose file cannot be used and is not in every cell, is in the result's `failed`; the
            others go on.
        """
        if not self.has_all_runs:
            check_engine(self.engine, *self.scenarios)
        self._check_places(executor, cluster, capture, out)
        directory = None if out is None else self._directory(Path(out), texts=texts)
        kept_in = as_cache(cache, self.engine)
        measuring = AllMetrics(self.plan.warmup)
        store = RunStore(measuring, kept_in, directory, capture_of_all=capture)
        handler = RunHandler(
            self.engine, kept_in, store.keep, series=directory is not None,
            measuring=lambda _: measuring, saved=store.saved, capture=store.capture,
        )  # fmt: skip
        rows = Rows(self.design)
        same = IdenticalRuns()

        def take(key: tuple[int, int], scenario: Scenario, measures: Measures) -> None:
            rows.add(key, scenario.seed, measures)
            same.add(key, measures)

        queue = Repetitions(self.scenarios, self.plan, take)
        with ExitStack() as stack:
            if directory is not None:
                store.batch = stack.enter_context(directory.batch())
            if kept_in is not None:
                stack.enter_context(kept_in.in_use())
            there = None
            if cluster is not None:
                there = stack.enter_context(connected(cluster, worker_timeout))
            runner = self._runner(handler, executor, there, jobs)
            try:
                drive(queue, runner, on_progress)
            except KeyboardInterrupt:
                if store.batch is not None:
                    store.batch.settle()
                kept = self._finish(store, rows, same, queue).runs
                raise SweepInterrupted(kept, queue.total) from None
        return self._finish(store, rows, same, queue)

    def _check_places(
        self, executor: object, cluster: object, capture: object, out: object
    ) -> None:
        if executor is not None and cluster is not None:
            raise EngineError("use either an executor or a cluster, not both")
        if self.engine == KERNEL and (executor is not None or cluster is not None):
            raise EngineError(
                "runs on the kernel need this machine; an executor or a cluster cannot be used"
            )
        if capture is None:
            return
        if executor is not None or cluster is not None:
            raise EngineError(
                "captures are written by threads of this process; omit the executor or cluster"
            )
        if out is None:
            raise ResultError("a capture needs a directory: set `out`")

    def _directory(self, path: Path, *, texts: bool = True) -> SweepDirectory:
        directory = SweepDirectory(
            path, self.design, self.plan, self.engine, provenance(), texts=texts
        )
        directory = directory.as_started()
        directory.open()
        return directory

    def _runner(
        self,
        handler: RunHandler[tuple[int, int], Measures],
        executor: Executor | None,
        cluster: Cluster | None,
        jobs: int | None,
    ) -> Runner[tuple[int, int], Measures]:
        if cluster is not None:
            return ClusterRunner(handler, cluster, jobs)
        if executor is not None:
            return RemoteRunner(handler, executor, jobs)
        return LocalRunner(handler, jobs or default_workers(self.engine))

    def _finish(
        self, store: RunStore, rows: Rows, same: IdenticalRuns, queue: Repetitions
    ) -> SweepResult:
        """Return the result of the finished runs, and write it."""
        table = rows.table()
        # A run that was kept but not measured is in no row.
        keys = set(zip(table["cell"].to_pylist(), table["rep"].to_pylist(), strict=True))
        runs = KeptRuns(self.design, {key: store.kept[key] for key in keys})
        if store.out is not None:
            store.out.write(len(runs), table, queue.errors)
        notes = [*same.notes(self.design), *queue.notes]
        notes += [] if store.cache is None else store.cache.notes
        return SweepResult(
            self.design, self.plan, self.engine, runs, table, provenance(), tuple(notes),
            dict(sorted(queue.errors.items())),
        )  # fmt: skip


def provenance() -> dict[str, str]:
    """Return the versions that the runs depend on."""
    return {
        "engine_version": ENGINE_VERSION,
        "engine_build": engine_build(),
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
