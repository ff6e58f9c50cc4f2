"""`--up-rate` and the like, and `--upload`: the way back in one command."""

import json
from typing import Any

import pytest

from dumbbell import Group, Link, Scenario, ScenarioError, run
from dumbbell.scenario.fields import fields_of
from dumbbell.terminal.scenario_options import base_of_axes, base_scenario, single_values
from dumbbell.terminal.up_link import UP_FIELDS


def scenario_of(*what: str, uploads: tuple[str, ...] = (), **fields: str) -> Scenario:
    return base_scenario(list(what), single_values(fields, "run"), uploads=uploads)


def test_options_say_what_the_file_of_an_access_line_says():
    by_options = scenario_of(
        "cubic", uploads=("reno",), rate="20mbit", buffer="2bdp", time="10s",
        up_rate="1mbit", up_queue="fq_codel:target=10ms", up_delay="5ms",
    )  # fmt: skip
    by_hand = Scenario(
        [
            Group("cubic", route=["bottleneck"], back=["up"]),
            Group("reno", route=["up"], back=["bottleneck"]),
        ],
        links=[
            Link("bottleneck", rate="20mbit", buffer="2bdp"),
            Link("up", rate="1mbit", queue="fq_codel:target=10ms", delay="5ms"),
        ],
        time="10s",
    )
    assert by_options == by_hand
    assert Scenario.from_dict(by_options.to_dict()) == by_hand


def test_every_option_of_a_link_has_one_for_the_way_back():
    of_link = {name for name, field in fields_of(Link).items() if field.has_option}
    assert {name.removeprefix("up_") for name in UP_FIELDS} == of_link | {"delay"}
    assert all(field.option.startswith("--up-") for field in UP_FIELDS.values())


def test_a_group_in_either_direction_takes_a_value_of_its_own():
    found = scenario_of("cubic", uploads=("reno",), up_rate="5mbit", start="0s,3s")
    assert [str(group.start) for group in found.groups] == ["0s", "3s"]


def test_a_file_of_a_dumbbell_gets_a_way_back(tmp_path):
    file = tmp_path / "one.toml"
    file.write_text('rate = "8mbit"\nloss = "1%"\n[[group]]\ncc = "cubic"\n')
    found = scenario_of(str(file), up_rate="2mbit")
    assert [(link.name, str(link.rate), str(link.loss)) for link in found.links] == [
        ("bottleneck", "8mbit", "1%"),
        ("up", "2mbit", "0%"),
    ]
    assert found.groups[0].back == ("up",)


def test_the_acks_of_a_download_cross_the_way_back():
    wide, narrow = (
        run(scenario_of("cubic", rate="50mbit", up_rate=rate, up_buffer="64pkt", time="3s"))
        for rate in ("50mbit", "100kbit")
    )
    assert narrow.link("up")["utilization"] > 0.9 > wide.link("up")["utilization"]
    # The queue of ACKs adds to the RTT: an ACK takes 5 ms at 100 kbit/s.
    assert narrow.groups[0]["rtt_mean_us"] > wide.groups[0]["rtt_mean_us"] + 50_000


def limit_up(**fields: Any) -> Any:
    """Return how many packets the queue of the way back holds, if it counts them."""
    group = Group(route=["bottleneck"], back=["up"], **({"cc": "cubic"} | fields))
    links = [
        Link("bottleneck", rate="50mbit"),
        Link("up", rate="4mbit", queue="pfifo", buffer="20kB"),
    ]
    scenario = Scenario([group], links=links)
    return scenario.links[1].queue_in(scenario).to_engine()["limit_pkts"]


def test_a_limit_of_the_way_back_counts_the_packets_that_cross_it():
    acks = limit_up()
    assert acks == limit_up(traffic="rpc:preset=tcp_rr") == 20_000 // 94
    data = 20_000 // 1514
    assert data == limit_up(client="iperf3 -c server", cc="linux/cubic")
    assert data == limit_up(traffic="rpc:request=200kB")
    assert data == limit_up(traffic="rpc:request=pareto(1.2;1kB)") == limit_up(traffic="page")


def test_a_full_buffer_of_requests_is_no_fault():
    group = Group("cubic", route=["bottleneck"], back=["up"], traffic="rpc:request=200kB")
    links = [Link("bottleneck", rate="50mbit"), Link("up", rate="4mbit", buffer="1bdp")]
    assert run(Scenario([group], links=links, time="3s")).verdict.status == "OK"


@pytest.mark.parametrize(
    ("fields", "uploads", "message"),
    [
        ({"up_queue": "codel"}, (), "`--up-queue` needs the link of the way back: add `--up-rate"),
        ({}, ("cubic",), "`--upload` needs the link of the way back: add `--up-rate 10mbit`"),
        ({"up_rate": "1,2"}, (), "lists 2 values"),
        ({"up_rate": "5"}, (), "up_rate `5` has no unit"),
        ({"up_rate": "5mbit", "up_queue": "fq_codl"}, (), "did you mean `fq_codel`?"),
    ],
)
def test_what_cannot_be(fields, uploads, message):
    with pytest.raises(ScenarioError) as error:
        scenario_of("cubic", uploads=uploads, **fields)
    assert message in str(error.value)


def test_a_file_with_links_says_its_own(tmp_path):
    file = tmp_path / "two.toml"
    file.write_text(
        '[[link]]\nname = "down"\nrate = "8mbit"\n[[group]]\ncc = "cubic"\nroute = ["down"]\n'
    )
    with pytest.raises(ScenarioError, match=r"use `--set link\.down\.queue=…`"):
        scenario_of(str(file), up_queue="codel")


def test_a_trace_makes_the_link_too():
    found = scenario_of("cubic", up_trace="cellular:rate=6mbit,length=30s", up_buffer="64pkt")
    assert found.link("up").trace is not None
    assert str(found.link("bottleneck").rate) == "50mbit"


def test_a_setting_names_the_link_of_the_way_back():
    found = base_scenario(["cubic"], {"up_rate": "1mbit"}, ["link.up.buffer=64pkt"])
    assert str(found.link("up").buffer) == "64pkt"


def test_lists_are_axes_of_their_link():
    base, axes = base_of_axes(
        ["cubic"], {"time": "2s"}, {"queue": "codel,pie", "up_rate": "1mbit,2mbit"}
    )
    assert list(axes) == ["link.bottleneck.queue", "link.up.rate"]
    assert str(base.link("up").rate) == "1mbit"


def test_the_command_runs_and_sweeps_it(cli):
    words = ("cubic", "--upload", "reno", "--time", "1s", "--json", "--up-rate")
    result = json.loads(cli("run", *words, "2mbit", "--rate", "10mbit").out)
    assert [link["name"] for link in result["links"]] == ["bottleneck", "up"]
    cells = json.loads(cli("sweep", *words, "1mbit,2mbit", "--rate", "10mbit").out)
    assert [cell["point"] for cell in cells] == [
        {"link.up.rate": "1mbit"},
        {"link.up.rate": "2mbit"},
    ]
