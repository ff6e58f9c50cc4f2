"""A receive window that is not set has an end, which ends what might go on for ever."""

from __future__ import annotations

from typing import Any

import dumbbell
from dumbbell import Group, Run, Scenario

#: Four times what this path holds are 400 kB, so the window is 1 MiB.
WINDOW_PKTS = 2**20 // 1448


def copa(**words: Any) -> Run:
    """Run one Copa flow in a FQ-CoDel that drops its oldest packet in each round trip."""
    path: dict[str, Any] = {"rate": "50mbit", "rtt": "8ms", "buffer": "1bdp", "queue": "fq_codel"}
    return dumbbell.run(Scenario([Group("copa", **words)], time="5s", sample="1ms", **path))


def most_outstanding(run: Run) -> int:
    return int(max(run.flows["outstanding_pkts"].to_pylist()))


def test_a_recovery_in_which_the_same_packet_is_lost_over_and_over_ends_at_the_window() -> None:
    run = copa()
    assert WINDOW_PKTS / 2 < most_outstanding(run) <= WINDOW_PKTS + 1
    assert run.bottleneck["utilization"] > 0.9
    assert run.groups[0]["goodput_bps"] > 40e6


def test_a_window_that_is_set_is_not_reduced() -> None:
    run = copa(rwnd="1000MiB")
    assert most_outstanding(run) > 4 * WINDOW_PKTS
    assert run.groups[0]["goodput_bps"] < 2e6
