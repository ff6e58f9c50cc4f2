"""Captures of simulated paths, measured as the one that is fitted is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from dumbbell.capture_analysis import Analysis, analyze
from dumbbell.fit.connection_series import INTERVAL, ConnectionSeries
from dumbbell.fit.evidence import Evidence
from dumbbell.fit.link_rate import link_rate_bps, trains
from dumbbell.fit.path import PathModel
from dumbbell.fit.rate_changes import rate_changes
from dumbbell.run import Run, run
from dumbbell.run.capture import Capture

__all__ = ["PathSimulator", "Simulated", "evidence_of"]

#: The capture point at the sender of the first group.
POINT = "sender-0"


@dataclass(frozen=True, eq=False)
class Simulated:
    """A run on a path, and what its capture says."""

    path: PathModel
    run: Run
    evidence: Evidence


def evidence_of(analysis: Analysis, connection: int, most_s: float | None = None) -> Evidence:
    """Measure a connection whose segments were kept, or the beginning of it."""
    series = ConnectionSeries.of(analysis, connection)
    if most_s is not None:
        series = series.until(most_s)
    time_s, rates = trains(analysis.segments_of(connection), series)
    changes = rate_changes(time_s, rates, series)
    return Evidence.of(series, link_rate_bps(rates, series), changes)


@dataclass(frozen=True)
class PathSimulator:
    """Simulates paths.

    Attributes
    ----------
    cc
        The sender's algorithm.
    time_s
        Of each run.
    mss_bytes
        The sender's.
    jobs
        Runs at a time.
    """

    cc: str
    time_s: float
    mss_bytes: int | None
    jobs: int

    def simulate(self, path: PathModel, seed: int, cc: str) -> Simulated | None:
        """Run a path once; None if nothing of it can be measured, as without a connection."""
        asked = path.scenario(cc, time_s=self.time_s, seed=seed, mss_bytes=self.mss_bytes)
        with TemporaryDirectory(prefix="dumbbell-fit-") as place:
            file = Path(place, "capture.pcapng")
            ran = run(asked, capture=Capture(file, points=["sender"]))
            analysis = analyze(file, interval=INTERVAL, points=[POINT], segments=[0])
        if not analysis.connection_count or not analysis.row_of(0)["payload_bytes"]:
            return None
        seen = evidence_of(analysis, 0)
        return Simulated(path, ran, seen) if seen.series.rtt_s.size else None

    def simulate_all(
        self,
        asked: Sequence[tuple[PathModel, int, str]],
        on_progress: Callable[[float], None] | None = None,
    ) -> list[Simulated | None]:
        """Run paths, each with its seed and algorithm."""
        found: list[Simulated | None] = []
        with ThreadPoolExecutor(self.jobs) as pool:
            for ran in pool.map(lambda each: self.simulate(*each), asked):
                found.append(ran)
                if on_progress:
                    on_progress(len(found) / len(asked))
        return found
