"""What C2 is about, as figures and tables have it."""

from __future__ import annotations

from collections.abc import Callable

from dumbbell_studies.papers.kakenhi2024.measurements import AloneMeasured

__all__ = ["ALONE_METRICS"]

#: What C2 is about: (name, heading, form, from a run).
ALONE_METRICS: tuple[tuple[str, str, str, Callable[[AloneMeasured], float]], ...] = (
    ("delay", "queueing delay (ms)", "{:.1f}", lambda run: run.queue_delay_ms),
    ("drops", "dropped (%)", "{:.3f}", lambda run: run.drop_pct),
    ("utilisation", "utilisation (%)", "{:.1f}", lambda run: 100 * run.utilization),
    ("fairness", "Jain's index, last 60 s", "{:.3f}", lambda run: run.jain),
)
