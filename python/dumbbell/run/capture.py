"""A capture of a run: its points, how much of each packet is kept, and the file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.quantity import Size

__all__ = [
    "CAPTURE",
    "CAPTURE_POINTS",
    "HEADERS",
    "Capture",
    "as_capture",
    "link_or_copy",
    "pending_capture",
]

#: The capture points; each means the hosts of all groups, or both sides of every link.
CAPTURE_POINTS = ("sender", "receiver", "link")
#: What the last one was called when there was one link.
OLDER_NAMES = {"bottleneck": "link"}

#: Name of the file in a run's directory.
CAPTURE = "capture.pcapng"

#: How much of a packet is kept.
HEADERS, FULL = "headers", "full"
#: Ethernet, IPv4 and TCP headers without options: with less, a packet is of no use.
MIN_SNAP_BYTES = 14 + 20 + 20
#: Means the whole packet to the engines.
WHOLE = 2**32 - 1


class Capture:
    """A run's capture: a pcapng file with an interface per capture point.

    Parameters
    ----------
    path
        The file; replaced if it exists.
    points
        Any of ``sender``, ``receiver`` and ``link``.
    snap
        How much of each packet is kept: ``headers``, ``full``, or a size, like ``96B``.

    Raises
    ------
    ScenarioError
        There is no such point, or the size is invalid.

    Examples
    --------
    >>> Capture("run.pcapng", points=["sender"], snap="96B")
    Capture('run.pcapng', points=('sender',), snap='96B')
    """

    def __init__(
        self,
        path: str | Path,
        *,
        points: Iterable[str] = CAPTURE_POINTS,
        snap: str | Size = HEADERS,
    ) -> None:
        self.path = Path(path)
        self.points = tuple(OLDER_NAMES.get(point, point) for point in points)
        for point in self.points:
            if point not in CAPTURE_POINTS:
                raise ScenarioError(
                    f"unknown capture point `{point}`{nearest(point, CAPTURE_POINTS)}"
                )
        if not self.points:
            raise ScenarioError(f"no capture points; use some of `{','.join(CAPTURE_POINTS)}`")
        self.snap = str(snap)
        self.snap_bytes = read_snap(snap)

    def __repr__(self) -> str:
        return f"Capture({str(self.path)!r}, points={self.points}, snap={self.snap!r})"

    @property
    def senders(self) -> bool:
        """Whether packets are captured at the senders."""
        return "sender" in self.points

    @property
    def receivers(self) -> bool:
        """Whether packets are captured at the receivers."""
        return "receiver" in self.points

    @property
    def links(self) -> bool:
        """Whether packets are captured before and after every link."""
        return "link" in self.points

    def at(self, path: Path) -> Capture:
        """Return the same capture with another file."""
        return Capture(path, points=self.points, snap=self.snap)


def read_snap(snap: str | Size) -> int | None:
    """Return how many bytes to keep of a packet; None for its headers."""
    if snap == HEADERS:
        return None
    if snap == FULL:
        return WHOLE
    try:
        return min(int(Size.parse(snap, "capture snap", minimum=MIN_SNAP_BYTES)), WHOLE)
    except ScenarioError as error:
        raise ScenarioError(f"{error}, `{HEADERS}` or `{FULL}`") from None


def as_capture(capture: Capture | str | Path | None) -> Capture | None:
    """Return a capture; for a path, one of the headers at every point."""
    if capture is None or isinstance(capture, Capture):
        return capture
    return Capture(capture)


def pending_capture(directory: Path) -> Path:
    """Return where to write the capture of a run that will be saved in `directory`.

    It is outside, because a directory holds a complete run or none, and a capture is useful even if
    the run is interrupted.
    """
    return directory.with_name(f"{directory.name}.{CAPTURE}")


def link_or_copy(source: Path, target: Path) -> None:
    """Hard-link a file, or copy it if the file system has no hard links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
