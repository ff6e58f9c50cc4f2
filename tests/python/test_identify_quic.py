"""QUIC in `dumbbell identify`: the spin bit, and what is seen without it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dumbbell
from dumbbell.identify import DatagramFlow, datagram_flows_in, datagram_trace_of
from dumbbell.identify.datagram_trace import levelled
from dumbbell.identify.grid import Grid
from dumbbell.identify.spin import spin_rtt_s

PATH: dict[str, Any] = {"rate": "33mbit", "rtt": "52ms", "buffer": "0.8bdp", "time": "30s"}


def captured(path: Path, cc: str, fields: Mapping[str, Any]) -> tuple[dumbbell.Run, DatagramFlow]:
    """Run a QUIC flow, and return its run and what a capture at its sender shows."""
    run = dumbbell.run([cc], capture=dumbbell.Capture(path, points=["sender"]), **fields)
    (flow,) = datagram_flows_in(path)
    return run, flow


@pytest.fixture(scope="module")
def reno(tmp_path_factory: pytest.TempPathFactory) -> tuple[dumbbell.Run, DatagramFlow]:
    path = tmp_path_factory.mktemp("quic") / "reno.pcapng"
    # RFC 9000 §17.4: one connection in eight does not spin; with this seed it does.
    return captured(path, "quic/quinn:reno", {**PATH, "seed": 3})


def test_the_spin_bit_shows_rtt_and_what_is_in_flight(reno):
    run, flow = reno
    trace = datagram_trace_of(flow.row, flow.bins)
    assert trace is not None
    assert not trace.is_estimated
    group = run.groups[0]
    assert trace.inflight_pkts.mean() == pytest.approx(group["inflight_mean_pkts"], rel=0.04)
    assert 1e6 * trace.rtt_s.mean() == pytest.approx(group["rtt_mean_us"], rel=0.03)
    assert trace.base_rtt_s == pytest.approx(0.052, rel=0.02)


def test_without_it_packets_in_flight_are_an_estimate(reno):
    _, flow = reno
    trace = datagram_trace_of(flow.row, flow.bins, uses_spin=False)
    assert trace is not None
    assert trace.is_estimated


def test_a_drift_that_differs_from_that_between_two_early_losses_is_taken_off():
    # 30 s of 50 ms; packets in flight are 100, and less for a moment after 10 and 20 s.
    time_s = np.arange(600) * 0.05
    flight = np.where((time_s % 10 < 0.4) & (time_s > 5), 20.0, 100.0)
    drift = np.where(time_s < 3, -60.0 * time_s, -180.0 + 40.0 * (time_s - 3))
    lost = np.zeros(600)
    lost[[20, 50]] = 1
    found = levelled(flight + drift, lost, 80.0, 0.05, 2)
    steady = found[100:]
    usual = np.median(steady)
    # Extrapolated, it would be 2,700 packets off at the end.
    assert np.abs(steady[flight[100:] == 100] - usual).max() < 60
    assert steady[flight[100:] == 20].max() < usual - 40


def grid_with(rtts_ms: np.ndarray) -> Grid:
    """A flow with one sample of the spin bit in each bin of 50 ms; NaN for none."""
    count = len(rtts_ms)
    bins = {
        "time_us": np.arange(count) * 50_000.0,
        "bin_us": np.full(count, 50_000.0),
        "data_pkts": np.ones(count),
        "spin_rtt_us": rtts_ms * 1e3,
    }
    grid = Grid.of(bins, "data_pkts")
    assert grid is not None
    return grid


def test_a_bit_that_is_constant_or_random_shows_no_rtt():
    assert spin_rtt_s(grid_with(np.full(200, np.nan)), 0.04) is None
    # Greased (RFC 9000 §17.4): it changes with every second packet.
    assert spin_rtt_s(grid_with(np.full(200, 1.5)), 0.04) is None
    found = spin_rtt_s(grid_with(np.full(200, 45.0)), 0.04)
    assert found is not None
    assert np.median(found) == pytest.approx(0.045)


def test_reordered_changes_are_left_out():
    rtts_ms = np.full(200, 45.0)
    rtts_ms[20] = 0.3
    found = spin_rtt_s(grid_with(rtts_ms), 0.04)
    assert found is not None
    assert found.min() > 0.039


def test_a_flow_that_the_receivers_window_holds_gets_no_name(tmp_path):
    capture = tmp_path / "held.pcapng"
    # It holds 1.25 MB; path and buffer hold 1.5 MB.
    fields = {"rate": "80mbit", "rtt": "75ms", "buffer": "1bdp", "time": "30s", "seed": 3}
    captured(capture, "quic/quinn:cubic", fields)
    (each,) = dumbbell.identify(capture).connections
    assert each.verdict == "no answer"
    assert each.hindrance is not None
    assert each.hindrance.name == "window_limited"
    assert "flow-control windows" in each.hindrance.advice
