"""Where runs are executed: threads of this process, or any `concurrent.futures.Executor`."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from typing import Any, Generic, Protocol, TypeVar

from dumbbell.base.errors import Cancelled, EngineError, ScenarioError
from dumbbell.run.engine import SIMULATOR
from dumbbell.run.execution import POLL_S
from dumbbell.runs.handler import PendingRun, RunHandler, attempt, perform_remotely
from dumbbell.runs.progress import Progress

__all__ = ["LocalRunner", "RemoteRunner", "RunQueue", "Runner", "drive", "lost_run"]

K = TypeVar("K")
R = TypeVar("R")
#: What a queue takes.
T = TypeVar("T", contravariant=True)

#: Runs that an executor holds at a time by default: enough for any machine's cores, few enough
#: that their results fit in memory.
WINDOW = 128


#: The most runs that a thread executes before it measures them all.
MAX_BATCH = 16
#: Bits that links may carry, and rows of samples, that make a batch: some 10 ms, 2 MB.
BATCH_BITS, BATCH_ROWS = 1e9, 20_000


def part_of_batch(case: PendingRun[K]) -> float:
    """Return how much of a batch a run is."""
    scenario = case.scenario
    bits = sum(int(link.rate) for link in scenario.links) * case.time_s
    rows = scenario.flow_count * int(scenario.time) / (int(scenario.sample) or int(scenario.time))
    return max(bits / BATCH_BITS, rows / BATCH_ROWS)


class RunQueue(Protocol[K, T]):
    """The runs still to be done; a result may add more."""

    total: int
    total_s: float

    def next(self) -> PendingRun[K] | None:
        """Return the next run; None if none is left, or none can start before others finish."""

    def finished(self, case: PendingRun[K], result: T) -> None:
        """Take the result of a run."""

    def failed(self, case: PendingRun[K], error: EngineError | ScenarioError) -> bool:
        """Note that a run failed; False stops the others too."""


class Runner(ABC, Generic[K, R]):
    """Where runs are executed.

    Attributes
    ----------
    window
        How many are submitted at a time.
    found
        How many results were found and not executed again.
    """

    window: int
    found: int = 0

    @abstractmethod
    def submit(self, case: PendingRun[K]) -> Future[Any]:
        """Submit a run."""

    @abstractmethod
    def result(self, case: PendingRun[K], future: Future[Any]) -> R:
        """Return the result of a finished run, or raise its error."""

    def waits_for(self) -> str:
        """Return what all runs wait for; an empty string if they make progress."""
        return ""

    def close(self) -> None:
        """Free the runner's own resources; all runs are finished."""

    @abstractmethod
    def stop(self, waiting: dict[Future[Any], PendingRun[K]]) -> None:
        """Stop the runs under way."""


class LocalRunner(Runner[K, R]):
    """Threads of this process; the engine lets other threads run meanwhile.

    A thread takes several short runs at a time, as far as there are enough for all threads.

    Parameters
    ----------
    handler
        Finds or executes each run, in its thread.
    jobs
        Threads.
    """

    def __init__(self, handler: RunHandler[K, R], jobs: int) -> None:
        self.handler, self.jobs = handler, jobs
        self.window = 2 * jobs * MAX_BATCH
        self.pool = ThreadPoolExecutor(max_workers=jobs)
        self.stopped = threading.Event()
        self.lock, self.working = threading.Lock(), 0
        self.waiting: deque[tuple[PendingRun[K], Future[Any]]] = deque()

    def submit(self, case: PendingRun[K]) -> Future[Any]:
        """Submit a run."""
        future: Future[Any] = Future()
        with self.lock:
            self.waiting.append((case, future))
            is_needed = self.working < self.jobs
            self.working += is_needed
        if is_needed:
            self.pool.submit(self._work)
        return future

    def _work(self) -> None:
        while batch := self._next_batch():
            try:
                self._do(batch)
            except BaseException as error:  # noqa: BLE001 -- raised where the results are wanted
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)

    def _next_batch(self) -> list[tuple[PendingRun[K], Future[Any]]]:
        """Take the next runs; none are left for this thread if it returns none."""
        batch: list[tuple[PendingRun[K], Future[Any]]] = []
        part = 0.0
        with self.lock:
            most = min(MAX_BATCH, -(-len(self.waiting) // self.jobs))
            while len(batch) < most and part < 1:
                batch.append(self.waiting.popleft())
                part += 1.0 if self.handler.engine != SIMULATOR else part_of_batch(batch[-1][0])
            self.working -= not batch
        return batch

    def _do(self, batch: Sequence[tuple[PendingRun[K], Future[Any]]]) -> None:
        if self.stopped.is_set():
            raise Cancelled("the sweep was stopped")
        found = [attempt(self.handler.find, case) for case, _ in batch]
        new = [case for (case, _), each in zip(batch, found, strict=True) if each is None]
        performed = iter(self.handler.perform_all(new))
        for (_, future), each in zip(batch, found, strict=True):
            outcome = next(performed) if each is None else each
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result((outcome, each is not None))

    def result(self, case: PendingRun[K], future: Future[Any]) -> R:  # noqa: ARG002 (the remote runner's)
        """Return the result of a finished run, or raise its error."""
        result: R
        result, was_found = future.result()
        self.found += was_found
        return result

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown()

    def stop(self, waiting: dict[Future[Any], PendingRun[K]]) -> None:
        """Stop the runs under way, within a second."""
        self.stopped.set()
        for case in waiting.values():
            case.control.cancel()
        self.pool.shutdown(cancel_futures=True)


class RemoteRunner(Runner[K, R]):
    """The user's executor: processes, or machines.

    The cache is read and written here, in the caller's thread: workers need not share a disk.

    Parameters
    ----------
    handler
        Finds each run, or takes its record.
    executor
        Not shut down.
    window
        How many runs it holds at a time.
    lost
        Further exceptions by which the executor reports that a run was lost.
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

    def submit(self, case: PendingRun[K]) -> Future[Any]:
        """Submit a run, unless it was done before."""
        found = self.handler.find(case)
        if found is None:
            try:
                return self.executor.submit(perform_remotely, self.handler.job(case))
            except self.lost as error:
                raise lost_run(error) from None
        self.found += 1
        done: Future[Any] = Future()
        done.set_result(None)
        self.results[done] = found
        return done

    def result(self, case: PendingRun[K], future: Future[Any]) -> R:
        """Return the result of a finished run, or raise its error."""
        if future in self.results:
            return self.results.pop(future)
        try:
            record = future.result()
        except self.lost as error:
            raise lost_run(error) from None
        return self.handler.take(case, record)

    def stop(self, waiting: dict[Future[Any], PendingRun[K]]) -> None:
        """Cancel the runs that have not started; those under way end by themselves."""
        for future in waiting:
            future.cancel()


def lost_run(error: Exception) -> EngineError:
    """Return the error for a run that was lost with its worker."""
    said = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
    if isinstance(error, CancelledError):
        said = "it was cancelled, as by a cluster whose scheduler ended"
    return EngineError(
        f"a run was lost with its worker: {said}; finished runs are kept: run the command again"
    )


def drive(
    queue: RunQueue[K, R],
    runner: Runner[K, R],
    on_progress: Callable[[Progress], None] | None = None,
) -> None:
    """Run everything in a queue.

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
        Ctrl-C; the runs under way are stopped.
    DumbbellError
        The error of the first failed run that the queue does not tolerate; the others are stopped.
    """
    waiting: dict[Future[Any], PendingRun[K]] = {}
    finished, finished_s = 0, 0.0
    try:
        for done in rounds(queue, runner, waiting):
            for future in done:
                case = waiting.pop(future)
                conclude(queue, runner, case, future)
                finished, finished_s = finished + 1, finished_s + case.time_s
            waits_for = "" if done else runner.waits_for()
            if on_progress is not None:
                simulated_s = finished_s + sum(case.simulated_s() for case in waiting.values())
                on_progress(
                    Progress(
                        finished, queue.total, simulated_s, queue.total_s, runner.found, waits_for
                    )
                )
    except BaseException:
        runner.stop(waiting)
        for future, case in waiting.items():
            # Runs that finished meanwhile are kept already, and count.
            if future.done() and not future.cancelled() and future.exception() is None:
                conclude(queue, runner, case, future)
        raise
    runner.close()


def conclude(
    queue: RunQueue[K, R], runner: Runner[K, R], case: PendingRun[K], future: Future[Any]
) -> None:
    """Give a queue the result of a run, or its failure."""
    try:
        result = runner.result(case, future)
    except (EngineError, ScenarioError) as error:
        if not queue.failed(case, error):
            raise
    else:
        queue.finished(case, result)


def rounds(
    queue: RunQueue[K, R], runner: Runner[K, R], waiting: dict[Future[Any], PendingRun[K]]
) -> Iterator[set[Future[Any]]]:
    """Submit runs as long as there are any; yield the finished ones, a few times a second."""
    while True:
        while len(waiting) < runner.window and (case := queue.next()) is not None:
            waiting[runner.submit(case)] = case
        if not waiting:
            return
        done, _ = wait(waiting, timeout=POLL_S, return_when=FIRST_COMPLETED)
        yield done
