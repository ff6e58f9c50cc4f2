"""Reads a capture and analyses its connections; the engine does the work."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from dumbbell import _core
from dumbbell.base.errors import CaptureError, nearest, os_reason
from dumbbell.base.quantities.quantity import Time
from dumbbell.capture_analysis.analysis import Analysis
from dumbbell.run import Run
from dumbbell.run.capture import CAPTURE
from dumbbell.scenario import Scenario

__all__ = ["STDIN", "analyze", "capture_path"]

#: What stands for standard input.
STDIN = "-"


def analyze(
    path: str | Path,
    *,
    interval: str | Time | None = None,
    segments: Sequence[int] | None = None,
    points: Sequence[str] | None = None,
) -> Analysis:
    """Analyse the TCP connections of a capture.

    Parameters
    ----------
    path
        pcap or pcapng, plain, gzip or zstd; ``-`` for standard input; or the directory of a run
        that has a capture.
    interval
        Width of the time series' bins, like ``100ms``; by default wider for longer connections.
    segments
        Numbers of the connections of which every packet is kept, for a time-sequence plot.
    points
        Names of the capture points (interfaces) to look at; without it all.

    Returns
    -------
    Analysis
        Its connections and their time series.

    Raises
    ------
    CaptureError
        The file cannot be read, is not a capture, or has no such point.

    Examples
    --------
    >>> import dumbbell
    >>> dumbbell.analyze("missing.pcap")
    Traceback (most recent call last):
    dumbbell.base.errors.CaptureError: missing.pcap: cannot be read: no such file or directory
    """
    path = capture_path(path)
    options = {
        "interval_ns": None if interval is None else Time.parse(interval, "interval", minimum=1000),
        "segments": sorted(set(segments or ())),
        "points": None if points is None else list(points),
    }
    try:
        summary, tables = _core.analyze(path, json.dumps(options))
    except _core.CaptureError as error:
        raise CaptureError(str(error)) from None
    reading = json.loads(summary)
    arrow = {name: joined(batches) for name, batches in tables.items()}
    if not segments:
        arrow.pop("segments", None)
    for point in points or ():
        check_point(path, reading, point)
    scenario = scenario_of(path)
    if scenario is None:
        return Analysis(path, reading, arrow)
    ccs = [str(group.cc) for group in scenario.groups]
    return Analysis(path, reading, arrow, ccs, scenario.group_labels)


def scenario_of(path: str) -> Scenario | None:
    """Return the scenario of the run that a capture is of; None if it is of none."""
    place = Path(path).parent
    if Path(path).name != CAPTURE or not (place / "run.json").is_file():
        return None
    return Run.load(place).scenario


def capture_path(path: str | Path) -> str:
    """Return the path of a capture, and refuse what cannot be one before it is opened.

    Raises
    ------
    CaptureError
        It is missing, empty, or a directory without a capture.
    """
    if str(path) == STDIN:
        return STDIN
    if not is_utf8(str(path)):
        raise CaptureError(f"{path}: its name is not UTF-8; rename it")
    try:
        if Path(path).is_dir():
            inside = Path(path, CAPTURE)
            if not inside.is_file():
                raise CaptureError(f"{path}: is a directory without {CAPTURE}; use a capture file")
            return str(inside)
        if Path(path).is_file() and Path(path).stat().st_size == 0:
            raise CaptureError(f"{path}: is empty; use a capture file")
        with Path(path).open("rb"):
            return str(path)
    except OSError as error:
        raise CaptureError(f"{path}: cannot be read: {os_reason(error)}") from None


def is_utf8(name: str) -> bool:
    """Whether a file's name is UTF-8; Python has other bytes as surrogates."""
    return name == name.encode("utf-8", "replace").decode()


def check_point(path: str, reading: Mapping[str, Any], point: str | None) -> None:
    """Refuse a point that the capture does not have."""
    known = [interface["name"] for interface in reading["interfaces"]]
    if point is not None and point not in known:
        raise CaptureError(f"{path}: has no point `{point}`{nearest(point, known)}")


def joined(batches: Sequence[Any]) -> pa.Table:
    """Return a table from its batches, without a copy."""
    return pa.concat_tables([pa.table(batch) for batch in batches])
