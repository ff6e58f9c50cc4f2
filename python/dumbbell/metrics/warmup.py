"""The start of a run that metrics leave out: a fixed time, or detected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dumbbell.base.errors import ResultError, ScenarioError
from dumbbell.base.quantities.quantity import Time
from dumbbell.run.links import queue_rows

if TYPE_CHECKING:
    from dumbbell.run import Run
    from dumbbell.scenario import Scenario

__all__ = ["Warmup", "mser5"]

#: Samples in a batch: the 5 of MSER-5.
BATCH = 5
#: Batches below which nothing is detected: the minimum of so few is an accident.
MIN_BATCHES = 10


@dataclass(frozen=True)
class Warmup:
    """What metrics leave out of the start of a run.

    Attributes
    ----------
    time
        From the start of the run; None to detect it in every run (`mser5`).

    Examples
    --------
    >>> from dumbbell.metrics import Warmup
    >>> str(Warmup.parse("20s")), str(Warmup.parse("auto"))
    ('20s', 'auto')
    """

    time: Time | None = None

    @classmethod
    def parse(cls, text: str | Time | Warmup) -> Warmup:
        """Read a warm-up: ``20s`` or ``auto``.

        Raises
        ------
        ScenarioError
            It is neither.
        """
        if isinstance(text, Warmup):
            return text
        if text == "auto":
            return cls()
        return cls(Time.parse(text, "warmup", minimum=1))

    def __str__(self) -> str:
        return "auto" if self.time is None else str(self.time)

    def check(self, scenario: Scenario) -> None:
        """Check that a scenario's runs can be cut so.

        Raises
        ------
        ScenarioError
            It is not longer than the warm-up, or records no time series.
        """
        if scenario.sample == 0:
            raise ScenarioError(
                f"warm-up `{self}` needs time series; set `sample`, e.g. `10ms`",
                key="sample",
            )
        if self.time is not None and self.time >= scenario.time:
            raise ScenarioError(
                f"warm-up `{self}` leaves nothing of a run of `{scenario.time}`; "
                "use a shorter warm-up or a longer `time`",
                key="time",
            )

    def cut_us(self, run: Run) -> int:
        """Return where metrics begin, µs from the start of the run.

        Detected, it is the latest of several cuts by `mser5`: that of the flows' goodput together
        and that of each link's backlog, each sample by sample. A queue settles later than a link
        fills.

        Raises
        ------
        ResultError
            The run has no time series, or is not longer than the warm-up.
        """
        if "flows" not in run.tables or "queue" not in run.tables:
            raise ResultError(
                f"warm-up `{self}` needs time series, but the run has none; run it with `sample`, "
                "e.g. `10ms`"
            )
        if self.time is None:
            return detected_cut_us(run)
        duration_us = run.summary["duration_ns"] // 1000
        if self.time.ns // 1000 >= duration_us:
            raise ResultError(
                f"warm-up `{self}` leaves nothing of a run of `{run.scenario.time}`; "
                "use a shorter one"
            )
        return self.time.ns // 1000


def detected_cut_us(run: Run) -> int:
    """Return the latest of the cuts of the goodput of all flows and of each backlog, µs."""
    queues, flows = run.tables["queue"], run.tables["flows"]
    by_link = [queue_rows(queues, link["name"]) for link in run.links]
    time_us = by_link[0]["time_us"].to_numpy()
    if time_us.size == 0:
        return 0
    # Rows of the flows whose sample the queue has too: all of them.
    instants = np.clip(
        np.searchsorted(time_us, flows["time_us"].to_numpy()), None, time_us.size - 1
    )
    goodput_bps = np.bincount(
        instants, weights=flows["goodput_bps"].to_numpy(), minlength=time_us.size
    ).astype(np.float64)
    backlogs = (queue["backlog_bytes"].to_numpy().astype(np.float64) for queue in by_link)
    rows = max(mser5(samples) for samples in (goodput_bps, *backlogs))
    return int(time_us[rows - 1]) if rows else 0


def mser5(samples: npt.NDArray[np.float64]) -> int:
    """Return how many samples to leave out at the beginning, by MSER-5.

    The samples are averaged in batches of 5, Z_1 … Z_n. With d batches left out, the standard
    error of the mean of the rest has the square s²(d) = Σ_{i>d} (Z_i - mean_d)² / (n - d)²; the d
    for which it is smallest is where leaving out more costs more precision than it removes bias.
    d is looked for in the first half: a minimum beyond it says that the run is too short, and half
    of it is left out then.

    Parameters
    ----------
    samples
        Equally spaced in time.

    Returns
    -------
    int
        A multiple of 5; 0 for fewer than 50 samples.

    References
    ----------
    White: "An effective truncation heuristic for bias reduction in simulation output", Simulation
    69(6), 1997 (MSER); White, Cobb, Spratt: "A comparison of five steady-state truncation
    heuristics for simulation", Winter Simulation Conference 2000 (MSER-5).
    """
    count = samples.size // BATCH
    if count < MIN_BATCHES:
        return 0
    batches = samples[: count * BATCH].reshape(count, BATCH).mean(axis=1)
    # Sums over what is left, for every d at once; about the mean, so that squares stay small.
    centred = batches - batches.mean()
    left = np.arange(count, 0, -1)
    sums = np.cumsum(centred[::-1])[::-1]
    squares = np.cumsum(centred[::-1] ** 2)[::-1]
    error = np.maximum(squares - sums**2 / left, 0) / left.astype(np.float64) ** 2
    return int(np.argmin(error[: count // 2 + 1])) * BATCH
