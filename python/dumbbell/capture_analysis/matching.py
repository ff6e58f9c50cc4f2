"""Two captures of the same traffic: losses, delays and reordering between them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from dumbbell import _core
from dumbbell._core import ENGINE_VERSION
from dumbbell.base.errors import CaptureError
from dumbbell.capture_analysis.analysis import ANALYSIS_SCHEMA_VERSION
from dumbbell.capture_analysis.analyze import capture_path, check_point, joined
from dumbbell.capture_analysis.save import save
from dumbbell.run import directory as run_directory
from dumbbell.run.links import BOTTLENECK

__all__ = ["Match", "match_captures"]

#: What the points on either side of a link are called after it in a run's capture.
SIDES = ("in", "out")


class Match:
    """What happened to packets between two points.

    Parameters
    ----------
    before, after
        Where packets were seen first, and then: (path, point or None).
    reading
        How the reading of both went: ``before`` and ``after``.
    tables
        ``matches``: a row per connection and direction; ``packets``: a row per packet seen before.
    """

    def __init__(
        self,
        before: tuple[str, str | None],
        after: tuple[str, str | None],
        reading: Mapping[str, Any],
        tables: Mapping[str, pa.Table],
    ) -> None:
        self.before = before
        self.after = after
        self.reading = reading
        self.tables = tables

    def __repr__(self) -> str:
        return f"<Match {place(*self.before)} → {place(*self.after)}>"

    @property
    def connections(self) -> pa.Table:
        """A row per connection and direction: counts, and the delay between the points."""
        return self.tables["matches"]

    @property
    def packets(self) -> pa.Table:
        """A row per packet of the first capture: its delay, null if it is not in the second."""
        return self.tables["packets"]

    def to_dict(self) -> dict[str, Any]:
        """Return the match as `--match --json` prints it; docs/format-analysis.md describes it."""
        return {
            "schema_version": ANALYSIS_SCHEMA_VERSION,
            "engine_version": ENGINE_VERSION,
            "before": {"file": self.before[0], "point": self.before[1]},
            "after": {"file": self.after[0], "point": self.after[1]},
            "reading": dict(self.reading),
            "connections": self.connections.to_pylist(),
        }

    def save(self, directory: str | Path) -> list[Path]:
        """Write both tables and a figure of the delay to a directory.

        Raises
        ------
        ResultError
            It cannot be written.
        """
        from dumbbell.capture_analysis.delay_figure import draw_delay

        figures = [draw_delay(self)]
        return save(Path(directory), self.tables, "match.json", self.to_dict(), figures)


def match_captures(
    before: str | Path,
    after: str | Path | None = None,
    *,
    before_point: str | None = None,
    after_point: str | None = None,
    link: str | None = None,
) -> Match:
    """Match two captures of the same traffic, packet by packet.

    Parameters
    ----------
    before
        Where the packets were seen first: a capture, or a run's directory.
    after
        Where they were seen then; by default the same file, on either side of a link.
    before_point, after_point
        Names of the capture points (interfaces), where a file has several.
    link
        Which link of a run's capture, when no other file and no points are named; by default the
        bottleneck.

    Returns
    -------
    Match
        Delay, drops and reordering. Clocks of different machines are not aligned: the delay
        depends on them, the delay above the smallest does not.

    Raises
    ------
    CaptureError
        A file cannot be read, is not a capture, or has no such point.
    """
    if after is None:
        after = before
        if before_point is None and after_point is None:
            name = link or bottleneck_of(before)
            before_point, after_point = (f"{name}-{side}" for side in SIDES)
    paths = capture_path(before), capture_path(after)
    options = {"before_point": before_point, "after_point": after_point}
    try:
        summary, tables = _core.match_captures(*paths, json.dumps(options))
    except _core.CaptureError as error:
        raise CaptureError(str(error)) from None
    reading = json.loads(summary)
    check_point(paths[0], reading["before"], before_point)
    check_point(paths[1], reading["after"], after_point)
    return Match(
        (paths[0], before_point),
        (paths[1], after_point),
        reading,
        {name: joined(batches) for name, batches in tables.items()},
    )


def bottleneck_of(source: str | Path) -> str:
    """Return the name of a run's bottleneck, if the source is a run's directory."""
    if not Path(source).is_dir():
        return BOTTLENECK
    document, _ = run_directory.read(Path(source))
    return str(document.get("bottleneck", {}).get("name", BOTTLENECK))


def place(path: str, point: str | None) -> str:
    """Write where packets were seen."""
    return path if point is None else f"{path}:{point}"
