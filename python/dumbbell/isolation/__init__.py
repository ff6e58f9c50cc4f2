"""Foreign congestion controls: each runs in a process of its own, confined, which may crash.

A congestion control given by a file is unchecked code. It may loop forever, write through a wild
pointer or try to read the user's files. Then only its run ends, with an error that says what it
did. The built-in ones run in the caller's process.

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
| `printable` | text of a congestion control, escaped |
| `sandbox` | whether foreign code is confined, and what a missing piece means |
"""
