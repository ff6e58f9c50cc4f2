"""What another algorithm would have got on the path of a capture."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dumbbell.base.errors import EngineError, ScenarioError, nearest
from dumbbell.fit.estimate import Z_90
from dumbbell.fit.evidence import Evidence
from dumbbell.fit.fit import fit
from dumbbell.fit.fitted_path import FittedPath
from dumbbell.fit.hypotheses import is_filled
from dumbbell.fit.interval import Interval
from dumbbell.fit.path import PathModel
from dumbbell.fit.sender import checked_sender
from dumbbell.fit.simulated import PathSimulator, Simulated
from dumbbell.run.engine import SIMULATOR, default_workers

__all__ = ["Outcome", "Prediction", "what_if"]

#: Runs of each algorithm: paths drawn from what the fit left open, each with its own seed.
RUNS = 12
#: None of the fit's.
FIRST_SEED = 101
#: A buffer that was never filled is drawn up to these times what was seen, and these BDPs.
DEEP_TIMES, DEEP_BDP = 4.0, 2.0


@dataclass(frozen=True)
class Outcome:
    """What a flow got.

    Attributes
    ----------
    goodput_bps
        Acknowledged.
    rtt_p50_s, rtt_p95_s
        Of the samples at the sender.
    retransmitted
        Packets, of those sent.
    """

    goodput_bps: float
    rtt_p50_s: float
    rtt_p95_s: float
    retransmitted: float

    @classmethod
    def of(cls, seen: Evidence) -> Outcome:
        """Measure a connection."""
        p50, p95 = np.percentile(seen.series.rtt_s, [50, 95]) if seen.series.rtt_s.size else (0, 0)
        return cls(seen.series.goodput_bps, float(p50), float(p95), seen.loss_share)

    @property
    def words(self) -> tuple[str, str, str, str]:
        """The fields, for a table."""
        return (
            f"{self.goodput_bps / 1e6:.2f}",
            f"{1e3 * self.rtt_p50_s:.1f}",
            f"{1e3 * self.rtt_p95_s:.1f}",
            f"{100 * self.retransmitted:.2f}",
        )

    def to_dict(self) -> dict[str, float]:
        """Return the fields, as JSON has them."""
        return asdict(self)


#: The fields of an outcome.
MEASURES: dict[str, Callable[[Outcome], float]] = {
    "goodput_bps": lambda each: each.goodput_bps,
    "rtt_p50_s": lambda each: each.rtt_p50_s,
    "rtt_p95_s": lambda each: each.rtt_p95_s,
    "retransmitted": lambda each: each.retransmitted,
}


@dataclass(frozen=True, eq=False)
class Prediction:
    """What an algorithm is expected to get, with intervals over what the fit left open.

    Attributes
    ----------
    cc
        The algorithm.
    outcomes
        One a path.
    runs
        The runs that gave them.
    """

    cc: str
    outcomes: tuple[Outcome, ...]
    runs: tuple[Simulated, ...]

    @property
    def words(self) -> tuple[str, str, str, str]:
        """Medians with intervals, for a table."""
        lows, values, highs = (
            Outcome(*(getattr(self.interval(each), end) for each in MEASURES)).words
            for end in ("low", "value", "high")
        )
        first, second, third, fourth = (
            f"{value}\n{low} to {high}" if low != high else value
            for low, value, high in zip(lows, values, highs, strict=True)
        )
        return first, second, third, fourth

    def to_dict(self) -> dict[str, Any]:
        """Return the algorithm with each field's interval, as JSON has it."""
        found = {name: self.interval(name) for name in MEASURES}
        return {
            "cc": self.cc,
            **{name: [each.low, each.value, each.high] for name, each in found.items()},
        }

    def interval(self, measure: str) -> Interval:
        """Return the median and the interval of 90 % of a field of the outcomes.

        Raises
        ------
        ScenarioError
            There is no such field.
        """
        if measure not in MEASURES:
            raise ScenarioError(f"a prediction has no `{measure}`{nearest(measure, MEASURES)}")
        values = [MEASURES[measure](each) for each in self.outcomes]
        low, middle, high = np.percentile(values, [5, 50, 95])
        return Interval(float(low), float(middle), float(high))


def what_if(
    fitted: FittedPath | str | Path,
    ccs: str | Sequence[str],
    *,
    jobs: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> list[Prediction]:
    """Predict what algorithms would have got in place of the one that was captured.

    Parameters
    ----------
    fitted
        The path; or a capture, which `fit` then fits.
    ccs
        The algorithms; that of the capture among them shows how good the fit is.
    jobs
        Runs at a time; by default one a core.
    on_progress
        Called with the share of the work that is done, 0 to 1.

    Raises
    ------
    CongestionControlError, ScenarioError
        There is no such algorithm.
    CaptureError
        The capture cannot be read, or it shows too little of the path.
    """
    ccs = [ccs] if isinstance(ccs, str) else ccs
    if not ccs:
        raise ScenarioError("name an algorithm, e.g. `--cc bbr`")
    for cc in ccs:
        checked_sender(cc)
    if not isinstance(fitted, FittedPath):
        fitted = fit(fitted, jobs=jobs)
    seconds = fitted.seen.series.duration_s
    jobs = jobs or default_workers(SIMULATOR)
    simulator = PathSimulator(fitted.cc, seconds, fitted.mss_bytes, jobs)
    paths = draws(fitted, RUNS)
    asked = [(path, seed, cc) for cc in ccs for seed, path in enumerate(paths, FIRST_SEED)]
    found = simulator.simulate_all(asked, on_progress)
    return [predicted(cc, found[at * RUNS : (at + 1) * RUNS]) for at, cc in enumerate(ccs)]


def predicted(cc: str, ran: Sequence[Simulated | None]) -> Prediction:
    """Return what an algorithm got, of the runs that can be measured.

    Raises
    ------
    EngineError
        None can.
    """
    runs = tuple(each for each in ran if each is not None)
    if not runs:
        raise EngineError(f"no flow of `{cc}` gets through the path that explains the capture")
    return Prediction(cc, tuple(Outcome.of(each.evidence) for each in runs), runs)


def draws(fitted: FittedPath, count: int) -> list[PathModel]:
    """Return paths that explain the capture, as often as they are probable."""
    chance = random.Random(0)  # noqa: S311 -- draws of an experiment
    shares = [each.probability for each in fitted.explanations]
    total, paths = sum(shares), []
    for index in range(count):
        # At even steps of the probabilities, so that a few draws have all kinds.
        at, kind = (index + 0.5) / count * total, 0
        while at > shares[kind]:
            at, kind = at - shares[kind], kind + 1
        paths.append(drawn(fitted.explanations[kind].path, fitted, chance))
    return paths


def drawn(path: PathModel, fitted: FittedPath, chance: random.Random) -> PathModel:
    """Return a path with values that the fit left open."""

    def factor(name: str) -> float:
        interval = fitted.intervals.get(name)
        if interval is None or interval.low <= 0:
            return 1.0
        return float(np.exp(chance.gauss(0, 1) * np.log(interval.high / interval.low) / 2 / Z_90))

    rate = factor("rate_bps")
    steps = tuple((at_s, bps * rate) for at_s, bps in path.rate_steps)
    changed = replace(path, rate_bps=path.rate_bps * rate, rate_steps=steps)
    if path.loss:
        changed = replace(changed, loss=min(path.loss * factor("loss"), 0.5))
    if path.queue:
        return changed
    if path.is_shared or is_filled(fitted.seen):
        # A buffer is known as a delay, so it goes with the rate.
        return replace(changed, buffer_bytes=path.buffer_bytes * rate)
    least = fitted.seen.queue_max_s * path.rate_bps / 8
    most = max(DEEP_TIMES * least, DEEP_BDP * path.rate_bps * path.base_rtt_s / 8)
    least = max(least, fitted.seen.series.wire_bytes)
    return replace(changed, buffer_bytes=float(np.exp(chance.uniform(np.log(least), np.log(most)))))
