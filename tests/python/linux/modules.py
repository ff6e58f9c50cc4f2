"""How kernel modules behave in the simulator: alone, and against our `cubic`.

``python -m tests.python.linux.modules FILE ...`` prints a row of the table in
`docs/linux-congestion-controls.md` for each source, or what it misses.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import dumbbell
from dumbbell import Group, Scenario
from dumbbell.base.errors import DumbbellError

__all__ = ["Behaviour", "measure"]

#: Buffers in which a module shares the link with `cubic`.
BUFFERS = ("0.5bdp", "2bdp", "8bdp")


@dataclass(frozen=True)
class Behaviour:
    """What a congestion control does at 50 Mbit/s and 40 ms in 60 s.

    Attributes
    ----------
    goodput_mbps
        Of one flow in a buffer of 1 BDP, Mbit/s.
    queue_pkts
        The mean queue then, packets.
    share_pct
        Of two flows' goodput when the other is `cubic`, per cent, for each of `BUFFERS`.
    """

    goodput_mbps: float
    queue_pkts: float
    share_pct: tuple[float, ...]

    @property
    def in_a_row(self) -> str:
        """As cells of a table."""
        shares = " / ".join(f"{share:.0f}" for share in self.share_pct)
        return f"{self.goodput_mbps:.1f} | {self.queue_pkts:.0f} | {shares}"


def measure(cc: str) -> Behaviour:
    """Run a congestion control alone and against `cubic`."""
    alone = dumbbell.run(Scenario([cc]))
    shares = []
    for buffer in BUFFERS:
        run = dumbbell.run(Scenario([Group(cc), Group("cubic")], buffer=buffer))
        shares.append(100 * float(run.groups[0]["share"]))
    return Behaviour(
        float(alone.groups[0]["goodput_bps"]) / 1e6,
        float(alone.queue.to_pandas()["backlog_pkts"].mean()),
        tuple(shares),
    )


def main(files: list[str]) -> None:
    """Print a row for each file."""
    for file in files:
        try:
            row = measure(file).in_a_row
        except DumbbellError as error:
            row = str(error).splitlines()[0]
        print(f"| {file} | {row} |", flush=True)  # noqa: T201 -- what it is for


if __name__ == "__main__":
    main(sys.argv[1:])
