"""Networks: the dumbbell is the simplest, and the order of a file changes nothing."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from dumbbell import Group, Link, Scenario, run

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def results(scenario: Scenario) -> tuple[Any, Any]:
    """Return all that a run measured."""
    outcome = run(scenario)
    return outcome.summary, {name: table.to_pydict() for name, table in outcome.tables.items()}


@pytest.mark.parametrize("delay", [None, "20ms"])
def test_one_link_is_the_dumbbell_to_the_bit(delay: str | None) -> None:
    dumbbell = Scenario(
        ["cubic", Group("reno", 2, rtt="80ms")],
        rate="20mbit",
        buffer="2bdp",
        loss="0.1%",
        time="5s",
        seed=3,
    )
    link = Link(
        "bottleneck", rate="20mbit", buffer=f"{2 * dumbbell.bdp_bytes}B", loss="0.1%", delay=delay
    )
    groups = [Group("cubic"), Group("reno", 2, rtt="80ms", route=["bottleneck"])]
    lot = Scenario(groups, links=[link], time="5s", seed=3)
    assert results(lot) == results(dumbbell)


def parking_lot(links: list[Link], groups: list[Group]) -> Scenario:
    return Scenario(groups, links=links, time="5s")


def test_the_order_of_the_links_changes_nothing() -> None:
    links = [
        Link(name, rate=rate, delay="2ms", loss="0.01%")
        for name, rate in (("a", "20mbit"), ("b", "10mbit"), ("c", "30mbit"))
    ]
    groups = [
        Group("cubic", route=["a", "b", "c"]),
        Group("reno", 2, route=["c", "a"], back=["b"]),
    ]
    forwards = parking_lot(links, groups)
    assert results(forwards) == results(parking_lot(links[::-1], groups))
    assert results(forwards) == results(parking_lot([links[1], links[2], links[0]], groups))


def test_a_faster_link_behind_changes_only_the_delay() -> None:
    """Packets a link of ten times the rate passes on do not wait."""
    core = Link("core", rate="10mbit", delay="5ms")
    alone = parking_lot([core], [Group("reno", route=["core"])])
    behind = Link("behind", rate="100mbit", delay="0ms", buffer="100pkt")
    both = parking_lot([core, behind], [Group("reno", route=["core", "behind"])])
    runs = run(alone), run(both)
    behind_it = runs[1]
    assert behind_it.link("behind")["queue_delay_max_us"] == 0
    assert behind_it.link("behind")["dropped_pkts"] == 0
    goodputs = [result.summary["flows"][0]["goodput_bps"] for result in runs]
    assert goodputs[1] == pytest.approx(goodputs[0], rel=0.01)


def test_the_examples_show_what_they_say() -> None:
    lot = Scenario.from_toml(SCENARIOS / "parking-lot.toml")
    long, *cross = run(lot).groups
    # Below minimum potential delay's 1 / (1 + √3) of a link: its RTT has all three queues.
    assert long["share"] < 0.6 * min(group["share"] for group in cross)

    access = Scenario.from_toml(SCENARIOS / "asymmetric-access.toml")
    down, up = access.links
    fair = access.replace(links=[down, dataclasses.replace(up, queue="fq_codel")])
    drop_tail, fq_codel = (run(each).groups[0]["goodput_bps"] for each in (access, fair))
    assert drop_tail < 0.7 * fq_codel
    assert fq_codel > 0.9 * 20e6 * 1448 / 1514

    incast = Scenario.from_toml(SCENARIOS / "incast.toml")
    dctcp = incast.replace(
        groups=[Group("dctcp", 32, size="256kB", jitter="0s", route=["port"])],
        links=[Link("port", rate="1gbit", buffer="128kB", ecn_threshold="20pkt")],
    )
    of_cubic, of_dctcp = (run(each).summary["flows"] for each in (incast, dctcp))
    assert sum(flow["rto_count"] for flow in of_cubic) > 0
    assert sum(flow["rto_count"] for flow in of_dctcp) == 0
    last_us = [max(flow["end_us"] for flow in flows) for flows in (of_cubic, of_dctcp)]
    assert last_us[0] > 2 * last_us[1]
