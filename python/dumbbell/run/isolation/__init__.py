"""Runs of foreign congestion controls: each in a process of its own, which it may take with it.

A congestion control given by a file is C that nobody has checked. It may loop for ever, write
through a wild pointer or divide by zero; then its run ends with an error that says in which
function and flow, and nothing else ends. The built-in ones run in this process.

| file | what |
|---|---|
| `foreign_run` | what `run.execute` calls: asks for a process, follows it, words what it says |
| `server` | a process without threads that has loaded the engine and forks one process per run |
| `worker` | what such a process does: the run, a watchdog, the answer |
| `crash` | a signal, a stuck function or a death in words |
"""

from dumbbell.run.isolation.foreign_run import execute_isolated, is_foreign

__all__ = ["execute_isolated", "is_foreign"]
