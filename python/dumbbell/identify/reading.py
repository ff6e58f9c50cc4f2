"""Reads a capture for identification: the analysis, with finer series."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from dumbbell import _core
from dumbbell.base.errors import CaptureError
from dumbbell.capture_analysis.analyze import capture_path, check_point, joined
from dumbbell.capture_analysis.best_point import all_views
from dumbbell.identify.datagram_flows import DatagramFlow, datagram_flows_of
from dumbbell.identify.flows import Flow, flows_of

__all__ = ["datagram_flows_in", "flows_in", "read_capture", "read_datagrams"]

#: Bins of a series: 8 ms for 30 s, so that most round trips have several.
SERIES_BINS = 4096
#: Memory of all series together: with 10,000 connections each still has a thousand bins.
MAX_BYTES = 1 << 30


def read_capture(
    path: str | Path,
    *,
    points: Sequence[str] | None = None,
    joined_points: Sequence[Sequence[str]] = (),
) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Analyse a capture, with the series that identification needs.

    Parameters
    ----------
    path
        A capture, or the directory of a run that has one.
    points
        Names of the points to look at; without it all.
    joined_points
        Points that count as one.

    Raises
    ------
    CaptureError
        It cannot be read.
    """
    options = {
        "segments": [],
        "points": None if points is None else list(points),
        "series_bins": SERIES_BINS,
        "max_view_bytes": MAX_BYTES,
        "joined_points": [list(each) for each in joined_points],
    }
    try:
        summary, tables = _core.analyze(capture_path(path), json.dumps(options))
    except _core.CaptureError as error:
        raise CaptureError(str(error)) from None
    reading: dict[str, Any] = json.loads(summary)
    for point in points or ():
        check_point(str(path), reading, point)
    return reading, {name: joined(batches) for name, batches in tables.items()}


def flows_in(path: str | Path, *, joined_points: Sequence[Sequence[str]] = ()) -> Iterator[Flow]:
    """Go through the data's direction of each connection at each point of a capture."""
    _, tables = read_capture(path, joined_points=joined_points)
    return flows_of(all_views(tables["connections"]), tables["series"])


def read_datagrams(
    path: str | Path, *, points: Sequence[str] | None = None
) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Read the flows of UDP in a capture.

    Raises
    ------
    CaptureError
        It cannot be read.
    """
    options = {
        "points": None if points is None else list(points),
        "series_bins": SERIES_BINS,
        "max_bytes": MAX_BYTES,
    }
    try:
        summary, tables = _core.datagrams(capture_path(path), json.dumps(options))
    except _core.CaptureError as error:
        raise CaptureError(str(error)) from None
    reading: dict[str, Any] = json.loads(summary)
    return reading, {name: joined(batches) for name, batches in tables.items()}


def datagram_flows_in(path: str | Path) -> Iterator[DatagramFlow]:
    """Go through the flows of UDP at each point of a capture."""
    _, tables = read_datagrams(path)
    return datagram_flows_of(tables["flows"], tables["series"])
