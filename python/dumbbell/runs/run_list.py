"""Many runs that are listed one by one: `run_all`, and `measure_all` for their metrics alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Executor
from contextlib import nullcontext
from typing import Generic, TypeVar, Unpack

from dumbbell.base.errors import DumbbellError, EngineError, ScenarioError
from dumbbell.run import Run
from dumbbell.run.capture import Capture
from dumbbell.run.engine import SIMULATOR, check_engine, default_workers
from dumbbell.runs.cache import Cache, as_cache
from dumbbell.runs.execution import Execution
from dumbbell.runs.executor import LocalRunner, RemoteRunner, Runner, drive
from dumbbell.runs.handler import PendingRun, RunHandler
from dumbbell.runs.measuring import Measures, Measuring, in_words_of
from dumbbell.runs.progress import SweepInterrupted
from dumbbell.runs.record import Record
from dumbbell.runs.run_count import check_run_count
from dumbbell.scenario import Scenario

__all__ = ["measure_all", "measure_each", "repetitions", "run_all"]

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")


def run_all(
    scenarios: Iterable[tuple[K, Scenario]],
    *,
    executor: Executor | None = None,
    on_finished: Callable[[K, Run], Run] | None = None,
    capture: Callable[[K], Capture | None] | None = None,
    **how: Unpack[Execution],
) -> dict[K, Run]:
    """Run many scenarios.

    Parameters
    ----------
    scenarios
        A key and a scenario for each run.
    executor
        Where they run instead of threads of this process: processes, or machines.
    on_finished
        Called with each run as it finishes, in its thread, to save it, for example; what it
        returns replaces the run. With an `executor`, in the caller's thread.
    capture
        What to capture of the run with a key, and where to. Such a run is never from the cache.
    how
        An `Execution`; runs are not kept unless `cache` says where.

    Returns
    -------
    dict
        The runs by their keys, in the order of `scenarios`.

    Raises
    ------
    SweepInterrupted
        Ctrl-C; the runs under way stop within a second and the finished ones are kept.
    DumbbellError
        The first run that failed; the others are stopped.
    """
    if executor is not None and capture is not None:
        raise EngineError("captures are written by threads of this process; omit `executor`")

    def deliver(case: PendingRun[K], record: Record) -> Run:
        run = record.run(case.scenario)
        return run if on_finished is None else on_finished(case.key, run)

    handler: RunHandler[K, Run] = RunHandler(
        *engine_and_cache(how), deliver, series=True, capture=capture or (lambda _: None)
    )  # fmt: skip
    return run_list(scenarios, handler, how, executor)


def measure_all(
    scenarios: Iterable[tuple[K, Scenario]],
    measuring: Callable[[K], Measuring],
    **how: Unpack[Execution],
) -> dict[K, tuple[Run, Measures]]:
    """Run many scenarios for their metrics alone.

    Parameters
    ----------
    scenarios
        A key and a scenario for each run.
    measuring
        What is measured of the run with a key: `metrics.AllMetrics`.
    how
        As `run_all` has it.

    Returns
    -------
    dict
        Each run without its time series, and its rows of metrics, in the order of `scenarios`.

    Raises
    ------
    SweepInterrupted
        Ctrl-C; the runs under way stop within a second.
    DumbbellError
        The first run that failed; the others are stopped.
    """

    def take(_: K, measures: Measures, read: Callable[[], Run]) -> tuple[Run, Measures]:
        run = read()
        # All tables together would not fit in memory.
        return Run(run.scenario, run.summary, {}), measures

    return measure_each(scenarios, measuring, take, **how)


def measure_each(
    scenarios: Iterable[tuple[K, Scenario]],
    measuring: Callable[[K], Measuring],
    take: Callable[[K, Measures, Callable[[], Run]], R],
    *,
    on_failed: Callable[[K, DumbbellError], R] | None = None,
    **how: Unpack[Execution],
) -> dict[K, R]:
    """Run many scenarios and keep of each what is taken of it and its metrics.

    Parameters
    ----------
    scenarios, measuring, how
        As `measure_all` has them.
    take
        Called with the rows of metrics of each run as it finishes, in its thread, and what reads
        the run itself, which takes longer.
    on_failed
        Called with each run that fails; returns what stands for it. Without, the first one stops
        the others.

    Returns
    -------
    dict
        What was taken, by the keys, in the order of `scenarios`.

    Raises
    ------
    SweepInterrupted
        Ctrl-C; the runs under way stop within a second.
    DumbbellError
        The first run that failed, without `on_failed`.
    """

    def deliver(case: PendingRun[K], record: Record) -> R:
        measures = in_words_of(case.scenario, record.measured[measuring(case.key).how])
        return take(case.key, measures, lambda: record.run(case.scenario))

    handler: RunHandler[K, R] = RunHandler(
        *engine_and_cache(how), deliver, series=False, measuring=measuring
    )
    return run_list(scenarios, handler, how, on_failed=on_failed)


def repetitions(
    scenarios: Iterable[tuple[K, Scenario]], count: int
) -> list[tuple[tuple[K, int], Scenario]]:
    """Return every repetition with its seed: all first ones, then all second ones.

    The repetitions of one scenario are far apart, so that on the kernel none of them share an hour.

    Raises
    ------
    ScenarioError
        They make too many runs.
    """
    listed = list(scenarios)
    seed = max((scenario.seed for _, scenario in listed), default=0)
    check_run_count(len(listed), count, seed=seed)
    return [
        ((key, rep), scenario.replace(seed=scenario.seed + rep))
        for rep in range(count)
        for key, scenario in listed
    ]


def engine_and_cache(how: Execution) -> tuple[str, Cache | None]:
    """Return the engine, and where its runs are kept."""
    engine = how.get("engine", SIMULATOR)
    return engine, as_cache(how.get("cache", False), engine)


def run_list(
    scenarios: Iterable[tuple[K, Scenario]],
    handler: RunHandler[K, R],
    how: Execution,
    executor: Executor | None = None,
    on_failed: Callable[[K, DumbbellError], R] | None = None,
) -> dict[K, R]:
    """Run a list of scenarios and return the results by their keys."""
    queue: RunList[K, R] = RunList(list(scenarios), on_failed)
    check_engine(handler.engine, *(scenario for _, scenario in queue.scenarios))
    jobs = how.get("jobs")
    runner: Runner[K, R]
    if executor is None:
        runner = LocalRunner(handler, jobs or default_workers(handler.engine))
    else:
        runner = RemoteRunner(handler, executor, jobs)
    try:
        with nullcontext() if handler.cache is None else handler.cache.in_use():
            drive(queue, runner, how.get("on_progress"))
    except KeyboardInterrupt:
        raise SweepInterrupted(queue.in_order(), queue.total) from None
    return queue.in_order()


class RunList(Generic[K, R]):
    """Scenarios in order, and the results of their runs."""

    def __init__(
        self,
        scenarios: list[tuple[K, Scenario]],
        on_failed: Callable[[K, DumbbellError], R] | None = None,
    ) -> None:
        self.scenarios = scenarios
        self.on_failed = on_failed
        self.total = len(scenarios)
        self.total_s = sum(scenario.time.seconds for _, scenario in scenarios)
        self.waiting = iter(scenarios)
        self.results: dict[K, R] = {}

    def next(self) -> PendingRun[K] | None:
        """Return the next run."""
        following = next(self.waiting, None)
        return None if following is None else PendingRun(*following)

    def finished(self, case: PendingRun[K], result: R) -> None:
        """Take the result of a run."""
        self.results[case.key] = result

    def failed(self, case: PendingRun[K], error: EngineError | ScenarioError) -> bool:
        """Stop if the list is of use only if every run succeeds."""
        if self.on_failed is None:
            return False
        self.results[case.key] = self.on_failed(case.key, error)
        return True

    def in_order(self) -> dict[K, R]:
        """Return the results there are, in the order of the list."""
        return {key: self.results[key] for key, _ in self.scenarios if key in self.results}
