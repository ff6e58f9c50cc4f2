"""Finds the path that explains a capture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from dumbbell.base.errors import CaptureError
from dumbbell.base.quantities.printable import printable
from dumbbell.capture_analysis import Analysis, analyze
from dumbbell.capture_analysis.analyze import STDIN
from dumbbell.fit.connection_series import INTERVAL, ConnectionSeries
from dumbbell.fit.estimate import adjusted, intervals
from dumbbell.fit.evidence import Evidence
from dumbbell.fit.fitted_path import Explanation, FittedPath
from dumbbell.fit.hypotheses import hypotheses, is_shared
from dumbbell.fit.jitter import adjusted_jitter, first_jitter
from dumbbell.fit.joined import joined
from dumbbell.fit.known_flows import KnownFlow, known_flows
from dumbbell.fit.match import Candidate, weights
from dumbbell.fit.path import PathModel
from dumbbell.fit.refusal import MIN_RTTS, MIN_S, refuse
from dumbbell.fit.sender import Senders, checked_sender
from dumbbell.fit.simulated import PathSimulator, Simulated, evidence_of
from dumbbell.run.engine import SIMULATOR, default_workers

__all__ = ["fit"]

#: Connections whose packets are kept when a capture is read; for a later one it is read again.
FIRST = 8
#: Seeds of the runs of a candidate, of one with much chance in it, and of the best one in the end.
SEEDS, CHANCE_SEEDS, LAST_SEEDS = range(1, 4), range(1, 7), range(11, 19)
#: Steps towards what was seen: where a flow is alone one nearly always does.
STEPS_ALONE, STEPS_SHARED = 2, 3
#: After a second step, candidates further away than the nearest by this are dropped: e^-15.
FAR = 30.0
#: How many kinds are tried with jitter too, alone on the path and shared, and steps towards it.
JITTER_KINDS, STEPS_JITTER = {False: 2, True: 1}, 3
#: Candidates less probable than this are not reported.
LEAST_WEIGHT = 0.05
#: Of a capture that is longer, the beginning is fitted: s, and packets on the link.
MAX_S, MAX_PKTS = 60.0, 200_000
#: A scenario's least.
LEAST_MSS_BYTES = 88


def fit(
    path: str | Path | Sequence[str | Path],
    *,
    sender: str | None = None,
    connection: int | None = None,
    points: Sequence[str] | None = None,
    jobs: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> FittedPath:
    """Find the path that explains a capture, by simulating what may have been.

    Parameters
    ----------
    path
        The capture, as `analyze` takes it; made at the sender. Several of one path say more.
    sender
        Its algorithm; by default the run's own, for the capture of a run, else what `identify`
        says, else CUBIC.
    connection
        Its number in the capture; by default that with most payload.
    points
        Capture points to look at; by default all.
    jobs
        Runs at a time; by default one a core.
    on_progress
        Called with the share of the work that is done, 0 to 1.

    Returns
    -------
    FittedPath
        The path, intervals of its values, and what the capture cannot tell.

    Raises
    ------
    CaptureError
        The file cannot be read, or it shows too little of the path.
    """
    if sender is not None:
        checked_sender(sender)
    paths = [path] if isinstance(path, (str, Path)) else list(path)
    if not paths:
        raise CaptureError("no capture; name one, or several of one path")
    if len(paths) > 1 and STDIN in map(str, paths):
        raise CaptureError("`-`: a pipe cannot be joined with other captures; write it to a file")
    count = len(paths)

    def tell(done: int, share: float) -> None:
        if on_progress:
            on_progress((done + share) / count)

    return joined([
        fitted_one(each, sender, connection, points, jobs, partial(tell, done))
        for done, each in enumerate(paths)
    ])  # fmt: skip


def fitted_one(
    path: str | Path,
    sender: str | None,
    connection: int | None,
    points: Sequence[str] | None,
    jobs: int | None,
    on_progress: Callable[[float], None],
) -> FittedPath:
    """Fit a path to one capture."""
    analysis = analyze(path, interval=INTERVAL, points=points, segments=range(FIRST))
    if not analysis.connection_count:
        raise CaptureError(f"{path}: has no TCP connection")
    number = analysis.largest[0] if connection is None else connection
    senders = Senders(path, analysis, points)
    cc, how = sender, "given with `--sender`"
    if cc is None:
        cc, how = senders.of(number)
    if number >= FIRST and str(path) != STDIN:
        analysis = analyze(path, interval=INTERVAL, points=points, segments=[number])
    name = printable(str(path)) if str(path) != STDIN else "the capture"
    seen = beginning(analysis, number)
    refuse(f"{name}: connection {number}", seen)
    mss_bytes = max(seen.series.payload_bytes, LEAST_MSS_BYTES)
    simulator = PathSimulator(
        cc, seen.series.duration_s, mss_bytes, jobs or default_workers(SIMULATOR)
    )
    known = known_flows(analysis, number, senders.cc_of) if analysis.connection_count > 1 else ()
    fitted = explained(
        seen, known, simulator, on_progress, capture=name, connection=number, how=how
    )
    return replace(fitted, other_connections=analysis.connection_count - 1 - len(fitted.path.known))


def beginning(analysis: Analysis, connection: int) -> Evidence:
    """Measure a connection's beginning: all of a short one."""
    series = ConnectionSeries.of(analysis, connection)
    rate_bps = max(series.goodput_bps * series.wire_per_payload, 1.0)
    shortest_s = float(series.rtt_s.min(initial=0.0)) if series.rtt_s.size else 0.0
    enough_s = max(MIN_S, MIN_RTTS * shortest_s) + 1.0
    most_s = max(min(MAX_S, MAX_PKTS * 8 * series.wire_bytes / rate_bps), enough_s)
    return evidence_of(analysis, connection, most_s)


def explained(
    seen: Evidence,
    known: tuple[KnownFlow, ...],
    simulator: PathSimulator,
    on_progress: Callable[[float], None] | None,
    *,
    capture: str,
    connection: int,
    how: str,
) -> FittedPath:
    """Fit a path to what was seen."""
    steps = STEPS_SHARED if is_shared(seen) or known else STEPS_ALONE
    tracks = [Track(path) for path in hypotheses(seen, known)]
    going = tracks
    for step in range(steps):
        asked = [
            (track.path, seed, simulator.cc) for track in going for seed in seeds_of(track.path)
        ]
        ran = iter(simulator.simulate_all(asked))
        for track in going:
            track.take(seen, [next(ran) for _ in seeds_of(track.path)])
        nearest = min(track.distance for track in tracks)
        if step and step + 1 < steps:
            going = [track for track in going if track.distance <= nearest + FAR]
        if on_progress:
            on_progress((step + 1) / (steps + 1))
    tracks = [*with_jitter(seen, tracks, simulator), *tracks]
    candidates = sorted(
        (track.nearest for track in tracks if track.nearest), key=lambda each: each.distance
    )
    if not candidates:
        raise CaptureError(f"{capture}: connection {connection}: no path gives such a capture")
    best = candidates[0]
    path = best.path
    if not path.is_shared:
        # The last step's; next to others chance decides which step is nearer.
        path = next(track.path for track in tracks if track.nearest is best)
    last = with_capture(simulator.simulate_all([(path, seed, simulator.cc) for seed in LAST_SEEDS]))
    return FittedPath(
        capture=capture,
        connection=connection,
        other_connections=0,
        cc=simulator.cc,
        how_known=how,
        mss_bytes=simulator.mss_bytes,
        seen=seen,
        path=path,
        distance=best.distance,
        runs=tuple(last),
        explanations=explanations(candidates, path),
        intervals=intervals(path, seen, last),
    )


def with_jitter(seen: Evidence, tracks: Sequence[Track], simulator: PathSimulator) -> list[Track]:
    """Return the nearest kinds of path with jitter, where the RTT moves more than without."""
    by_distance = sorted((each for each in tracks if each.nearest), key=lambda each: each.distance)
    # Jitter moves ACKs together, so that a link seems faster, and others seem to be there.
    near = [
        track
        for shared, most in JITTER_KINDS.items()
        for track in [each for each in by_distance if each.path.is_shared == shared][:most]
    ]
    found = []
    for track in near:
        jitter_s = first_jitter(seen.noise_s, track.noise_s)
        if not jitter_s:
            continue
        other = Track(replace(track.path, jitter_s=jitter_s))
        for _ in range(STEPS_JITTER):
            seeds = seeds_of(other.path)
            ran = simulator.simulate_all([(other.path, seed, simulator.cc) for seed in seeds])
            other.take(seen, ran, track.noise_s)
        found.append(other)
    return found


def explanations(candidates: Sequence[Candidate], best: PathModel) -> tuple[Explanation, ...]:
    """Return a path of each kind that is probable; `best` stands for the first candidate's kind."""
    shares: dict[str, float] = {}
    paths: dict[str, PathModel] = {best.kind: best}
    for each, share in zip(candidates, weights(candidates), strict=True):
        paths.setdefault(each.path.kind, each.path)
        shares[each.path.kind] = shares.get(each.path.kind, 0.0) + share
    return tuple(
        Explanation(paths[kind], share) for kind, share in shares.items() if share >= LEAST_WEIGHT
    )


@dataclass
class Track:
    """A kind of path on its way to the values that explain the capture best."""

    path: PathModel
    nearest: Candidate | None = None
    noise_s: float = 0.0

    @property
    def distance(self) -> float:
        """Distance of the nearest until now."""
        return self.nearest.distance if self.nearest else float("inf")

    def take(self, seen: Evidence, ran: Sequence[Simulated | None], without_s: float = 0.0) -> None:
        """Compare runs of the path with what was seen, and move it.

        Parameters
        ----------
        seen
            What is to be explained.
        ran
            Runs of the path.
        without_s
            The noise of such a path without jitter.
        """
        runs = with_capture(ran)
        if not runs:
            return  # not one connected
        found = Candidate.of(seen, runs)
        if found.distance < self.distance:
            self.nearest = found
        noises = [each.evidence.noise_s for each in runs]
        self.noise_s = float(np.median(noises))
        self.path = adjusted(self.path, seen, runs)
        if self.path.jitter_s:
            self.path = adjusted_jitter(self.path, seen.noise_s, without_s, noises)


def with_capture(runs: Sequence[Simulated | None]) -> list[Simulated]:
    """Return the runs that have a capture to measure."""
    return [each for each in runs if each is not None]


def seeds_of(path: PathModel) -> range:
    """Return the seeds of a path's runs."""
    return CHANCE_SEEDS if path.is_shared or path.loss else SEEDS
