"""Where the finished runs of a sweep are: in its directory, in the cache, or packed in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from dumbbell.base.errors import ResultError
from dumbbell.base.writing import Batch
from dumbbell.metrics import AllMetrics
from dumbbell.run.capture import Capture, pending_capture
from dumbbell.runs import record_directory
from dumbbell.runs.cache import Cache
from dumbbell.runs.handler import PendingRun
from dumbbell.runs.key import RunKey
from dumbbell.runs.measuring import Measures, in_words_of
from dumbbell.runs.record import Record
from dumbbell.sweeps.kept_runs import KeptRun, pack
from dumbbell.sweeps.sweep_directory import SweepDirectory

__all__ = ["RunStore"]

#: A cell's index and the repetition.
Key = tuple[int, int]


@dataclass
class RunStore:
    """The finished runs of one sweep.

    Attributes
    ----------
    measuring
        What is measured of each run.
    cache
        Where runs are kept, if anywhere.
    out
        Where the sweep is written, time series too; None for nowhere.
    batch
        What puts its runs in place there.
    capture_of_all
        What to capture of every run, into its directory.
    kept
        Where each finished run is.
    """

    measuring: AllMetrics
    cache: Cache | None
    out: SweepDirectory | None
    batch: Batch | None = None
    capture_of_all: Capture | None = None
    kept: dict[Key, KeptRun] = field(default_factory=dict)

    def saved(self, key: Key, run_key: RunKey) -> Record | None:
        """Read a run from the sweep's directory; a damaged one is done again."""
        if self.out is None:
            return None
        place = self.out.place(*key)
        capture = self.capture_of_all
        if capture is not None and not (place / capture.path.name).is_file():
            return None
        try:
            return record_directory.read(place, run_key)
        except ResultError:
            return None

    def capture(self, key: Key) -> Capture | None:
        """Return what to capture of a run, and where to until the run is written."""
        if self.capture_of_all is None or self.out is None:
            return None
        return self.capture_of_all.at(pending_capture(self.out.place(*key)))

    def keep(self, case: PendingRun[Key], record: Record) -> Measures:
        """Write a run where the sweep is written, or note where it is; return its metrics."""
        if self.out is not None and self.batch is not None:
            place = self.out.place(*case.key)
            if record.place != place:
                capture = self.capture(case.key)
                path = None if capture is None else capture.path
                self.out.write_run(self.batch, case.key, record, path)
                if capture is not None:
                    capture.path.unlink(missing_ok=True)  # the directory has it now
            self.kept[case.key] = KeptRun(record.key, place)
        elif record.place is not None:
            self.kept[case.key] = KeptRun(record.key, record.place)
        elif self.cache is not None and self.cache.keeps(record.key):
            self.kept[case.key] = KeptRun(record.key, self.cache.place_of(record.key))
        else:
            self.kept[case.key] = pack(record)
        return in_words_of(case.scenario, record.measured[self.measuring.how])
