"""`copa@calm`: Copa that does not send many times what a link carries into a small buffer."""

from __future__ import annotations

from typing import Any

import pytest

from dumbbell import Group, Run, Scenario, run


def eight(cc: str, rate: str, rtt: str) -> Run:
    return run(Scenario([Group(cc, 8)], rate=rate, rtt=rtt, buffer="0.1bdp", time="20s"))


def dropped(outcome: Run) -> float:
    link = outcome.bottleneck
    return float(link["dropped_pkts"] / (link["dropped_pkts"] + link["forwarded_pkts"]))


@pytest.mark.parametrize(("rate", "rtt"), [("100mbit", "10ms"), ("50mbit", "40ms")])
def test_losses_cut_the_window_where_the_delay_cannot(rate: str, rtt: str) -> None:
    plain, calm = (eight(cc, rate, rtt) for cc in ("copa", "copa@calm"))
    assert dropped(plain) > 0.4
    assert dropped(calm) < 0.15
    assert calm.bottleneck["utilization"] > 0.85


def test_few_losses_cut_nothing() -> None:
    """Beside CUBIC, which overruns a larger buffer by a few packets, its share stays."""
    words: dict[str, Any] = {"rate": "50mbit", "rtt": "40ms", "buffer": "2bdp", "time": "30s"}
    shares = []
    for cut_pct in (0, 2, 100):
        spelled = f"copa@calm:loss_cut_pct={cut_pct}"
        shares.append(run(Scenario([spelled, "cubic"], **words)).groups[0]["share"])
    off, calm, never = shares
    assert off == never
    assert calm > 0.7 * off
