"""Runs of a paper's points in other set-ups, each of them once, and what was measured of them."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from dumbbell import capture_analysis
from dumbbell.base.errors import ResultError
from dumbbell.metrics import measuring_build
from dumbbell.run import SIMULATOR, Run
from dumbbell.runs import Cache, Progress, RunKey, make_record, run_all, run_key
from dumbbell.scenario import Scenario
from dumbbell_studies.papers import captured_flow, inflight_counts, results
from dumbbell_studies.papers.apparatus import apply
from dumbbell_studies.papers.apparatus_element import Setup
from dumbbell_studies.papers.measured_text import decode, encode
from dumbbell_studies.papers.paper import Paper
from dumbbell_studies.papers.results import Results

__all__ = ["Trials", "fresh"]

P = TypeVar("P")
M = TypeVar("M")

#: Added to the seeds of repetitions for others of which nothing has been seen.
FRESH = 1000
#: A run that is wanted: a set-up, a point and a seed.
Wanted = tuple[Setup, Any, int]


class Trials(Generic[P, M]):
    """Measurements of a paper's points in set-ups, by their scenarios.

    Runs keep no time series: what is measured of each goes into the cache.

    Parameters
    ----------
    paper
        Which.
    cache
        Where measurements are found again; None for nowhere.
    jobs
        Runs at a time; None for the machine's cores.
    on_progress
        Called with the progress of each batch of runs.
    """

    def __init__(
        self,
        paper: Paper[P, M],
        cache: Cache | None = None,
        jobs: int | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.paper = paper
        self.cache = cache
        self.jobs = jobs
        self.on_progress = on_progress
        self.measured: dict[str, M] = {}
        self.keys: dict[Wanted, RunKey] = {}
        self.executed = 0
        self.found = 0

    def know(self, found: Results[P, M]) -> None:
        """Take the measurements of the plain runs, whose seeds are 1, 2, …"""
        for point, values in found.measured.items():
            for at, value in enumerate(values):
                self.measured[self.key(((), point, at + 1)).digest] = value

    def scenario(self, wanted: Wanted) -> Scenario:
        """Return what runs."""
        setup, point, seed = wanted
        return apply(setup, self.paper.scenario(point, seed))

    def key(self, wanted: Wanted) -> RunKey:
        """Return a run's content address."""
        if wanted not in self.keys:
            self.keys[wanted] = run_key(self.scenario(wanted), SIMULATOR)
        return self.keys[wanted]

    def changes(self, setup: Setup, points: Iterable[P]) -> bool:
        """Whether a set-up changes any of some points' runs."""
        return any(
            self.key((setup, point, 1)).digest != self.key(((), point, 1)).digest
            for point in points
        )

    def __getitem__(self, wanted: Wanted) -> M:
        return self.measured[self.key(wanted).digest]

    def has(self, wanted: Wanted) -> bool:
        """Whether a run was measured."""
        return self.key(wanted).digest in self.measured

    def of_seed(self, setup: Setup, points: Iterable[P], seed: int) -> Mapping[P, M]:
        """Return what was measured at some points with one seed."""
        return {point: self[setup, point, seed] for point in points}

    def run(self, wanted: Iterable[Wanted]) -> None:
        """Run what was not run before."""
        missing: dict[str, tuple[Any, Scenario]] = {}
        for each in wanted:
            key = self.key(each)
            if key.digest in self.measured or key.digest in missing:
                continue
            if not self.find(each, key):
                missing[key.digest] = (each, self.scenario(each))
        if not missing:
            return

        def measure(digest: str, run: Run) -> Run:
            each, _ = missing[digest]
            value = self.paper.measure(each[1], run)
            self.keep(self.key(each), run, value)
            return Run(run.scenario, run.summary, {})

        # The longest first, so that all cores are busy to the end.
        scenarios = sorted(
            ((digest, scenario) for digest, (_, scenario) in missing.items()),
            key=lambda each: work(each[1]),
            reverse=True,
        )
        run_all(
            scenarios,
            jobs=self.jobs,
            cache=False,
            on_progress=self.on_progress,
            on_finished=measure,
        )
        self.executed += len(missing)

    @functools.cached_property
    def how(self) -> str:
        """Name of what is measured and how, in the cache."""
        digest = hashlib.sha256(measuring_build().encode())
        analysis = sorted(Path(capture_analysis.__file__).parent.glob("*.py"))
        ours = (captured_flow.__file__, inflight_counts.__file__, results.__file__)
        for each in (*files_of(self.paper.measure), *ours, *analysis):
            digest.update(Path(str(each)).read_bytes())
        return f"{self.paper.name}, {digest.hexdigest()[:16]}"

    def find(self, wanted: Wanted, key: RunKey) -> bool:
        """Look a measurement up in the cache, or measure a run whose time series are there."""
        if self.cache is None:
            return False
        record = self.cache.get(key)
        try:
            if record is not None and self.how in record.measured:
                value = decode(record.measured[self.how][0]["measured"])
            elif record is not None and record.has_series:
                value = self.paper.measure(wanted[1], record.run(self.scenario(wanted)))
            else:
                return False
        except (ValueError, KeyError, ResultError):
            return False
        self.measured[key.digest] = value
        self.found += 1
        return True

    def keep(self, key: RunKey, run: Run, value: M) -> None:
        """Note a measurement, in the cache too."""
        self.measured[key.digest] = value
        if self.cache is not None:
            # A record has rows by group; a paper's measurement is of all of them.
            measured = {self.how: [{"group": 0, "measured": encode(value)}]}
            self.cache.put(make_record(run, key, series=False, measured=measured))


def fresh(seeds: Iterable[int]) -> tuple[int, ...]:
    """Return as many seeds of which nothing has been seen.

    What was chosen by some seeds is decided by others.
    """
    seeds = tuple(seeds)
    return tuple(seed + max(FRESH, *seeds) for seed in seeds)


def files_of(measure: Callable[[Any, Run], Any]) -> list[Path]:
    """Return the file of what measures, or all of them if a paper is a package of its own."""
    file = Path(str(inspect.getsourcefile(measure)))
    is_package = file.parent.parent == Path(__file__).parent
    return sorted(file.parent.glob("*.py")) if is_package else [file]


def work(scenario: Scenario) -> tuple[float, int]:
    """Return what a run's time grows with: the bytes that its links carry, then its flows."""
    rate = sum(link.rate.bps for link in scenario.links)
    return scenario.time.seconds * rate, sum(group.flows for group in scenario.groups)
