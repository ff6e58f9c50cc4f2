"""One run: do it, look at it, save it, load it."""

from dumbbell.run.run import SCHEMA_VERSION, Control, Run, execute, run

__all__ = ["SCHEMA_VERSION", "Control", "Run", "execute", "run"]
