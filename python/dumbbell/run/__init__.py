"""One run: `execution.py` executes it; `run.py` has the class that reads, saves and loads it."""

from dumbbell.run.capture import Capture, pending_capture
from dumbbell.run.engine import (
    KERNEL,
    SIMULATOR,
    UML,
    check_engine,
    check_for_kernel,
    engine_build,
)
from dumbbell.run.execution import Control, execute, run
from dumbbell.run.run import SCHEMA_VERSION, Run
from dumbbell.run.verdict import INVALID, worst

__all__ = [
    "INVALID",
    "KERNEL",
    "SCHEMA_VERSION",
    "SIMULATOR",
    "UML",
    "Capture",
    "Control",
    "Run",
    "check_engine",
    "check_for_kernel",
    "engine_build",
    "execute",
    "pending_capture",
    "run",
    "worst",
]
