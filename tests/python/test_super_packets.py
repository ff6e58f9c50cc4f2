"""Bursts that stay super-packets, and the links of the papers' apparatus, in the simulator."""

from __future__ import annotations

from typing import Any

import pytest

import dumbbell
from dumbbell import Group, Scenario
from dumbbell.metrics import Warmup, measure
from dumbbell.run.verdict import INVALID


def run(*ccs: str, gso: bool = True, **fields: Any) -> dumbbell.Run:
    """Run flows for 20 s at 50 Mbit/s and 40 ms."""
    groups = [Group(cc, gso=gso) for cc in ccs]
    return dumbbell.run(Scenario(groups, **{"time": "20s", **fields}))


@pytest.mark.parametrize(
    "path",
    [
        {"buffer": "83pkt"},
        {"buffer": "0.5bdp"},
        {"queue": "tbf:rate=45mbit,burst=3kB,limit=250kB"},
        {"queue": "fq_codel"},
        {"queue": "dualpi2"},
        {"queue": "cake"},
        {"buffer": "83pkt", "impair": "tclink_htb"},
        {"buffer": "83pkt", "impair": "tclink_tbf:burst=3kB"},
        {"queue": "dummynet:limit=100kB", "impair": "dummynet_pipe"},
        {"buffer": "1bdp", "impair": "random_loss:loss=0.1%+duplicate:probability=1%"},
    ],
    ids=str,
)
def test_no_run_of_super_packets_is_invalid(path):
    result = run("copa", "cubic", **path)
    assert result.verdict.status != INVALID, result.verdict.reasons
    assert result.link("bottleneck")["utilization"] > 0.4


def test_a_limit_of_packets_holds_more_segments_and_an_ack_answers_each_super_packet():
    whole, cut = (run("cubic", gso=gso, buffer="83pkt") for gso in (True, False))
    held = [result.link("bottleneck")["backlog_max_bytes"] / 1514 for result in (whole, cut)]
    assert held[1] == pytest.approx(83, abs=1)
    assert held[0] > 3 * held[1]
    assert max(whole.queue["backlog_pkts"].to_pylist()) <= 83, "of the queue's packets"


def test_the_drop_rate_after_a_warm_up_counts_segments():
    result = run("cubic", buffer="83pkt", time="40s")
    cuts = (None, Warmup.parse("1s"))
    whole, later = (measure(result, warmup=cut)[0]["drop_rate"] for cut in cuts)
    link = result.link("bottleneck")
    assert whole == pytest.approx(link["dropped_pkts"] / link["offered_pkts"])
    assert later is not None
    assert 0 < later < 2 * whole


@pytest.mark.parametrize(
    ("limit", "delay_in_queue", "waits_ms"),
    [("167pkt", "on", 20.2), ("167pkt", "off", 40.4), ("333pkt", "on", 60.4)],
)
def test_a_limit_that_counts_delayed_packets_leaves_less_for_waiting(
    limit, delay_in_queue, waits_ms
):
    """CUBIC fills what room there is: limit less 20 ms at 50 Mbit/s, 82.6 packets."""
    impair = f"tclink_htb:delay_in_queue={delay_in_queue}"
    result = run("cubic", gso=False, buffer=limit, impair=impair)
    link, flow = result.link("bottleneck"), result.summary["flows"][0]
    assert link["queue_delay_max_us"] / 1000 == pytest.approx(waits_ms, abs=1)
    assert flow["rtt_min_us"] / 1000 == pytest.approx(40, abs=0.6)
    assert flow["rtt_max_us"] / 1000 == pytest.approx(40 + waits_ms, abs=2)


def test_a_pipe_of_dummynet_carries_ip_packets_at_ticks():
    """50 kB of IP packets are 34 packets with one over, 40.8 ms; the rate is of 1500 bytes."""
    result = run("cubic", gso=False, rate="10mbit", queue="dummynet:limit=50kB",
                 impair="dummynet_pipe")  # fmt: skip
    link, flow = result.link("bottleneck"), result.summary["flows"][0]
    assert link["backlog_max_bytes"] == 34 * 1514
    assert flow["rtt_min_us"] == pytest.approx(40_000, abs=2_100)
    assert link["utilization"] == pytest.approx(1, abs=0.01)
    assert flow["goodput_bps"] < 10e6 * 1448 / 1500


def test_a_router_gets_segments_from_senders_that_keep_super_packets():
    """dummynet's limit in bytes holds as much of them: nothing is counted for a super-packet."""
    path = {"rate": "10mbit", "queue": "dummynet:limit=50kB", "impair": "dummynet_pipe"}
    links = [run("cubic", gso=gso, **path).link("bottleneck") for gso in (True, False)]
    assert [link["backlog_max_bytes"] for link in links] == [34 * 1514, 34 * 1514]
    alone = run("cubic", gso=True, rate="10mbit", buffer="50kB", impair="dummynet_pipe")
    assert alone.verdict.status != INVALID, alone.verdict.reasons
