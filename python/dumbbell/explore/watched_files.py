"""The files of a scenario's own algorithms, to notice when one is saved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from dumbbell.base.errors import DumbbellError
from dumbbell.congestion_control.isolation.source_files import source_files
from dumbbell.scenario import Scenario

__all__ = ["changes_of_files"]

#: How often files are looked at, s: a tenth of what a saved file may take to be drawn.
LOOK_S = 0.1

State = tuple[tuple[str, int, int], ...]


def state_of(scenario: Scenario) -> State:
    """Return when each file of a scenario was last changed, and its size."""
    files: set[Path] = set()
    for group in scenario.groups:
        if group.cc.is_file:
            files.add(group.cc.file)
            with suppress(DumbbellError):  # an editor is replacing it
                files.update(source_files(group.cc.file))
    found = []
    for file in sorted(files):
        with suppress(OSError):
            status = file.stat()
            found.append((str(file), status.st_mtime_ns, status.st_size))
    return tuple(found)


def changes_of_files(
    shown: Callable[[], Scenario | None], is_over: Callable[[], bool]
) -> Iterator[bool]:
    """Yield at each look whether a file of what is shown has changed.

    Parameters
    ----------
    shown
        Returns the scenario whose files count.
    is_over
        Whether to stop.
    """
    before: State | None = None
    scenario: Scenario | None = None
    while not is_over():
        now = shown()
        state = state_of(now) if now is not None else ()
        # A file that is not there is being replaced, and comes back.
        is_changed = now is scenario and before is not None and state not in (before, ())
        if now is not scenario or state:
            scenario, before = now, state
        yield is_changed
        time.sleep(LOOK_S)
