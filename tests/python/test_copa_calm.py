"""Copa that does not send many times what a small buffer holds, and does not lock itself up."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc
import pytest

from dumbbell import Group, Run, Scenario, run


def eight(cc: str, rate: str, rtt: str) -> Run:
    return run(Scenario([Group(cc, 8)], rate=rate, rtt=rtt, buffer="0.1bdp", time="20s"))


def dropped(outcome: Run) -> float:
    link = outcome.bottleneck
    return float(link["dropped_pkts"] / (link["dropped_pkts"] + link["forwarded_pkts"]))


@pytest.mark.parametrize(("rate", "rtt"), [("100mbit", "10ms"), ("50mbit", "40ms")])
def test_losses_cut_the_window_where_the_delay_cannot(rate: str, rtt: str) -> None:
    plain, calm = (eight(cc, rate, rtt) for cc in ("copa", "copa@calm"))
    assert dropped(plain) > 0.4
    assert dropped(calm) < 0.15
    assert calm.bottleneck["utilization"] > 0.85


def test_few_losses_cut_nothing() -> None:
    """Beside CUBIC, which overruns a larger buffer by a few packets, its share stays."""
    words: dict[str, Any] = {"rate": "50mbit", "rtt": "40ms", "buffer": "2bdp", "time": "30s"}
    shares = []
    for cut_pct in (0, 2, 100):
        spelled = f"copa@calm:loss_cut_pct={cut_pct}"
        shares.append(run(Scenario([spelled, "cubic"], **words)).groups[0]["share"])
    off, calm, never = shares
    assert off == never
    assert calm > 0.7 * off


def many(cc: str) -> Run:
    words: dict[str, Any] = {"rate": "100mbit", "rtt": "40ms", "buffer": "8bdp", "time": "30s"}
    return run(Scenario([Group(cc, 64, jitter="1s")], **words, sample="100ms"))


def competing(outcome: Run) -> float:
    modes = outcome.state(0)["mode"].to_pylist()
    share: float = modes.count("competitive") / len(modes)
    return share


def test_many_flows_keep_a_short_queue_by_draining_it_together() -> None:
    calm, second, alone = (
        many(cc) for cc in ("copa@calm", "copa@calm-2", "copa@calm-2:drain_ms=0")
    )
    assert competing(calm) > 0.5
    assert competing(second) < 0.1
    queues = [each.bottleneck["queue_delay_mean_us"] for each in (calm, second, alone)]
    assert 4 * queues[1] < min(queues[0], queues[2])
    assert second.bottleneck["utilization"] > 0.97


def test_each_flow_learns_the_path_from_a_drain() -> None:
    state = many("copa@calm-2").state(0)
    last = state.filter(pc.equal(state["time_us"], pc.max(state["time_us"])))
    assert last.num_rows == 64
    assert max(last["rtt_min_us"].to_pylist()) < 42_000
    late = many("copa@calm-2:drain_ms=0").state(0)
    wrong = late.filter(pc.equal(late["time_us"], pc.max(late["time_us"])))
    assert max(wrong["rtt_min_us"].to_pylist()) > 60_000


@pytest.mark.parametrize("bdp", [0.5, 16])
def test_next_to_cubic_it_has_a_share_at_any_buffer(bdp: float) -> None:
    words: dict[str, Any] = {"rate": "50mbit", "rtt": "40ms", "time": "120s", "seed": 2}
    share, default_only = (
        run(Scenario([cc, "cubic"], buffer=f"{bdp}bdp", **words)).groups[0]["share"]
        for cc in ("copa@calm-2", "copa@calm-2:compete_as_cubic=0")
    )
    assert share > 0.25
    assert share > 2 * default_only


def test_it_ends_competing_when_a_deep_queue_was_its_own() -> None:
    """The others leave at 30 s; a drain at a loss shows that the queue is no longer theirs."""
    groups = [Group("copa@calm-2"), Group("cubic", stop="30s")]
    outcome = run(
        Scenario(groups, rate="50mbit", rtt="40ms", buffer="4bdp", time="80s", sample="100ms")
    )
    state = outcome.state(0)
    modes = state["mode"].to_pylist()
    seconds = [us / 1e6 for us in state["time_us"].to_pylist()]
    assert "competitive" in {mode for mode, at in zip(modes, seconds, strict=True) if at < 30}
    assert {mode for mode, at in zip(modes, seconds, strict=True) if at > 70} == {"default"}
