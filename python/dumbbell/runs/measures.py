"""What a sweep measures of each run: every metric, and how it was measured."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.metrics import Warmup, measure
from dumbbell.run import Run
from dumbbell.scenario import Scenario

__all__ = ["Measures", "in_words_of", "measure_run", "measured_as"]

#: What was measured of one run: one mapping per group.
Measures = list[dict[str, Any]]
#: What decides on a metric's value, apart from the engine.
MEASURING = ("metrics", "run", "statistics", "verdict")


def measure_run(run: Run, warmup: str | None = None) -> Measures:
    """Measure every metric of a run, group by group; those of the whole run are in each."""
    return measure(run, None if warmup is None else Warmup.parse(warmup))


def in_words_of(scenario: Scenario, measures: Measures) -> Measures:
    """Name the groups as a scenario does: the run may have been measured as another one's."""
    return [{**group, "cc": str(scenario.groups[group["group"]].cc)} for group in measures]


def measured_as(warmup: str | None) -> str:
    """Name a way of measuring: the warm-up that is cut, and the code that measures."""
    return f"{warmup or 'whole run'}, {measuring_build()}"


@functools.cache
def measuring_build() -> str:
    """Return a digest of the code that measures, so that no other version's values are taken."""
    package = Path(dumbbell.__file__).parent
    digest = hashlib.sha256()
    for name in MEASURING:
        path = package / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
