"""What the live view shows, from looks at a path."""

from __future__ import annotations

from typing import Any

import pytest

import dumbbell
from dumbbell.live.history import WINDOW_S, History


def look(time_s: float, received: list[int], backlog_bytes: int = 0) -> dict[str, Any]:
    """Return what a path with two flows says of itself."""
    return {
        "time_s": time_s,
        "links": [
            {
                "name": "bottleneck", "rate_bps": 10_000_000, "forwarded_bytes": sum(received),
                "dropped_pkts": 3, "marked_pkts": 0, "backlog_bytes": backlog_bytes,
                "backlog_pkts": 0,
            }
        ],
        "flows": [
            {"flow": number, "arrived_bytes": count, "rtt_us": 40_000 * (number + 1)}
            for number, count in enumerate(received)
        ],
    }  # fmt: skip


@pytest.fixture
def history() -> History:
    return History(dumbbell.Scenario(["copa", "cubic"], rate="10mbit"))


def test_rates_are_those_of_the_last_half_second(history):
    for step in range(21):
        history.add(look(step / 10, [100_000 * step, 0]))
    assert history.rate["copa"].value[-1] == pytest.approx(8)
    assert history.rate["cubic"].value[-1] == 0
    for step in range(21, 40):
        history.add(look(step / 10, [2_000_000, 0]))
    assert history.rate["copa"].value[-1] == 0, "the flow has stopped"


def test_a_queue_is_the_time_that_it_takes_to_send(history):
    history.add(look(0.1, [0, 0], backlog_bytes=50_000))
    assert history.queue["bottleneck"].value[-1] == pytest.approx(40)
    assert history.rtt["cubic"].value[-1] == pytest.approx(80)
    assert "bottleneck: 3 dropped" in history.caption


def test_what_is_old_is_forgotten(history):
    for step in range(10 * int(WINDOW_S) + 50):
        history.add(look(step / 10, [step, step]))
    times = history.rate["copa"].time_s
    assert times[-1] - times[0] <= WINDOW_S
    assert len(times) == len(history.rate["copa"].value)
