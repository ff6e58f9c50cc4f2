"""Many runs that are listed one by one: `run_all`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from dumbbell.errors import CongestionControlError, EngineError
from dumbbell.run import Run, execute
from dumbbell.run.capture import Capture
from dumbbell.run.directory import ParquetBytes
from dumbbell.run.engine import SIMULATOR, check_engine, default_workers
from dumbbell.runs.cache import Cache, as_cache
from dumbbell.runs.executor import Case, Job, LocalRunner, RemoteRunner, RunHandler, Runner, drive
from dumbbell.runs.progress import Progress, SweepInterrupted
from dumbbell.runs.record import Record, make_record
from dumbbell.scenario import Scenario

__all__ = ["run_all"]

K = TypeVar("K", bound=Hashable)


def run_all(
    scenarios: Iterable[tuple[K, Scenario]],
    *,
    engine: str = SIMULATOR,
    workers: int | None = None,
    executor: Executor | None = None,
    cache: Cache | str | Path | bool | None = False,
    on_progress: Callable[[Progress], None] | None = None,
    on_finished: Callable[[K, Run], Run] | None = None,
    capture: Callable[[K], Capture | None] | None = None,
) -> dict[K, Run]:
    """Run many scenarios.

    Parameters
    ----------
    scenarios
        A key and a scenario for each run.
    engine
        What runs them: ``simulator`` or ``kernel``.
    workers
        How many at a time. The simulator takes the machine's cores by default, and it does not
        change any result. The kernel engine takes 1: runs at the same time share the cores.
    executor
        Where they run instead of threads of this process: processes, or machines.
    cache
        Where runs, with their time series, are found again and kept: a `Cache`, a directory, or
        True for the user's; None for the user's with the simulator alone.
    on_progress
        Called several times a second, in the caller's thread.
    on_finished
        Called with each run as it finishes, in its thread, to save it, for example; what it
        returns is kept in its place. With an `executor`, in the caller's thread.
    capture
        What to capture of the run with a key, and where to. Such a run is never from the cache.

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
    listed = list(scenarios)
    check_engine(engine, *(scenario for _, scenario in listed))
    queue = RunList(listed)
    handler = RunWork(engine, as_cache(cache, engine), on_finished, capture)
    runner: Runner[K, Run]
    if executor is None:
        runner = LocalRunner(handler, workers or default_workers(engine))
    else:
        if capture is not None:
            raise EngineError("captures are written by threads of this process; say no `executor`")
        runner = RemoteRunner(handler, executor, workers)
    try:
        drive(queue, runner, on_progress)
    except KeyboardInterrupt:
        raise SweepInterrupted(queue.in_order(), queue.total) from None
    return queue.in_order()


class RunList(Generic[K]):
    """Scenarios one after the other, and the runs they became."""

    def __init__(self, scenarios: list[tuple[K, Scenario]]) -> None:
        self.scenarios = scenarios
        self.total = len(scenarios)
        self.total_s = sum(scenario.time.seconds for _, scenario in scenarios)
        self.waiting = iter(scenarios)
        self.runs: dict[K, Run] = {}

    def next(self) -> Case[K] | None:
        """Return the next run."""
        following = next(self.waiting, None)
        return None if following is None else Case(*following)

    def finished(self, case: Case[K], result: Run) -> None:
        """Take a run."""
        self.runs[case.key] = result

    def failed(self, case: Case[K], error: CongestionControlError) -> bool:  # noqa: ARG002
        """Stop: what the list is for needs all of its runs."""
        return False

    def in_order(self) -> dict[K, Run]:
        """Return the runs that finished, in the order of the list."""
        return {key: self.runs[key] for key, _ in self.scenarios if key in self.runs}


@dataclass
class RunWork(RunHandler[K, Run]):
    """A run is done with its time series, and handed over."""

    engine: str
    cache: Cache | None
    on_finished: Callable[[K, Run], Run] | None
    capture: Callable[[K], Capture | None] | None

    def find(self, case: Case[K]) -> Run | None:
        """Look in the cache."""
        if self.cache is None or self._capture_of(case) is not None:
            return None
        record = self.cache.get(case.key_of(self.engine), series=True)
        return None if record is None else self._hand_over(case, record.run(case.scenario))

    def perform(self, case: Case[K]) -> Run:
        """Do the run here."""
        run = execute(case.scenario, case.control, self.engine, self._capture_of(case))
        if self.cache is not None:
            record = make_record(run, case.key_of(self.engine), series=True)
            self.cache.put(record)
            # Saving it elsewhere too shall not encode its tables again.
            run.tables = ParquetBytes(record.tables)
        return self._hand_over(case, run)

    def job(self, case: Case[K]) -> Job:
        """Return what another process is to do."""
        key = case.key_of(self.engine)
        return Job(case.scenario, self.engine, key, series=True, measures=False)

    def take(self, case: Case[K], record: Record) -> Run:
        """Keep what another process did."""
        if self.cache is not None:
            self.cache.put(record)
        return self._hand_over(case, record.run(case.scenario))

    def _capture_of(self, case: Case[K]) -> Capture | None:
        return None if self.capture is None else self.capture(case.key)

    def _hand_over(self, case: Case[K], run: Run) -> Run:
        return run if self.on_finished is None else self.on_finished(case.key, run)
