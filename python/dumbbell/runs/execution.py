"""The keywords of every function that executes many runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from dumbbell.runs.cache import Cache
from dumbbell.runs.progress import Progress

__all__ = ["Execution"]


class Execution(TypedDict, total=False):
    """How many runs are executed.

    Attributes
    ----------
    engine
        ``simulator`` or ``kernel``.
    jobs
        Runs at a time; they change no result of the simulator. The default is the machine's cores,
        and 1 on the kernel, where simultaneous runs share the cores.
    cache
        Where runs are found again and kept: a `Cache`, a directory, or True for the user's; None
        for the user's with the simulator alone; False for none.
    on_progress
        Called several times a second, in the caller's thread.
    """

    engine: str
    jobs: int | None
    cache: Cache | str | Path | bool | None
    on_progress: Callable[[Progress], None] | None
