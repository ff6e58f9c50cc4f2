"""One run: execute it, read it, save it, load it."""

from dumbbell.run.execution import Control, execute, run
from dumbbell.run.run import SCHEMA_VERSION, Run

__all__ = ["SCHEMA_VERSION", "Control", "Run", "execute", "run"]
