"""A flow alone on a link fills it, or the verdict says that it does not."""

import pytest

import dumbbell
from dumbbell import Scenario


def run_alone(cc: str, rate: str, rtt: str, buffer: str, time: str = "10s") -> dumbbell.Run:
    """Run one flow; marked, if it needs that, above half the buffer."""
    threshold = halved(rate, rtt, buffer) if cc in ("dctcp", "prague") else None
    scenario = Scenario(
        [cc], rate=rate, rtt=rtt, buffer=buffer, time=time, sample="0s", ecn_threshold=threshold
    )
    return dumbbell.run(scenario)


def halved(rate: str, rtt: str, buffer: str) -> str:
    """Return half the buffer in bytes."""
    scenario = Scenario(["reno"], rate=rate, rtt=rtt, buffer=buffer)
    return f"{scenario.link_queue.amount(scenario.link_queue.limit, 'bytes') // 2}B"


def used(run: dumbbell.Run) -> float:
    """Return the used share of the link."""
    return float(run.summary["bottleneck"]["utilization"])


def test_l3dr_fills_a_link_whose_bdp_is_less_than_a_burst():
    """As with many bursts per BDP: all of it but PROBE_RTT and what kappa takes, 0.036/0.5."""
    run = run_alone("l3dr", "100mbit", "1ms", "10bdp")
    assert used(run) > 0.9
    assert run.verdict.status == "OK"


def test_l3dr_in_a_buffer_smaller_than_a_burst():
    """Bounded by 0.7 after a loss, cwnd is 0.7 to 1 of what fits into path and buffer.

    These are 2 BDP, so it is never below a BDP.
    """
    run = run_alone("l3dr", "100mbit", "1ms", "1bdp")
    assert used(run) > 0.9
    bottleneck = run.summary["bottleneck"]
    # A burst loses a packet or two when cwnd has grown by one or two too many, and a cycle of
    # growth from 0.7 to 1 of 2 BDP, 17 packets, takes 5 round trips of 17 packets.
    assert bottleneck["dropped_pkts"] / bottleneck["offered_pkts"] < 4 / (5 * 17)
    assert run.verdict.status == "OK"


def test_random_losses_do_not_make_l3dr_small():
    """Its bound is never below a BDP, which fills a link but for what is lost and sent again."""
    scenario = Scenario(["l3dr"], rate="50mbit", rtt="40ms", buffer="2bdp", loss="1%", time="30s")
    run = dumbbell.run(scenario)
    assert used(run) > 0.75
    assert run.verdict.status == "OK"


@pytest.mark.parametrize("buffer", ["10bdp", "100pkt"])
def test_l3dr_on_a_path_shorter_than_a_packet(buffer):
    """Two packets per round trip of b + 2, at a BDP of b = 0.83: docs/notes/l3dr.md."""
    run = run_alone("l3dr", "100mbit", "100us", buffer)
    assert used(run) > 2 / (0.83 + 2) - 0.01
    assert run.verdict.status == "OK"


@pytest.mark.parametrize("rtt", ["100us", "1ms"])
def test_l3dr_does_not_take_its_own_packets_for_a_queue(rtt):
    """A packet takes 12 ms here: two per round trip, b + 2 at b = 0.08, are the whole link."""
    assert used(run_alone("l3dr", "1mbit", rtt, "20pkt")) > 0.8
    assert used(run_alone("l3dr:least_pkts=0", "1mbit", rtt, "20pkt")) < 0.5


#: Built-in algorithm, path: a part of docs/notes/fidelity.md's grid, with what its table lists.
PATHS = [
    ("1mbit", "1ms", "3028B"),
    ("10mbit", "10ms", "1bdp"),
    ("10mbit", "100us", "3028B"),
    ("100mbit", "1ms", "0.5bdp"),
    ("100mbit", "10ms", "4bdp"),
    ("100mbit", "100ms", "1bdp"),
    ("1gbit", "100us", "0.5bdp"),
    ("1gbit", "1ms", "1bdp"),
]


@pytest.mark.parametrize("path", PATHS, ids="-".join)
@pytest.mark.parametrize("cc", dumbbell.congestion_controls())
def test_a_lone_flow_uses_half_of_the_link_or_the_verdict_warns(cc, path):
    rate, rtt, buffer = path
    run = run_alone(cc, rate, rtt, buffer, time="5s")
    checks = {reason.check for reason in run.verdict.reasons}
    assert (used(run) < 0.5) == ("unused" in checks)
    bottleneck = run.summary["bottleneck"]
    dropped = bottleneck["dropped_pkts"] / bottleneck["offered_pkts"]
    assert (dropped > 0.2) == ("drops" in checks)
    limited_us = run.summary["flows"][0]["rwnd_limited_us"]
    assert (limited_us > 50_000) == ("rwnd" in checks), "1 % of 5 s"
    assert checks <= {"unused", "drops", "rwnd"}
    assert "rwnd" not in checks or cc == "copa", "only Copa starts far beyond its path"


def test_bbr_in_a_buffer_smaller_than_a_burst_is_a_warning():
    run = run_alone("bbr", "100mbit", "1ms", "0.5bdp")
    assert used(run) < 0.5
    assert [reason.check for reason in run.verdict.reasons] == ["drops", "unused"]
    # Linux 6.12 in virtual time: 20 to 22 of 100 Mbit/s, headers included.
    assert "20.67 of 100 Mbit/s" in str(run.verdict.reasons[1])


def test_copa_in_a_small_buffer_is_a_warning():
    run = dumbbell.run(
        [dumbbell.Group("copa", 8)], rate="100mbit", rtt="10ms", buffer="0.1bdp", time="5s",
        sample="0s",
    )  # fmt: skip
    assert "drops" in {reason.check for reason in run.verdict.reasons}
