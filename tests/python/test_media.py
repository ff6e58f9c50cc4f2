"""Links whose packets a trace or another medium carries, in the simulator."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dumbbell
from dumbbell import Group, Link, Scenario
from dumbbell.base.errors import ScenarioError
from dumbbell.scenario.element import media
from dumbbell.scenario.trace import OPPORTUNITY_BYTES, Trace, read_trace
from dumbbell.scenario.trace_generators import GENERATORS

DOCS = Path(__file__).parents[2] / "docs"
MEDIA = list(media())


def run(*ccs: str, **fields: Any) -> dumbbell.Run:
    """Run flows for 20 s."""
    return dumbbell.run(Scenario(list(ccs), **{"time": "20s", **fields}))


def two_way(down: str, up: str, **fields: Any) -> dumbbell.Run:
    """Run a download whose ACKs cross a link of their own."""
    links = [Link("down", rate="50mbit", impair=down), Link("up", rate="50mbit", impair=up)]
    group = Group("cubic", route=["down"], back=["up"])
    return dumbbell.run(Scenario([group], **{"time": "20s", **fields}, links=links))


def link(result: dumbbell.Run, name: str = "bottleneck") -> dict[str, Any]:
    """Return the summary of a link."""
    return next(each for each in result.summary["links"] if each["name"] == name)


@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize("cc", ["cubic", "bbr"])
def test_no_correct_run_over_a_medium_is_invalid(medium, cc):
    result = run(cc, cc, impair=medium, rate="20mbit")
    assert result.verdict.status != "INVALID", result.verdict
    summary = link(result)
    assert summary["medium"] == medium
    accounted = summary["forwarded_pkts"] + summary["dropped_pkts"] + summary["left_pkts"]
    assert summary["offered_pkts"] == accounted
    assert 0.1 < summary["utilization"] <= 1.001


@pytest.mark.parametrize("medium", MEDIA)
def test_a_run_over_a_medium_depends_on_its_seed_alone(medium):
    digests = [
        run("cubic", impair=medium, rate="20mbit", seed=seed, time="5s").summary["links"]
        for seed in (1, 1, 2)
    ]
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]


def test_a_trace_of_one_line_is_a_link_of_12_mbit():
    """1504 bytes each ms are 12.032 Mbit/s, on a wire or in a trace."""
    trace = run("cubic", trace="constant:rate=12.032mbit", buffer="64pkt")
    # 1504 bytes of IP are 1518 on a wire.
    wire = run("cubic", rate="12144kbit", buffer="64pkt")
    ours, theirs = (result.summary["flows"][0]["goodput_bps"] for result in (trace, wire))
    assert ours == pytest.approx(theirs, rel=0.01)
    assert int(trace.scenario.rate) == 12_032_000


def test_no_window_delivers_more_than_the_trace_offers():
    """What leaves fits in the opportunities of a window, both ends included, and one packet."""
    text = "cellular:rate=6mbit,length=30s"
    result = run("bbr", trace=text, sample="10ms")
    trace = Trace.parse(text)
    times_ms = np.repeat(np.cumsum([gap for gap, _ in trace.runs]),
                         [count for _, count in trace.runs])  # fmt: skip
    queue = result.queue
    time_ms = np.asarray(queue["time_us"]) / 1000
    sent_bytes = 1500 * np.asarray(queue["forwarded_pkts"])
    first, last = (np.searchsorted(times_ms, time_ms, side=side) for side in ("left", "right"))
    for window in (1, 10, 100):
        sent = sent_bytes[window:] - sent_bytes[:-window]
        offered = OPPORTUNITY_BYTES * (last[window:] - first[:-window])
        assert (sent <= offered + 1500).all(), window
    assert sent_bytes[-1] > 0.5 * OPPORTUNITY_BYTES * last[-1], "and it is used"


def test_cubic_fills_slots_of_4_ms_with_a_buffer_of_a_bdp():
    assert link(run("cubic", impair="slot:min=4ms", time="60s"))["utilization"] >= 0.95


def test_acks_on_the_same_channel_take_airtime_of_the_data():
    """On a channel of their own the ACKs cost nothing; on the same one they wait for the data."""
    own, shared = two_way("wifi", "wifi:channel=1"), two_way("wifi", "wifi")
    goodputs = [result.summary["flows"][0]["goodput_bps"] for result in (own, shared)]
    assert goodputs[1] < 0.98 * goodputs[0]
    assert all(result.verdict.status != "INVALID" for result in (own, shared))


def test_each_station_on_a_channel_takes_a_turn():
    """With n other stations of 3 ms each, a turn of ours is one of n + 1."""
    goodputs = [
        run("cubic", impair=f"wifi:stations={n}", rate="100mbit", rtt="20ms", buffer="2bdp")
        .summary["flows"][0]["goodput_bps"]
        for n in (0, 2)
    ]  # fmt: skip
    # A full aggregate of 65 kB takes 5.36 ms; 0.1 ms of access each.
    alone, among = 5.36 + 0.11, 5.36 + 0.11 + 2 * 3.1
    assert goodputs[1] / goodputs[0] == pytest.approx(alone / among, rel=0.1)


def test_bbr_beats_cubic_over_changing_satellites():
    """Huston, APNIC 2024: losses where slots meet cost CUBIC most of what BBR gets."""
    runs = {cc: run(cc, impair="starlink", rate="100mbit", time="60s") for cc in ("cubic", "bbr")}
    goodput = {cc: result.summary["flows"][0]["goodput_bps"] for cc, result in runs.items()}
    assert goodput["bbr"] > 1.5 * goodput["cubic"]


def test_a_deep_buffer_bloats_while_a_millimetre_wave_is_blocked():
    """Zhang et al., "Will TCP work in mmWave 5G cellular networks?": by seconds, in 7 MB."""
    shallow, deep = (
        link(run("cubic", impair="mmwave", rate="500mbit", rtt="20ms", buffer=buffer, time="40s"))
        for buffer in ("1bdp", "7MB")
    )
    assert deep["queue_delay_max_us"] > 1_000_000 > deep["queue_delay_p50_us"]
    assert deep["queue_delay_max_us"] > 2 * shallow["queue_delay_max_us"]


@pytest.mark.parametrize("k", [0.5, 1, 2, 4])
def test_a_narrow_way_back_limits_a_download_to_one_over_k(k):
    """RFC 3449 §3.1: where ACKs need k times their link, the data get about 1/max(1, k) of theirs.

    With an ACK each two packets, k is half the ratio of rates over that of sizes. The uplink's
    buffer is deep enough not to lose ACKs.
    """
    ack_bytes, data_bytes = 66, 1514
    up_bps = round(20e6 * ack_bytes / data_bytes / 2 / k)
    links = [
        Link("down", rate="20mbit", buffer="2bdp"),
        Link("up", rate=f"{up_bps}bit", buffer="1000pkt"),
    ]
    group = Group("cubic", route=["down"], back=["up"], rwnd="2MB")
    result = dumbbell.run(Scenario([group], links=links, time="60s"))
    expected = 1 / max(1, k)
    assert link(result, "down")["utilization"] == pytest.approx(expected, rel=0.12)


@pytest.mark.parametrize("name", GENERATORS)
def test_generated_traces_are_the_same_again_and_have_their_rate(name):
    trace = Trace.parse(name)
    assert trace == Trace.parse(str(trace))
    assert trace.runs == Trace.parse(str(trace)).runs
    expected = {"constant": 12e6, "poisson": 3e6, "cellular": 5e6, "steps": 7.5e6,
                "handover": 20e6 * 14.5 / 15, "markov": 10.5e6}[name]  # fmt: skip
    # Ten stays of 5 s on average: their share of high ones is known to some 16 %.
    tolerance = 0.35 if name == "markov" else 0.02
    assert int(trace.rate) == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize(
    ("rates", "begun"), [("12mbit;0mbit", "0bit;12mbit"), ("12mbit;0bit;0bit", "0bit;0bit;12mbit")]
)
def test_steps_that_end_with_a_pause_are_refused(rates, begun):
    with pytest.raises(ScenarioError, match=re.escape(f"use `rates={begun}`")):
        Trace.parse(f"steps:rates={rates},every=1s")
    # What is proposed has its pause: 12 Mbit/s in the last second only.
    trace = Trace.parse(f"steps:rates={begun},every=1s")
    assert trace.length_ms == 1000 * len(begun.split(";"))
    assert trace.runs[0][0] > 1000 * begun.count("0bit;")


def test_a_result_has_the_times_and_names_no_file(tmp_path):
    path = tmp_path / "lte.down"
    path.write_text("0\n3\n3\n4\n5\n")
    scenario = Scenario(["cubic"], trace=str(path))
    assert str(scenario.links[0].trace) == "ms:runs=0x1;3x2;1x1*2"
    words = scenario.to_dict()
    assert "lte.down" not in str(words)
    path.unlink()
    assert Scenario.from_dict(words) == scenario
    medium = scenario.resolve()["links"][0]["medium"]
    assert medium["opportunities"] == [[0, 1], [3, 2], [1, 1], [1, 1]]
    # Five in 5 ms.
    assert int(scenario.rate) == OPPORTUNITY_BYTES * 8 * 1000
    assert "trace" not in Scenario(["cubic"]).to_dict()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the trace ends at 0 ms"),
        ("0\n0\n", "ends at 0 ms"),
        ("1\n\n2\n", "x.down:2: `` is not a whole number of ms"),
        ("1\n2.5\n", "x.down:2: `2.5` is not a whole number"),
        ("5\n-1\n", "x.down:2: `-1` is not"),
        ("5\n4\n", "x.down:2: 4 ms is before the line above it, 5 ms"),
        ("9" * 40, "x.down:1: "),
    ],
)
def test_a_wrong_trace_is_refused_with_its_line(tmp_path, text, says):
    path = tmp_path / "x.down"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=re.escape(says)):
        read_trace(path)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"impair": "wifi+slot"}, "`wifi` and `slot` are media, and a link has one"),
        ({"impair": "wifi", "trace": "poisson"}, "cannot have `wifi` as well"),
        ({"impair": "wifi", "rate_steps": "5s:10mbit"}, "cannot be combined"),
        ({"trace": "nowhere.down"}, "nowhere.down: no such file, and not one of `constant`"),
        ({"trace": "poisson:rate=3mbit,rate=4mbit"}, "sets `rate` twice"),
        ({"trace": "poisson:mean=3mbit"}, "`poisson` has no parameter `mean`"),
        ({"trace": "ms:runs=5y1"}, "`runs` has `5y1`"),
        ({"trace": "constant:once=maybe"}, "`once` is `maybe`"),
        ({"impair": "wifi:mpdus=0"}, "out of range"),
        ({"impair": "slot:max=1ms"}, "`max` of `slot` is 1ms, less than `min`, 4ms"),
        ({"impair": "docsis:wait_max=1"}, "`wait_max` of `docsis` is 1, less than `wait_min`, 2"),
        ({"impair": "starlink:stop_min=1s"}, "`stop_max` of `starlink` is 200ms, less than"),
        ({"impair": "tclink_htb", "queue": "codel"}, "`tclink_htb` has to know it before"),
        (
            {"impair": "tclink_tbf", "ecn_threshold": "20pkt"},
            "the queue `step` of `bottleneck` chooses the next packet only",
        ),
    ],
)
def test_media_that_cannot_be_are_refused(fields, says):
    with pytest.raises(ScenarioError, match=re.escape(says)):
        Scenario(["cubic"], **fields)


def test_media_stand_among_impairments_in_files(tmp_path):
    path = tmp_path / "wifi.toml"
    path.write_text(
        '[[link]]\nname = "down"\nrate = "50mbit"\nimpair = ["random_loss:loss=1%", "wifi"]\n'
        '[[group]]\ncc = "cubic"\nroute = ["down"]\n'
    )
    resolved = Scenario.from_toml(path).resolve()["links"][0]
    assert [each["kind"] for each in resolved["impairments"]] == ["random_loss"]
    assert resolved["medium"]["kind"] == "wifi"


@pytest.mark.parametrize("interval_ms", [20, 40])
def test_bbr_needs_its_allowance_for_aggregation(interval_ms):
    """Without extra_acked its cwnd, 2 BDP, is less than what slots longer than the RTT carry."""
    fields = {"impair": f"slot:min={interval_ms}ms", "rate": "48mbit", "rtt": "10ms"}
    goodput = {
        cc: run(cc, buffer="8bdp", **fields).summary["flows"][0]["goodput_bps"]
        for cc in ("bbr", "bbr:extra_acked_gain=0", "bbr3", "cubic")
    }
    assert goodput["bbr:extra_acked_gain=0"] < 0.8 * goodput["bbr"]
    assert min(goodput["bbr"], goodput["bbr3"]) > 0.85 * goodput["cubic"]


def test_over_a_cellular_trace_loss_fills_the_buffer_and_copa_keeps_it_short():
    """Winstein et al., NSDI 2013, and Arun and Balakrishnan, NSDI 2018: which has the longer delay.

    Of CUBIC, BBR and Copa, in a buffer without end, the delay falls by far in this order, the
    throughput by little.
    """
    flows = {
        cc: run(cc, trace="cellular:rate=6mbit", buffer="100000pkt", time="60s").summary["flows"][0]
        for cc in ("cubic", "bbr", "copa")
    }
    delay_us = {cc: flow["rtt_p95_us"] for cc, flow in flows.items()}
    assert delay_us["cubic"] > 5 * delay_us["bbr"]
    assert delay_us["bbr"] > 1.5 * delay_us["copa"]
    assert flows["copa"]["goodput_bps"] > 0.85 * flows["cubic"]["goodput_bps"]
