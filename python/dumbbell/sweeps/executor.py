"""Many runs: simulated on all cores at once, on the kernel one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from dumbbell.capture import Capture
from dumbbell.engine import SIMULATOR, check_engine, default_workers
from dumbbell.errors import Cancelled
from dumbbell.run import POLL_S, Control, Run, execute
from dumbbell.scenario import Scenario

__all__ = ["Progress", "SweepInterrupted", "run_all"]

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes
    ----------
    finished, total
        Runs.
    simulated_s, total_s
        Seconds of the scenarios' time of all runs together, which a time left is told from.
    """

    finished: int
    total: int
    simulated_s: float
    total_s: float


class SweepInterrupted(KeyboardInterrupt, Generic[K]):
    """Ctrl-C stopped the sweep.

    Attributes
    ----------
    finished
        The runs that had finished.
    total
        How many there were to be.
    """

    def __init__(self, finished: dict[K, Run], total: int) -> None:
        super().__init__(f"{len(finished)} of {total} runs finished")
        self.finished = finished
        self.total = total


@dataclass
class Case(Generic[K]):
    """One run of a sweep: waiting, under way or done."""

    key: K
    scenario: Scenario
    control: Control = field(default_factory=Control)

    def simulated_s(self) -> float:
        """Seconds of the scenario's time that have passed."""
        return self.control.progress() * self.scenario.time.seconds


def run_all(
    scenarios: Iterable[tuple[K, Scenario]],
    *,
    engine: str = SIMULATOR,
    workers: int | None = None,
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
    on_progress
        Called several times a second, in the caller's thread.
    on_finished
        Called with each run as it finishes, in its thread, to save it, for example; what it
        returns is kept in its place.
    capture
        What to capture of the run with a key, and where to.

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
    cases = [Case(key, scenario) for key, scenario in scenarios]
    check_engine(engine, *(case.scenario for case in cases))
    stop = threading.Event()

    def work(case: Case[K]) -> Run:
        if stop.is_set():
            raise Cancelled("the sweep was stopped")
        captured = None if capture is None else capture(case.key)
        run = execute(case.scenario, case.control, engine, captured)
        return run if on_finished is None else on_finished(case.key, run)

    pool = ThreadPoolExecutor(max_workers=workers or default_workers(engine))
    futures = {pool.submit(work, case): case for case in cases}
    try:
        follow(futures, on_progress)
    except BaseException as error:
        stop.set()
        for case in cases:
            case.control.cancel()
        pool.shutdown(cancel_futures=True)
        if isinstance(error, KeyboardInterrupt):
            raise SweepInterrupted(finished_runs(futures), len(cases)) from None
        raise
    pool.shutdown()
    return finished_runs(futures)


def follow(
    futures: dict[Future[Run], Case[K]], on_progress: Callable[[Progress], None] | None
) -> None:
    """Wait for all runs, report on them, and raise the first one's error."""
    waiting = set(futures)
    total_s = sum(case.scenario.time.seconds for case in futures.values())
    while waiting:
        done, waiting = wait(waiting, timeout=POLL_S, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
        if on_progress is not None:
            finished = len(futures) - len(waiting)
            simulated_s = sum(
                case.simulated_s() if future in waiting else case.scenario.time.seconds
                for future, case in futures.items()
            )
            on_progress(Progress(finished, len(futures), simulated_s, total_s))


def finished_runs(futures: dict[Future[Run], Case[K]]) -> dict[K, Run]:
    """Return the runs that finished, in order."""
    return {
        case.key: future.result()
        for future, case in futures.items()
        if future.done() and not future.cancelled() and future.exception() is None
    }
