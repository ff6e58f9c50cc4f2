"""Runs of foreign congestion controls: each in a process of its own, which may crash.

A congestion control given by a file is unchecked C. It may loop forever, write through a wild
pointer or divide by zero. Then only its run ends, with an error that names the function and the
flow. The built-in ones run in this process.

| file | purpose |
|---|---|
| `foreign_run` | called by `run.execute`: requests a process, follows it, reports its errors |
| `server` | a process without threads that has loaded the engine and forks one process per run |
| `worker` | runs in such a process: the run, a watchdog, the answer |
| `crash` | messages for a signal or a stuck function |
"""

from dumbbell.run.isolation.foreign_run import execute_isolated, is_foreign

__all__ = ["execute_isolated", "is_foreign"]
