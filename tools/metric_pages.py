"""A page for each metric, for the guide: its entry of metrics.md."""

from __future__ import annotations

import shutil
from pathlib import Path

from dumbbell.metrics import METRICS
from dumbbell.metrics.document import entry

__all__ = ["write_metric_pages"]


def write_metric_pages(directory: Path) -> None:
    """Write ``<name>.md`` for each metric of the registry, and keep none that it has no more."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True, exist_ok=True)
    for name in METRICS:
        page = entry(name).removeprefix("#")
        (directory / f"{name}.md").write_text(page, encoding="utf-8")
