"""Foreign CCAs: each runs in a process of its own, confined, which may crash.

A congestion control algorithm given by a file is unchecked code. It may loop forever, write through
a wild pointer or try to read the user's files. Then only its run ends, with an error that says what
it did. The built-in ones run in the caller's process.

| file | purpose |
|---|---|
| `server` | has loaded the engine, has one thread, and forks a process per request |
| `worker` | runs in such a process: confinement, the run or description, the answer |
| `python_files` | what a confined congestion control in Python may read and import |
| `protocol` | frames on the sockets between them |
| `server_link` | starts the server and hands it requests |
| `foreign_process` | one process, seen from the parent: its answers, its end, its watchdog |
| `stall_clock` | time that a process spends without progress |
| `crash` | messages for what ended a process |
| `sandbox` | whether foreign code is confined, and what a missing piece means |

No constructor, `module_init` or top level of a user's file runs in the caller's process; describing
a file also takes a process. A server without threads that has loaded the engine compiles the file,
confined, and forks one process per request. That process confines itself (`crates/cc/src/sandbox`)
before it reads or runs anything.

The parent trusts only the server and the kernel: that the process exists (a pidfd), that it has
ended, and how. Answers are frames with length and checksum, bounded and checked value by value.
Tables come back as plain columns in a file in memory, which the parent seals and reads once the
process is dead. Messages and names are escaped where they arrive.

Two watchdogs look for time without progress. One, in the process, knows the function and counts CPU
time. One, in the parent, cannot be stopped and counts sleep too, but not time that a loaded or
suspended machine does not give.

`tests/hostile` has a file for each thing that must be withstood; `tests/python/cell.py` runs a
sweep over them in namespaces of its own, where it finds every effect. docs/security.md says what is
promised.
"""
