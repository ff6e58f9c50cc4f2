"""Files as people have reported them about other tools, by the commands that read them.

`crates/capture/tests/field_reports.rs` and `crates/cc/tests/field_reports.rs` have the numbers.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import dumbbell
from dumbbell.cli.capture_warnings import match_trouble, trouble

REPORTS = Path(__file__).parents[1] / "data/field-reports"

#: What tunnels and link layers there are, by file.
ENCAPSULATED = ("6in4", "gre", "ipip", "mpls", "pppoe", "vlan")


@pytest.mark.parametrize("name", ENCAPSULATED)
def test_a_connection_in_a_tunnel_is_analysed_as_without(name: str) -> None:
    analysis = dumbbell.analyze(REPORTS / f"enc_{name}.pcap")
    row = analysis.row_of(0)
    assert (analysis.connection_count, row["unique_bytes"], row["rtt_count"]) == (1, 5000, 6)
    assert trouble(analysis.reading) == []


def test_what_is_not_read_is_named() -> None:
    reading = {
        "not_tcp": 3, "not_ip": 1, "unread": {"UDP": 1, "ESP": 2, "ARP": 1}, "interfaces": [],
    }  # fmt: skip
    assert trouble(reading) == [
        "not analysed: 1 neither IPv4 nor IPv6, 3 not TCP (ESP 2, UDP 1, ARP 1)"
    ]


def test_records_out_of_order_and_the_lines_of_a_tap_are_put_in_order() -> None:
    unsorted = dumbbell.analyze(REPORTS / "unsorted_directions_one_after_the_other.pcap")
    assert unsorted.row_of(0)["inflight_max_bytes"] == 4000
    tap = dumbbell.analyze(REPORTS / "tap_interface_per_direction.pcapng")
    assert (tap.points, tap.row_of(0)["rtt_count"]) == (["in+out"], 11)
    assert trouble(tap.reading) == [
        "note: in and out saw one direction each, as the lines of a tap: analysed as one point, "
        "in+out"
    ]


def test_both_sides_of_a_nat_are_matched() -> None:
    match = dumbbell.match_captures(REPORTS / "nat_before.pcap", REPORTS / "nat_after.pcap")
    row = match.connections.to_pylist()[0]
    assert (row["matched_pkts"], row["dropped_pkts"], row["only_after_pkts"]) == (20, 2, 0)
    assert any("NAT" in line for line in match_trouble(match.reading, is_one_file=False))


def test_captures_of_nothing_in_common_say_so() -> None:
    match = dumbbell.match_captures(REPORTS / "nat_before.pcap", REPORTS / "enc_6in4.pcap")
    lines = match_trouble(match.reading, is_one_file=False)
    assert any(line.startswith("nothing matches: ") for line in lines)


def test_a_burst_is_written_as_in_tc() -> None:
    scenario = dumbbell.Scenario(["cubic"], queue="tbf:rate=5mbit,burst=32kbit")
    assert scenario.resolve()["links"][0]["queue"]["burst_bytes"] == 4096


def test_a_buffer_of_nothing_says_at_which_rate(tmp_path: Path) -> None:
    slow = tmp_path / "slow.trace"
    slow.write_text("500000\n")
    with pytest.raises(dumbbell.ScenarioError, match="smaller than a packet, at 24bit and an RTT"):
        dumbbell.Scenario(["cubic"], trace=str(slow), buffer="1bdp")


def test_bursts_of_losses_may_last_a_time() -> None:
    dumbbell.run(dumbbell.Scenario(["cubic"], impair="gilbert_elliott:loss=1%,bad=50ms", time="2s"))
    with pytest.raises(dumbbell.ScenarioError, match="is a time"):
        dumbbell.Scenario(["cubic"], impair="gilbert_elliott:loss=1%,burst=5,bad=50ms")
