"""Where runs are executed: threads of this process, or any `concurrent.futures.Executor`."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from dumbbell._core import Control
from dumbbell.errors import Cancelled, CongestionControlError, EngineError
from dumbbell.run import execute
from dumbbell.run.capture import Capture
from dumbbell.run.run import POLL_S
from dumbbell.runs.key import RunKey, run_key
from dumbbell.runs.measures import measure_run, measured_as
from dumbbell.runs.progress import Progress
from dumbbell.runs.record import Record, make_record
from dumbbell.scenario import Scenario

__all__ = [
    "Case",
    "Job",
    "LocalRunner",
    "RemoteRunner",
    "RunHandler",
    "RunQueue",
    "Runner",
    "drive",
]

K = TypeVar("K")
R = TypeVar("R")
#: What a queue takes.
T = TypeVar("T", contravariant=True)

#: Runs that an executor holds at a time, unless `jobs` says: enough for any machine's cores, few
#: enough that their results fit in memory.
WINDOW = 128


@dataclass(frozen=True)
class Job:
    """What a run's executor needs to know, in another process too.

    Attributes
    ----------
    scenario, engine, key
        What to run.
    series
        Whether to keep the time series.
    measures
        Whether to measure metrics.
    warmup
        What of the run's start they do not count.
    """

    scenario: Scenario
    engine: str
    key: RunKey
    series: bool
    measures: bool = True
    warmup: str | None = None

    def perform(self, control: Control, capture: Capture | None = None) -> Record:
        """Run it in this thread."""
        run = execute(self.scenario, control, self.engine, capture)
        measured = {}
        if self.measures:
            measured[measured_as(self.warmup)] = measure_run(run, self.warmup)
        return make_record(run, self.key, series=self.series, measured=measured)


def perform_elsewhere(job: Job) -> Record:
    """Run a job in a worker process, if that has the engine that was asked for.

    Raises
    ------
    EngineError
        The worker has another build of the engine, or another text of a congestion control.
    """
    here = run_key(job.scenario, job.engine)
    same = here.engine_build == job.key.engine_build
    if not same or (here.digest != job.key.digest and job.key.is_lasting):
        what = "source of a congestion control" if same else "build of dumbbell"
        raise EngineError(
            f"a worker has another {what} than this process; install the same on all of them"
        )
    return job.perform(Control())


@dataclass
class Case(Generic[K]):
    """One run: waiting, under way or done."""

    key: K
    scenario: Scenario
    control: Control = field(default_factory=Control)
    run_key: RunKey | None = None

    def key_of(self, engine: str) -> RunKey:
        """Return what it is a run of; worked out once."""
        if self.run_key is None:
            self.run_key = run_key(self.scenario, engine)
        return self.run_key

    @property
    def time_s(self) -> float:
        """Seconds of the scenario's time."""
        return self.scenario.time.seconds

    def simulated_s(self) -> float:
        """Seconds of the scenario's time that have passed."""
        return self.control.progress() * self.time_s


class RunQueue(Protocol[K, T]):
    """What is to run; it may grow by what was found."""

    total: int
    total_s: float

    def next(self) -> Case[K] | None:
        """Return the next run; None when there is none, or none until others finish."""

    def finished(self, case: Case[K], result: T) -> None:
        """Take what became of a run."""

    def failed(self, case: Case[K], error: CongestionControlError) -> bool:
        """Take that a congestion control ended its run; False stops the others too."""


class RunHandler(ABC, Generic[K, R]):
    """What is done about each run."""

    @abstractmethod
    def find(self, case: Case[K]) -> R | None:
        """Return the result of a run that was done before."""

    @abstractmethod
    def perform(self, case: Case[K]) -> R:
        """Do a run in this thread, keep it, and return its result."""

    @abstractmethod
    def job(self, case: Case[K]) -> Job:
        """Return what another process is to do."""

    @abstractmethod
    def take(self, case: Case[K], record: Record) -> R:
        """Keep what another process did, and return its result."""


class Runner(ABC, Generic[K, R]):
    """Where runs are executed.

    Attributes
    ----------
    window
        How many are handed out at a time.
    found
        How many had been done before.
    """

    window: int
    found: int = 0

    @abstractmethod
    def submit(self, case: Case[K]) -> Future[Any]:
        """Hand out a run."""

    @abstractmethod
    def result(self, case: Case[K], future: Future[Any]) -> R:
        """Return what became of a run that is done; raise its error."""

    def close(self) -> None:
        """Let go of what is needed for the next run; all that were handed out are done."""

    @abstractmethod
    def stop(self, waiting: dict[Future[Any], Case[K]]) -> None:
        """Stop what is under way."""


class LocalRunner(Runner[K, R]):
    """Threads of this process; the engine lets other threads run meanwhile.

    Parameters
    ----------
    handler
        What is done about each run, in its thread.
    jobs
        Threads.
    """

    def __init__(self, handler: RunHandler[K, R], jobs: int) -> None:
        self.handler = handler
        self.window = 2 * jobs
        self.pool = ThreadPoolExecutor(max_workers=jobs)
        self.stopped = threading.Event()

    def submit(self, case: Case[K]) -> Future[Any]:
        """Hand out a run."""
        return self.pool.submit(self._do, case)

    def _do(self, case: Case[K]) -> tuple[R, bool]:
        if self.stopped.is_set():
            raise Cancelled("the sweep was stopped")
        found = self.handler.find(case)
        return (self.handler.perform(case), False) if found is None else (found, True)

    def result(self, case: Case[K], future: Future[Any]) -> R:  # noqa: ARG002 (the remote runner's)
        """Return what became of a run."""
        result: R
        result, was_found = future.result()
        self.found += was_found
        return result

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown()

    def stop(self, waiting: dict[Future[Any], Case[K]]) -> None:
        """Stop what is under way, within a second."""
        self.stopped.set()
        for case in waiting.values():
            case.control.cancel()
        self.pool.shutdown(cancel_futures=True)


class RemoteRunner(Runner[K, R]):
    """An executor of the user's: processes, or machines.

    What was done before is looked for here, and what comes back is kept here, in the caller's
    thread: workers need no disk in common.

    Parameters
    ----------
    handler
        What is done about each run.
    executor
        Left as it is in the end.
    window
        How many runs it holds at a time.
    lost
        What the executor raises of a run that it cannot get done, beside what they all do.
    """

    def __init__(
        self,
        handler: RunHandler[K, R],
        executor: Executor,
        window: int | None = None,
        lost: tuple[type[Exception], ...] = (),
    ) -> None:
        self.handler = handler
        self.executor = executor
        self.window = window or WINDOW
        self.lost: tuple[type[Exception], ...] = (BrokenExecutor, CancelledError, *lost)
        self.results: dict[Future[Any], R] = {}

    def submit(self, case: Case[K]) -> Future[Any]:
        """Hand out a run, unless it was done before."""
        found = self.handler.find(case)
        if found is None:
            try:
                return self.executor.submit(perform_elsewhere, self.handler.job(case))
            except self.lost as error:
                raise lost_run(error) from None
        self.found += 1
        done: Future[Any] = Future()
        done.set_result(None)
        self.results[done] = found
        return done

    def result(self, case: Case[K], future: Future[Any]) -> R:
        """Return what became of a run."""
        if future in self.results:
            return self.results.pop(future)
        try:
            record = future.result()
        except self.lost as error:
            raise lost_run(error) from None
        return self.handler.take(case, record)

    def stop(self, waiting: dict[Future[Any], Case[K]]) -> None:
        """Take back what has not begun; what is under way ends by itself."""
        for future in waiting:
            future.cancel()


def lost_run(error: Exception) -> EngineError:
    """Say that a run was lost, in a line."""
    said = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
    return EngineError(
        f"a run was lost with its worker: {said}; what is finished is kept: say it again"
    )


def drive(
    queue: RunQueue[K, R],
    runner: Runner[K, R],
    on_progress: Callable[[Progress], None] | None = None,
) -> None:
    """Run all of a queue.

    Parameters
    ----------
    queue
        What to run, and who takes the results.
    runner
        Where.
    on_progress
        Called several times a second, in this thread.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C; what is under way is stopped.
    DumbbellError
        The first run that failed, unless the queue goes on without it; the others are stopped.
    """
    waiting: dict[Future[Any], Case[K]] = {}
    finished, finished_s = 0, 0.0
    try:
        for done in rounds(queue, runner, waiting):
            for future in done:
                case = waiting.pop(future)
                conclude(queue, runner, case, future)
                finished, finished_s = finished + 1, finished_s + case.time_s
            if on_progress is not None:
                simulated_s = finished_s + sum(case.simulated_s() for case in waiting.values())
                on_progress(
                    Progress(finished, queue.total, simulated_s, queue.total_s, runner.found)
                )
    except BaseException:
        runner.stop(waiting)
        for future, case in waiting.items():
            # What ended meanwhile is kept already, and counts.
            if future.done() and not future.cancelled() and future.exception() is None:
                conclude(queue, runner, case, future)
        raise
    runner.close()


def conclude(
    queue: RunQueue[K, R], runner: Runner[K, R], case: Case[K], future: Future[Any]
) -> None:
    """Tell a queue what became of a run."""
    try:
        result = runner.result(case, future)
    except CongestionControlError as error:
        if not queue.failed(case, error):
            raise
    else:
        queue.finished(case, result)


def rounds(
    queue: RunQueue[K, R], runner: Runner[K, R], waiting: dict[Future[Any], Case[K]]
) -> Iterator[set[Future[Any]]]:
    """Hand out runs as long as there are any; yield those that are done, a few times a second."""
    while True:
        while len(waiting) < runner.window and (case := queue.next()) is not None:
            waiting[runner.submit(case)] = case
        if not waiting:
            return
        done, _ = wait(waiting, timeout=POLL_S, return_when=FIRST_COMPLETED)
        yield done
