"""What the analysis of a run's capture says is what the engine itself recorded."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import dumbbell
from dumbbell import Analysis, Run
from tests.python.judges.captures import SIMULATED, Captured, build

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


@pytest.mark.parametrize("name", list(SIMULATED))
def test_packets_are_the_simulator_s_own(captured, name):
    capture, analysis = captured(name)
    run = capture.run
    for flow, row in flows_with_rows(run, analysis, "sender"):
        who = f"flow {flow['flow']}"
        assert row["data_pkts"] == flow["sent_pkts"], who
        assert row["retransmitted_pkts"] == flow["retransmitted_pkts"], who
        assert row["tlp_pkts"] == flow["tlp_count"], who
        assert (row["rto_retransmitted_pkts"] > 0) == (flow["rto_count"] > 0), who
        assert row["spurious_retransmitted_pkts"] == flow["spurious_retransmits"], who
        assert row["out_of_order_pkts"] == 0, who
    for flow, row in flows_with_rows(run, analysis, "receiver"):
        who = f"flow {flow['flow']}"
        assert row["data_pkts"] == flow["arrived_pkts"], who
        assert row["unique_bytes"] >= flow["received_bytes"], who


@pytest.mark.parametrize("name", list(SIMULATED))
def test_drops_are_the_simulator_s_own(captured, name):
    capture, analysis = captured(name)
    run = capture.run
    entered = rows_at(analysis, "bottleneck-in")
    left = rows_at(analysis, "bottleneck-out")
    link = run.summary["bottleneck"]
    assert sum(row["dropped_pkts"] for row in entered) == link["dropped_pkts"]
    assert sum(row["pkts"] for row in entered) == link["offered_pkts"]
    assert sum(row["pkts"] for row in left) == link["forwarded_pkts"]
    by_port = {(row["source"], row["source_port"]): row["dropped_pkts"] for row in entered}
    for flow, row in flows_with_rows(run, analysis, "sender"):
        assert by_port[row["source"], row["source_port"]] == flow["dropped_pkts"]


@pytest.mark.parametrize("name", list(SIMULATED))
def test_matching_finds_the_simulator_s_drops_and_delays(captured, name):
    capture, _ = captured(name)
    link = capture.run.summary["bottleneck"]
    match = dumbbell.match_captures(capture.path)
    rows = match.connections.to_pylist()
    still_there = link["left_pkts"]
    assert sum(row["only_after_pkts"] + row["reordered_pkts"] for row in rows) == 0
    assert sum(row["matched_pkts"] for row in rows) == link["forwarded_pkts"]
    assert sum(row["dropped_pkts"] for row in rows) == link["dropped_pkts"] + still_there
