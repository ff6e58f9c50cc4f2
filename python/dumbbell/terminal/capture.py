"""`--capture`: the captures of the runs that a command saves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from dumbbell.base.errors import DumbbellError, ScenarioError
from dumbbell.run import Run
from dumbbell.run.capture import CAPTURE, CAPTURE_POINTS, HEADERS, Capture, pending_capture
from dumbbell.terminal.help import rare
from dumbbell.terminal.options import OUTPUT

__all__ = [
    "CaptureOptions",
    "Captures",
    "save_with_capture",
    "tidying",
]

CaptureFlag = Annotated[
    bool,
    typer.Option(
        "--capture",
        help=f"Capture packets, to {CAPTURE} in DIR.",
        rich_help_panel=OUTPUT,
    ),
]
CapturePoints = Annotated[
    str | None,
    typer.Option(
        "--capture-points",
        metavar="POINT,…",
        help=f"Where to capture: {', '.join(CAPTURE_POINTS)}.",
        rich_help_panel=rare(OUTPUT),
        show_default="everywhere",
    ),
]
CaptureSnap = Annotated[
    str | None,
    typer.Option(
        "--capture-snap",
        metavar="headers|full|SIZE",
        help="How much of a packet to keep, like `96B`.",
        rich_help_panel=rare(OUTPUT),
        show_default="headers",
    ),
]


class CaptureOptions(NamedTuple):
    """The options `--capture`, `--capture-points` and `--capture-snap`."""

    capture: CaptureFlag = False
    capture_points: CapturePoints = None
    capture_snap: CaptureSnap = None

    def captures(self, out_dir: Path | None) -> Captures | None:
        """Read the options; None if nothing is captured."""
        points, snap = self.capture_points, self.capture_snap
        if not self.capture:
            for option, value in (("--capture-points", points), ("--capture-snap", snap)):
                if value is not None:
                    raise ScenarioError(f"`{option}` has no effect without `--capture`")
            return None
        if out_dir is None:
            raise ScenarioError("`--capture` needs a directory to write to; use `--out DIR`")
        words = CAPTURE_POINTS if points is None else [word.strip() for word in points.split(",")]
        return Captures(Capture(CAPTURE, points=words, snap=HEADERS if snap is None else snap))


@dataclass(frozen=True)
class Captures:
    """The captures of runs, written next to the directories they end up in.

    A directory is saved whole or not at all, when its run is done; a capture grows with the run.
    """

    settings: Capture

    def of(self, directory: Path) -> Capture:
        """Return the capture of the run that will be saved in a directory."""
        directory.parent.mkdir(parents=True, exist_ok=True)
        return self.settings.at(pending_capture(directory))


def save_with_capture(run: Run, directory: Path, *, texts: bool) -> Path:
    """Save a run, and move its capture into the directory."""
    run.save(directory, texts=texts)
    if run.capture is not None:
        run.capture.unlink(missing_ok=True)
    return directory


@contextmanager
def tidying(directories: Iterable[Path]) -> Iterator[None]:
    """Remove the captures next to directories at the end, unless the user interrupts.

    By then the directories that were saved have their captures. The capture of a failed run is of
    no use; that of an interrupted run is.
    """
    pending = [pending_capture(directory) for directory in directories]
    try:
        yield
    except KeyboardInterrupt as interrupt:
        said = [str(interrupt)] if str(interrupt) else []
        left = [str(path) for path in pending if path.exists()]
        said += [f"captured so far: {', '.join(left)}"] if left else []
        raise KeyboardInterrupt("; ".join(said)) from None
    except DumbbellError:
        remove(pending)
        raise
    remove(pending)


def remove(paths: list[Path]) -> None:
    """Remove files that may exist."""
    for path in paths:
        path.unlink(missing_ok=True)
