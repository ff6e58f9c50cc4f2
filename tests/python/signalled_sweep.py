"""A command that sends itself a signal as soon as so many runs of its sweep are saved.

``signalled_sweep.py SIGNAL RUNS COMMAND…``. No clock says when, so neither the engine nor the
machine can be too fast or too slow.
"""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

from dumbbell.base import writing
from dumbbell.base.writing import Batch
from dumbbell.cli import main
from dumbbell.runs.record import Record
from dumbbell.sweeps.sweep_directory import SweepDirectory

NUMBER, RUNS = int(sys.argv[1]), int(sys.argv[2])
put, write_run = writing.put, SweepDirectory.write_run
saved: list[Path] = []


def put_and_signal(new: Path, place: Path, older: Path) -> None:
    """Put a file or directory in place, and send the signal if it was the last run to wait for."""
    put(new, place, older)
    if place.parent.name == "runs":
        saved.append(place)  # the batch puts them in place one after the other
        if len(saved) == RUNS:
            signal.pthread_kill(threading.main_thread().ident or 0, NUMBER)


def write_and_settle(
    self: SweepDirectory,
    batch: Batch,
    key: tuple[int, int],
    record: Record,
    capture: Path | None = None,
) -> None:
    """Write a run, and put it in place at once: not after a second."""
    write_run(self, batch, key, record, capture)
    batch.settle()


writing.put = put_and_signal
SweepDirectory.write_run = write_and_settle  # type: ignore[method-assign]
sys.argv = ["dumbbell", *sys.argv[3:]]
main()
