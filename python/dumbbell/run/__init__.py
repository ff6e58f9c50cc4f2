"""One run: execute it, read it, save it, load it."""

from dumbbell.run.run import SCHEMA_VERSION, Control, Run, execute, run

__all__ = ["SCHEMA_VERSION", "Control", "Run", "execute", "run"]
