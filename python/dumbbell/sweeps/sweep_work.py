"""What a sweep does about each run: find it, or do it, measure it, and keep it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from dumbbell.errors import ResultError
from dumbbell.run.capture import Capture, capture_beside
from dumbbell.runs import record_directory
from dumbbell.runs.cache import Cache
from dumbbell.runs.executor import Case, Job, RunHandler
from dumbbell.runs.key import RunKey
from dumbbell.runs.measures import Measures, in_words_of, measure_run, measured_as
from dumbbell.runs.record import Record
from dumbbell.sweeps.kept_runs import KeptRun, pack
from dumbbell.sweeps.sweep_directory import SweepDirectory

__all__ = ["SweepWork"]

Key = tuple[int, int]


@dataclass
class SweepWork(RunHandler[Key, Measures]):
    """The work of one sweep.

    Attributes
    ----------
    engine
        What runs it.
    warmup
        What no metric counts.
    cache
        Where runs are found and kept; None for neither.
    out
        Where the sweep is written, time series too; None for nowhere.
    capture
        What to capture of every run, into its directory.
    kept
        Where each finished run is.
    """

    engine: str
    warmup: str | None
    cache: Cache | None
    out: SweepDirectory | None
    capture: Capture | None = None
    kept: dict[Key, KeptRun] = field(default_factory=dict)

    @property
    def series(self) -> bool:
        """Whether time series are kept: they take longer to write than the run itself."""
        return self.out is not None

    def find(self, case: Case[Key]) -> Measures | None:
        """Look where the sweep is written, then in the cache."""
        key = case.key_of(self.engine)
        if self.out is not None:
            record = saved(self.out.place(*case.key), key)
            if record is not None and self._has_capture(case):
                return self._take_found(case, record)
        if self.cache is None or self.capture is not None:
            return None
        record = self.cache.get(key, series=self.series)
        return None if record is None else self._take_found(case, record)

    def _has_capture(self, case: Case[Key]) -> bool:
        """Whether a run that is there has what it is to have captured."""
        if self.capture is None or self.out is None:
            return True
        return (self.out.place(*case.key) / self.capture.path.name).is_file()

    def _take_found(self, case: Case[Key], record: Record) -> Measures | None:
        """Take a run that was done before; None if what is asked of it cannot be measured."""
        how = measured_as(self.warmup)
        if how in record.measured:
            self._keep(case, record)
            return in_words_of(case.scenario, record.measured[how])
        if not record.has_series:
            return None
        try:
            measured = measure_run(record.run(case.scenario), self.warmup)
        except ResultError:
            return None  # its tables are damaged
        improved = replace(record, measured={**record.measured, how: measured})
        if self.cache is not None:
            self.cache.put(improved)
        self._keep(case, improved)
        return measured

    def perform(self, case: Case[Key]) -> Measures:
        """Do the run here."""
        capture = None
        if self.capture is not None and self.out is not None:
            capture = self.capture.at(capture_beside(self.out.place(*case.key)))
        return self.take(case, self.job(case).perform(case.control, capture), capture)

    def job(self, case: Case[Key]) -> Job:
        """Return what another process is to do."""
        key = case.key_of(self.engine)
        return Job(case.scenario, self.engine, key, self.series, warmup=self.warmup)

    def take(self, case: Case[Key], record: Record, capture: Capture | None = None) -> Measures:
        """Keep a run that was just done."""
        if self.cache is not None:
            self.cache.put(record)
        self._keep(case, record, capture)
        return record.measured[measured_as(self.warmup)]

    def _keep(self, case: Case[Key], record: Record, capture: Capture | None = None) -> None:
        """Write a run where the sweep is written, or remember where it is."""
        if self.out is not None:
            place = self.out.place(*case.key)
            if record.place != place:
                self.out.write_run(case.key, record, None if capture is None else capture.path)
            if capture is not None:
                capture.path.unlink(missing_ok=True)  # the directory has it now
            self.kept[case.key] = KeptRun(record.key, place)
        elif record.place is not None:
            self.kept[case.key] = KeptRun(record.key, record.place)
        elif self.cache is not None and self.cache.keeps(record.key):
            self.kept[case.key] = KeptRun(record.key, self.cache.entry(record.key))
        else:
            self.kept[case.key] = pack(record)


def saved(place: Path, key: RunKey) -> Record | None:
    """Read a run where the sweep is written; a damaged one is done again."""
    try:
        return record_directory.read(place, key)
    except ResultError:
        return None
