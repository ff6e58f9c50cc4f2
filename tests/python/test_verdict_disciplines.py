"""Verdicts know queue disciplines and impairments: no correct run is INVALID, faults are found."""

import copy
import functools
from collections.abc import Mapping
from typing import Any

import pytest

from dumbbell import Group, Link, Run, Scenario, run
from dumbbell.run.verdict import INVALID, evaluate
from dumbbell.scenario.element import Element, impairments, queue_disciplines

#: Values of parameters that must be set, by their unit.
VALUES = {
    "ppb": "1%",
    "ns": "5ms",
    "bytes": "30kB",
    "bps": "15mbit",
    "count": "3",
    "pkts": "64pkt",
    "amount": "20pkt",
}
#: What needs one of several parameters, or others than those values.
EXAMPLES = {
    "step": "step:limit=64pkt,threshold=20pkt",
    "gilbert_elliott": "gilbert_elliott:loss=0.5%,burst=4",
    "loss_state": "loss_state:p13=0.5%,p31=70%,p32=30%",
    "every": "every:n=200",
    "listed": "listed:packets=3;50;51",
    "bursts": "bursts:rate=0.3%",
    "outage": "outage:off=20ms,on=1s,at=1s",
    "jitter": "jitter:normal=2ms,reorder=on",
    "reorder": "reorder:probability=1%,late=3ms",
}
#: What the queue answers for; the others are of hosts and of the machine.
OF_QUEUES = {"conservation", "rate", "order", "queue_delay"}


def text_of(element: Element) -> str:
    """Write an element with what must be set of it."""
    if element.name in EXAMPLES:
        return EXAMPLES[element.name]
    needed = [each for each in element.parameters.values() if each.must_be_set]
    values = ",".join(f"{each.name}={VALUES[each.unit]}" for each in needed)
    return f"{element.name}:{values}" if values else element.name


@functools.cache
def short_run(cc: str, queue: str, impair: str = "") -> Run:
    """Two flows and BBR, which does not care, over a link that is full after a second."""
    return run(
        Scenario([Group(cc, 2), "bbr"], rate="20mbit", rtt="20ms", time="3s",
                 queue=queue or None, impair=impair)
    )  # fmt: skip


def test_acks_that_cake_filters_are_not_drops_of_a_queue_that_is_too_full() -> None:
    links = [
        Link("down", rate="50mbit", delay="10ms"),
        Link("up", rate="500kbit", delay="10ms", queue="cake:ack_filter=aggressive"),
    ]
    filtered = run(Scenario([Group("cubic", route=["down"], back=["up"])], links=links, time="5s"))
    up = filtered.link("up")
    assert up["dropped_pkts"] > 0.2 * up["offered_pkts"]
    assert "drops" not in {reason.check for reason in filtered.verdict.reasons}


@pytest.mark.parametrize("cc", ["cubic", "dctcp"])
@pytest.mark.parametrize("name", queue_disciplines())
def test_no_run_of_a_queue_discipline_is_invalid(name, cc):
    """`dctcp` always enables ECN; `cubic` does not here."""
    result = short_run(cc, text_of(queue_disciplines()[name]))
    assert result.verdict.status != INVALID, result.verdict.reasons
    assert result.link("bottleneck")["forwarded_pkts"] > 1000


@pytest.mark.parametrize("name", impairments())
def test_no_run_of_an_impairment_is_invalid(name):
    result = short_run("cubic", "", text_of(impairments()[name]))
    assert result.verdict.status != INVALID, result.verdict.reasons


def with_fault(result: Run, link: Mapping[str, Any], flow: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's summary in which the link and the first flow counted something else."""
    summary = copy.deepcopy(dict(result.summary))
    for each in (summary["bottleneck"], *summary["links"]):
        each |= link
    summary["flows"][0] |= flow
    return summary


def checks(result: Run, summary: Mapping[str, Any]) -> set[str]:
    reasons = evaluate(result.scenario, summary).reasons
    return {reason.check for reason in reasons if reason.status == INVALID}


@pytest.mark.parametrize("name", queue_disciplines())
def test_a_rate_that_is_two_per_cent_off_is_found(name):
    result = short_run("cubic", text_of(queue_disciplines()[name]))
    right = result.link("bottleneck")["forwarded_bytes"]
    for factor in (0.98, 1.02):
        fault = with_fault(result, {"forwarded_bytes": round(right * factor)}, {})
        assert checks(result, fault) == {"rate"}


@pytest.mark.parametrize("name", sorted(set(queue_disciplines()) - {"cake"}))
def test_a_queue_that_reorders_within_a_flow_is_found(name):
    result = short_run("cubic", text_of(queue_disciplines()[name]))
    assert "reordered_pkts" not in result.link("bottleneck")
    assert checks(result, with_fault(result, {"reordered_pkts": 1}, {})) == {"order"}


def test_a_packet_uses_no_more_of_a_medium_than_it_offers():
    """Most packets of 1.2 ms are on the wire while the rate changes."""
    scenario = Scenario(["cubic"], rate="10mbit", rtt="20ms", time="5s", buffer="8bdp",
                        impair="mmwave:sight=1ms,block=1ms,block_share=100%")  # fmt: skip
    result = run(scenario)
    assert result.verdict.status != INVALID, result.verdict.reasons
    link = result.link("bottleneck")
    assert 0.5 < link["utilization"] <= 1 + 3 * 1514 / link["capacity_bytes"]


@pytest.mark.parametrize("impair", ["docsis", "docsis:burst=1MB"])
def test_a_cable_modem_starts_with_a_full_bucket(impair):
    result = run(
        Scenario(["cubic"], rate="1mbit", rtt="20ms", time="3s", buffer="1MB", impair=impair)
    )
    assert result.verdict.status != INVALID, result.verdict.reasons
    link = result.link("bottleneck")
    saved_up = link["saved_up_bytes"]
    assert saved_up == (1_000_000 if "burst" in impair else 20 * 1522)
    fault = with_fault(result, {"forwarded_bytes": 375_000 + saved_up + 5_000}, {})
    assert checks(result, fault) == {"rate"}


def test_many_flows_of_cake_are_not_invalid():
    """Some of 900 flows find all eight queues of their set taken; one then takes another's."""
    result = run(
        Scenario([Group("cubic", 900)], rate="400mbit", rtt="20ms", time="1s", queue="cake")
    )
    assert result.verdict.status != INVALID, result.verdict.reasons
    assert "reordered_pkts" not in result.link("bottleneck")


@pytest.mark.parametrize("queue", ["codel:ecn=on", "fq_codel", "dualpi2"])
def test_a_lost_mark_is_found(queue):
    result = short_run("dctcp", queue)
    flow = result.summary["flows"][0]
    assert flow["marked_pkts"] > 10
    # DualPI2 drops CUBIC's and BBR's packets, and in overload those of ECN, too.
    excused = flow["on_path_pkts"] + flow["dropped_pkts"]
    assert excused < flow["marked_pkts"]
    arrived = flow["marked_pkts"] - excused - 1
    assert checks(result, with_fault(result, {}, {"ce_arrived_pkts": arrived})) == {"conservation"}
    more = flow["marked_pkts"] + 1
    assert checks(result, with_fault(result, {}, {"ce_arrived_pkts": more})) == {"conservation"}


@pytest.mark.kernel
@pytest.mark.parametrize("queue", ["codel:ecn=on", "fq_codel", "dualpi2"])
def test_the_queue_is_right_on_the_kernel(queue):
    scenario = Scenario(["linux/cubic", "linux/reno"], rate="10mbit", queue=queue, time="2s")
    result = run(scenario, engine="kernel")
    wrong = {each.check for each in result.verdict.reasons if each.status == INVALID}
    assert not wrong & OF_QUEUES, result.verdict.reasons
    assert result.link("bottleneck").statistics
