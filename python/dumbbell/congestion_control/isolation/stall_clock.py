"""How long a process has not advanced, without the time in which it could not."""

from __future__ import annotations

import os
import time
from pathlib import Path

__all__ = ["StallClock"]

#: Longer gaps between two looks mean that the looking process did not run either: it was stopped,
#: or the machine slept or is overloaded.
LOOK_S = 0.5
#: A process that has not advanced for less than this is not looked at.
GRACE_S = 1.0
#: States of /proc/PID/stat in which a process waits by its own doing: it sleeps or is stopped, or
#: its main thread has ended and others have not (Z). Not one that waits for a CPU (R) or a disk
#: (D).
WAITING = frozenset("STtZ")


class StallClock:
    """Counts the time in which a process neither advances nor is kept from it.

    While it computes, its CPU time counts; while it sleeps or is stopped, the time on the wall. So
    a run on a loaded machine, or over a laptop's sleep, is not taken for one that hangs.

    Parameters
    ----------
    pid
        The process.
    """

    def __init__(self, pid: int) -> None:
        self.stat = Path(f"/proc/{pid}/stat")
        self.advanced()

    def advanced(self) -> None:
        """Start again, because the process has advanced."""
        self.stalled_s = 0.0
        self.cpu_s = 0.0
        self.is_stopped = False
        self.since_s = self.looked_s = time.monotonic()
        self.cpu_looked_s: float | None = None

    def look(self) -> float:
        """Return how long it has been stalled, s; call it at least twice a second."""
        now_s = time.monotonic()
        passed_s, self.looked_s = min(now_s - self.looked_s, LOOK_S), now_s
        if now_s - self.since_s < GRACE_S:
            return 0.0
        try:
            state, cpu_s = read_state(self.stat)
        except (OSError, ValueError):
            return self.stalled_s  # it has just ended
        computed_s = 0.0 if self.cpu_looked_s is None else cpu_s - self.cpu_looked_s
        self.cpu_looked_s = cpu_s
        self.cpu_s += computed_s
        self.is_stopped = state in "Tt"
        self.stalled_s += max(computed_s, passed_s if state in WAITING else 0.0)
        return self.stalled_s


def read_state(stat: Path) -> tuple[str, float]:
    """Return the state of a process's main thread, and the process's CPU time."""
    # The name of the program is in brackets and may have any character.
    fields = stat.read_bytes().rpartition(b")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return fields[0].decode("ascii", "replace"), ticks / os.sysconf("SC_CLK_TCK")
