"""The analysis of a run's capture agrees with the engine's own record."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dumbbell
from dumbbell import Analysis, Run
from tests.python.oracles.captures import KERNEL_CASES, SIMULATED, Captured, build
from tests.python.oracles.programs import needs

pytestmark = pytest.mark.slow

FIRST_PORT = 10_000
Row = dict[str, Any]


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    """Build each capture once."""

    @functools.cache
    def of(name: str) -> tuple[Captured, Analysis]:
        capture = build(name, tmp_path_factory.mktemp(name))
        return capture, dumbbell.analyze(capture.path)

    return of


def rows_at(analysis: Analysis, point: str, *, data: bool = True) -> list[Row]:
    """The rows of a point, by port: in the order of the group's flows."""
    rows: list[Row] = analysis.connections.to_pylist()
    rows = [row for row in rows if row["point"] == point and row["is_initiator"] == data]
    return sorted(rows, key=lambda row: (row["source"], min(row["source_port"], 10**6)))


def flows_with_rows(run: Run, analysis: Analysis, side: str) -> list[tuple[Row, Row]]:
    """Each flow of the run's summary, and its data's row at a point of its group."""
    pairs = []
    for group in range(len(run.scenario.groups)):
        flows = [flow for flow in run.summary["flows"] if flow["group"] == group]
        rows = {row["source_port"]: row for row in rows_at(analysis, f"{side}-{group}")}
        pairs += [(flow, rows[FIRST_PORT + index]) for index, flow in enumerate(flows)]
    return pairs


SIMULATED_NAMES = list(SIMULATED)
KERNEL_NAMES = [
    pytest.param(name, marks=[pytest.mark.kernel, needs("tshark")]) for name in KERNEL_CASES
]


@pytest.mark.parametrize("name", SIMULATED_NAMES)
def test_packets_are_the_simulator_s_own(captured, name):
    capture, analysis = captured(name)
    for flow, row in flows_with_rows(capture.run, analysis, "sender"):
        who = f"flow {flow['flow']}"
        assert row["data_pkts"] == flow["sent_pkts"], who
        assert row["retransmitted_pkts"] == flow["retransmitted_pkts"], who
        assert row["spurious_retransmitted_pkts"] == flow["spurious_retransmits"], who
        assert row["syn_count"] == 1 + flow["syn_retransmits"], who
        assert row["out_of_order_pkts"] == 0, who
        assert row["fin_count"] >= flow["finished"], who
        # A probe may be of new data, which looks like any other; so the two are not equal.
        assert row["tlp_pkts"] <= flow["tlp_count"], who
    for flow, row in flows_with_rows(capture.run, analysis, "receiver"):
        who = f"flow {flow['flow']}"
        assert row["data_pkts"] == flow["arrived_pkts"], who
        assert row["retransmitted_pkts"] == flow["duplicate_pkts"], who
        # What waits behind a hole at the end has arrived and is not the application's yet.
        assert row["unique_bytes"] >= flow["received_bytes"], who
        if flow["finished"]:
            assert row["unique_bytes"] == flow["received_bytes"], who


@pytest.mark.parametrize("name", SIMULATED_NAMES)
def test_timeouts_are_nearly_the_simulator_s_own(captured, name):
    """A capture guesses them from when something was sent again: one in ten is wrong at most."""
    capture, analysis = captured(name)
    pairs = [
        (row["rto_count"], flow["rto_count"])
        for flow, row in flows_with_rows(capture.run, analysis, "sender")
    ]
    ours, theirs = (sum(column) for column in zip(*pairs, strict=True))
    assert abs(ours - theirs) <= theirs / 10


@pytest.mark.parametrize("name", SIMULATED_NAMES)
def test_drops_are_the_simulator_s_own(captured, name):
    capture, analysis = captured(name)
    entered = rows_at(analysis, "bottleneck-in")
    left = rows_at(analysis, "bottleneck-out")
    link = capture.run.summary["bottleneck"]
    assert sum(row["dropped_pkts"] for row in entered) == link["dropped_pkts"]
    assert sum(row["pkts"] for row in entered) == link["offered_pkts"]
    assert sum(row["pkts"] for row in left) == link["forwarded_pkts"]
    by_sender = {(row["source"], row["source_port"]): row for row in entered}
    for flow, row in flows_with_rows(capture.run, analysis, "sender"):
        seen = by_sender[row["source"], row["source_port"]]
        # A flow's own count is of data; its SYN, FIN or ACK may be dropped too.
        extra = seen["dropped_pkts"] - flow["dropped_pkts"]
        assert 0 <= extra <= seen["pkts"] - seen["data_pkts"]


@pytest.mark.parametrize("name", SIMULATED_NAMES)
def test_matching_finds_the_simulator_s_drops_and_delays(captured, name):
    capture, _ = captured(name)
    link = capture.run.summary["bottleneck"]
    match = dumbbell.match_captures(capture.path)
    rows = match.connections.to_pylist()
    assert sum(row["only_after_pkts"] + row["reordered_pkts"] for row in rows) == 0
    assert sum(row["matched_pkts"] for row in rows) == link["forwarded_pkts"]
    lost = sum(row["dropped_pkts"] for row in rows)
    waiting = sum(row["undecided_pkts"] for row in rows)
    assert lost + waiting == link["dropped_pkts"] + link["left_pkts"]
    # Of those that entered last, whether they were dropped is not to be seen.
    assert lost <= link["dropped_pkts"] <= lost + waiting
    # From arrival to the last bit: the wait in the queue and the packet's own time on the link.
    delay_us = match.packets["delay_us"].drop_null().to_numpy()
    own_us = 1514 * 8e6 / link["link_rate_bps"]
    assert delay_us.mean() == pytest.approx(link["queue_delay_mean_us"] + own_us, rel=0.02)
    assert delay_us.max() == pytest.approx(link["queue_delay_max_us"] + own_us, abs=own_us)


def left_behind(rows: pa.Table) -> list[float]:
    """Return when the packets arrived that are still in a link at the end: the last ones."""
    arrived: list[float] = rows.filter(pc.equal(rows["event"], "enqueue"))["time_us"].to_pylist()
    return arrived[len(arrived) - rows["backlog_pkts"][-1].as_py() :]


@pytest.mark.parametrize("name", SIMULATED_NAMES)
def test_the_packet_log_has_each_packet_of_the_link(captured, name):
    capture, _ = captured(name)
    link = capture.run.summary["bottleneck"]
    log = dumbbell.packet_log(capture.path)
    (seen,) = (row for row in log.to_dict()["links"] if row["link"] == "bottleneck")
    assert seen["dequeue_count"] == link["forwarded_pkts"]
    assert seen["drop_count"] == link["dropped_pkts"]
    rows = log.events.filter(pc.equal(log.events["link"], "bottleneck"))
    refused = rows.filter(pc.and_(pc.equal(rows["event"], "drop"), pc.is_null(rows["in_link_us"])))
    assert seen["enqueue_count"] + refused.num_rows == link["offered_pkts"]
    assert rows["backlog_pkts"][-1].as_py() == link["left_pkts"]
    own_us = 1514 * 8e6 / link["link_rate_bps"]
    sent = rows.filter(pc.equal(rows["event"], "dequeue"))
    in_link_us = sent["in_link_us"].to_numpy()
    assert in_link_us.mean() == pytest.approx(link["queue_delay_mean_us"] + own_us, rel=0.02)
    # Little's law: each packet counts while it is there.
    times_us, backlog_pkts = rows["time_us"].to_numpy(), rows["backlog_pkts"].to_numpy()
    there_us = pc.sum(rows["in_link_us"]).as_py() + sum(
        times_us[-1] - entered_us for entered_us in left_behind(rows)
    )
    assert np.sum(backlog_pkts[:-1] * np.diff(times_us)) == pytest.approx(there_us, rel=1e-6)
    assert log.reading["unmatched_pkts"] == 0


@pytest.mark.parametrize("name", SIMULATED_NAMES)
def test_rtt_and_inflight_are_what_the_sender_s_point_can_see(captured, name):
    capture, analysis = captured(name)
    for flow, row in flows_with_rows(capture.run, analysis, "sender"):
        who = f"flow {flow['flow']}"
        # The sender takes samples of SACKed packets too, and of retransmissions by timestamps;
        # the capture's are fewer, and none is of anything that was sent twice.
        quiet = flow["retransmitted_pkts"] == 0
        near = 1e-4 if quiet else 0.3 if name == "sized" else 0.15
        for which in ("min", "mean", "max"):
            # Where a third of the packets is sent twice, timestamps give twice as many samples.
            kind = "rtt_ts" if name == "timeouts" and which == "mean" else "rtt"
            ours, own = row[f"{kind}_{which}_us"], flow[f"rtt_{which}_us"]
            if which == "min" and not quiet:  # of fewer samples: no smaller
                # With timeouts, or as short as a transfer, a flow has few of them, and none may be
                # near the smallest.
                has_few = name in ("timeouts", "sized")
                most = row["rtt_mean_us"] if has_few else own * (1 + near)
                assert own * (1 - 1e-4) <= ours <= most, f"{who} {which}"
                continue
            assert ours == pytest.approx(own, rel=near), f"{who} {which}"
        # The engine's average begins with the SYN, ours with the data.
        lifetime_us = flow["end_us"] - flow["start_us"]
        share = (row["duration_us"] - row["rtt_handshake_us"]) / lifetime_us
        if share < 0.9 and flow["rto_count"] > 1:
            continue  # it waits for a timeout at the end, which a capture of packets does not show
        mss = row["largest_segment_bytes"]
        ours = share * row["inflight_mean_bytes"] / mss
        assert ours == pytest.approx(flow["outstanding_mean_pkts"], rel=0.005 if quiet else 0.08)
        ours = share * row["inflight_sack_mean_bytes"] / mss
        # What the sender has declared lost is still under way to who looks on: of a window of three
        # packets, as 128 flows have here, part of one.
        near, own = 0.005 if quiet else 0.08, flow["inflight_mean_pkts"]
        apart_pkts = 0.3 if name == "128-flows" and not quiet else 0.0
        assert ours == pytest.approx(own, rel=near, abs=apart_pkts), who


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_packets_are_the_kernel_engine_s_own(captured, name):
    """Its relay counts packets, the socket's TCP_INFO retransmissions."""
    capture, analysis = captured(name)
    for flow, row in flows_with_rows(capture.run, analysis, "sender"):
        who = f"flow {flow['flow']}"
        assert row["data_pkts"] == flow["sent_pkts"], who
        assert row["retransmitted_pkts"] == flow["retransmitted_pkts"], who
        # The capture's include the handshake's, when the queue was empty.
        assert 0.99 * flow["base_rtt_us"] <= row["rtt_min_us"] <= 1.01 * flow["rtt_min_us"], who
        assert row["rtt_mean_us"] == pytest.approx(flow["rtt_mean_us"], rel=0.1), who
    for flow, row in flows_with_rows(capture.run, analysis, "receiver"):
        assert row["data_pkts"] == flow["arrived_pkts"], f"flow {flow['flow']}"
    entered = rows_at(analysis, "bottleneck-in")
    link = capture.run.summary["bottleneck"]
    assert sum(row["dropped_pkts"] for row in entered) == link["dropped_pkts"]
    assert sum(row["pkts"] for row in entered) == link["offered_pkts"]
