"""What is done with each run: find it, or execute it, measure it, and keep it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from dumbbell._core import Control
from dumbbell.base.errors import CongestionControlError, EngineError, ResultError
from dumbbell.run import Run, execute
from dumbbell.run.capture import Capture
from dumbbell.runs.cache import Cache
from dumbbell.runs.key import RunKey, run_key
from dumbbell.runs.measuring import Measures, Measuring
from dumbbell.runs.record import Record, make_record
from dumbbell.scenario import Scenario

__all__ = ["Job", "PendingRun", "RunHandler", "attempt", "perform_remotely"]

K = TypeVar("K")
R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True)
class Job:
    """What is needed to execute a run, in another process too.

    Attributes
    ----------
    scenario, engine, key
        What to run.
    series
        Whether to keep the time series.
    measuring
        What to measure of it; None for nothing.
    """

    scenario: Scenario
    engine: str
    key: RunKey
    series: bool
    measuring: Measuring | None = None

    def run(self, control: Control, capture: Capture | None = None) -> Run:
        """Run it in this thread."""
        run = execute(self.scenario, control, self.engine, capture)
        # The key may be minutes old; what ran must not be kept under another source's.
        if not self.key.sources.keys() <= run.sources.keys():
            raise CongestionControlError(
                "the source of an algorithm was changed before its run began; run it again"
            )
        return run


def attempt(work: Callable[..., T], *arguments: Any) -> T | Exception:
    """Return what a function returns, or the error that it raises."""
    try:
        return work(*arguments)
    except Exception as error:  # noqa: BLE001 -- raised where the result is wanted
        return error


def records_of(jobs: Sequence[Job], runs: Sequence[Run]) -> list[Record | Exception]:
    """Measure the runs of some jobs, alike ones together, and return what is kept of each."""
    alike: dict[str, list[int]] = {}
    for index, job in enumerate(jobs):
        if job.measuring is not None:
            alike.setdefault(job.measuring.how, []).append(index)
    measured: list[dict[str, Measures] | Exception] = [{} for _ in jobs]
    for how, indices in alike.items():
        of_each = measures_of(jobs[indices[0]].measuring, [runs[index] for index in indices])
        for index, rows in zip(indices, of_each, strict=True):
            measured[index] = rows if isinstance(rows, Exception) else {how: rows}
    return [
        rows
        if isinstance(rows, Exception)
        else make_record(run, job.key, series=job.series, measured=rows)
        for job, run, rows in zip(jobs, runs, measured, strict=True)
    ]


def measures_of(measuring: Measuring | None, runs: Sequence[Run]) -> Sequence[Measures | Exception]:
    """Measure runs; one that cannot be measured does not spoil the others."""
    if measuring is None:
        return [[] for _ in runs]
    try:
        return measuring.of(runs)
    except Exception:  # noqa: BLE001 -- of the run that it is of, below
        return [attempt(lambda run: measuring.of([run])[0], run) for run in runs]


def perform_remotely(job: Job) -> Record:
    """Run a job in a worker process that has the same engine and sources as the caller.

    Raises
    ------
    EngineError
        The worker has another build of the engine, or another source of a congestion-control
        algorithm.
    """
    here = run_key(job.scenario, job.engine)
    same = here.engine_build == job.key.engine_build
    if not same or (here.digest != job.key.digest and job.key.is_lasting):
        what = "source of an algorithm" if same else "build of dumbbell"
        raise EngineError(
            f"a worker has another {what} than this process; install the same on all of them"
        )
    if job.measuring is not None:
        job.measuring.prepare()
    [record] = records_of([job], [job.run(Control())])
    if isinstance(record, Exception):
        raise record
    return record.detached()


@dataclass
class PendingRun(Generic[K]):
    """One run that is waiting, under way or finished."""

    key: K
    scenario: Scenario
    control: Control = field(default_factory=Control)
    run_key: RunKey | None = None

    def key_of(self, engine: str) -> RunKey:
        """Return the run's content address, computed once."""
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


@dataclass
class RunHandler(Generic[K, R]):
    """Finds each run in the cache or executes it, and delivers its record.

    Attributes
    ----------
    engine
        ``simulator`` or ``kernel``.
    cache
        Where runs are found and kept; None for neither.
    deliver
        Called with each finished run; returns its result.
    series
        Whether time series are kept.
    measuring
        What is measured of the run with a key; None for nothing.
    saved
        Finds a run outside of the cache, by its key and its content address.
    capture
        What to capture of the run with a key, and where to. Such a run is never from the cache.
    """

    engine: str
    cache: Cache | None
    deliver: Callable[[PendingRun[K], Record], R]
    series: bool
    measuring: Callable[[K], Measuring | None] = lambda _: None
    saved: Callable[[K, RunKey], Record | None] = lambda *_: None
    capture: Callable[[K], Capture | None] = lambda _: None

    def find(self, case: PendingRun[K]) -> R | None:
        """Return the result of a run that was done before; None if there is none."""
        key = case.key_of(self.engine)
        record = self.saved(case.key, key)
        if record is None and self.cache is not None and self.capture(case.key) is None:
            record = self.cache.get(key, series=self.series)
        record = None if record is None else self._measured(case, record)
        if record is None:
            return None
        try:
            return self.deliver(case, record)
        except ResultError:
            if record.place is None or record.place.exists():
                raise
            return None  # removed from the cache meanwhile

    def _measured(self, case: PendingRun[K], record: Record) -> Record | None:
        """Return the record with its metrics; None if they cannot be measured."""
        measuring = self.measuring(case.key)
        if measuring is None or measuring.how in record.measured:
            return record
        if not record.has_series:
            return None
        try:
            [measured] = measuring.of([record.run(case.scenario)])
        except ResultError:
            return None  # its tables are damaged
        record = replace(record, measured={**record.measured, measuring.how: measured})
        if self.cache is not None:
            self.cache.put(record)
        return record

    def perform_all(self, cases: Sequence[PendingRun[K]]) -> list[R | Exception]:
        """Execute runs in this thread and keep them; return each one's result, or its error."""
        outcomes: list[Any] = [attempt(self._run, case) for case in cases]
        done = [at for at, each in enumerate(outcomes) if not isinstance(each, Exception)]
        records = records_of(*([outcomes[at][part] for at in done] for part in (0, 1)))
        if self.cache is not None:
            self.cache.put(*(each for each in records if isinstance(each, Record)))
        for at, record in zip(done, records, strict=True):
            is_record = isinstance(record, Record)
            outcomes[at] = attempt(self.deliver, cases[at], record) if is_record else record
        return outcomes

    def _run(self, case: PendingRun[K]) -> tuple[Job, Run]:
        job = self.job(case)
        return job, job.run(case.control, self.capture(case.key))

    def job(self, case: PendingRun[K]) -> Job:
        """Return what another process is to do."""
        key = case.key_of(self.engine)
        return Job(case.scenario, self.engine, key, self.series, self.measuring(case.key))

    def take(self, case: PendingRun[K], record: Record) -> R:
        """Keep a run that was executed elsewhere, and return its result."""
        if self.cache is not None:
            self.cache.put(record)
        return self.deliver(case, record)
