"""Impairments over the relay, counted with Linux's TCP.

What they cost is in test_exact_times.py, where no machine can make packets late.
"""

from __future__ import annotations

from math import sqrt

import pytest

import dumbbell
from dumbbell import Scenario

pytestmark = pytest.mark.kernel


def run(impair: str, time: str = "4s") -> dumbbell.Run:
    scenario = Scenario(
        ["linux/cubic"], rate="20mbit", rtt="40ms", time=time, buffer="64pkt", impair=impair
    )
    result = dumbbell.run(scenario, engine="kernel")
    flow = result.summary["flows"][0]
    sent = flow["sent_pkts"] + flow.get("duplicated_pkts", 0)
    assert sent == flow["dropped_pkts"] + flow["arrived_pkts"] + flow["on_path_pkts"]
    assert not [reason for reason in result.verdict.reasons if reason.check == "conservation"]
    assert flow["rtt_min_us"] >= 40_000
    return result


def test_bursts_are_lost_as_often_as_was_asked_for():
    result = run("gilbert_elliott:loss=2%,burst=3,place=behind")
    link = result.links[0]
    share = link["lost_behind_pkts"] / link["forwarded_pkts"]
    bursts = link["forwarded_pkts"] * 0.02 / 3
    # Lengths and gaps are geometric: a relative standard error of about sqrt(2 / bursts).
    assert share == pytest.approx(0.02, rel=4 * sqrt(2 / bursts))
    assert result.summary["flows"][0]["retransmitted_pkts"] >= link["lost_behind_pkts"] * 0.8


def test_copies_have_bytes_and_cost_no_goodput():
    """Linux discards a frame with a wrong checksum, so a copy that does not count is no copy."""
    result = run("duplicate:probability=5%")
    link, flow = result.links[0], result.summary["flows"][0]
    assert link["duplicated_pkts"] > 50
    assert flow["arrived_pkts"] > flow["sent_pkts"] - flow["dropped_pkts"] - flow["on_path_pkts"]
    # Each copy that arrived is reported (RFC 2883); Linux counts the reports.
    assert 0.9 * link["duplicated_pkts"] <= flow["spurious_retransmits"]
    assert flow["spurious_retransmits"] <= link["duplicated_pkts"] + flow["retransmitted_pkts"]


@pytest.mark.parametrize("reorder", ["", ",reorder=on"])
def test_jitter_loses_nothing(reorder):
    result = run("jitter:uniform=2ms,delay=2ms" + reorder)
    link, flow = result.links[0], result.summary["flows"][0]
    assert flow["received_bytes"] > 100_000
    assert flow["dropped_pkts"] == link["dropped_pkts"]
