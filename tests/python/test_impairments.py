"""Impairments as users name them, and what results say of them."""

from __future__ import annotations

from typing import Any

import pytest

import dumbbell
from dumbbell import Scenario, ScenarioError
from dumbbell.run.verdict import INVALID, evaluate
from dumbbell.run.verdict.emulation import check_calibration


def run(impair: str, **words: object) -> dumbbell.Run:
    options: dict[str, Any] = {"rate": "20mbit", "rtt": "40ms", "time": "10s", **words}
    return dumbbell.run(Scenario(["cubic"], impair=impair, **options))


def test_copies_and_losses_behind_the_link_are_counted_and_the_run_is_ok():
    result = run("duplicate:probability=3%+corrupt:probability=0.1%+jitter:normal=3ms,reorder=on")
    link, flow = result.links[0], result.summary["flows"][0]
    assert link["duplicated_pkts"] > 100
    assert link["lost_behind_pkts"] > 0
    assert "random_loss_pkts" in link
    sent = flow["sent_pkts"] + flow["duplicated_pkts"]
    assert sent == flow["dropped_pkts"] + flow["arrived_pkts"] + flow["on_path_pkts"]
    assert not [reason for reason in result.verdict.reasons if reason.status == INVALID]


def test_a_lost_copy_is_missed():
    result = run("duplicate:probability=3%")
    summary = {**result.summary, "flows": [dict(result.summary["flows"][0])]}
    summary["flows"][0]["duplicated_pkts"] -= 1
    reasons = evaluate(result.scenario, summary).reasons
    assert any("were copied" in str(reason) for reason in reasons)


@pytest.mark.parametrize(
    ("impair", "says"),
    [
        ("gilbert_elliott", "use `loss` and `burst`, or `p`"),
        ("gilbert_elliott:loss=90%,burst=1", "`burst` is 1, too short for that `loss`"),
        ("gilbert_elliott:loss=1%,burst=5,p=1%", "use `loss` and `burst`, or `p`"),
        ("loss_state:p13=60%,p14=60%", "`p13` and `p14` are together 120%; use at most 100%"),
        ("jitter:delay=1ms", "no distribution is set; use e.g. `normal`"),
        ("jitter:normal=1ms,uniform=1ms", "several distributions are set"),
        ("reorder:late=3ms", "use a lower `probability`, or a larger `gap`"),
        ("reorder:gap=2", "use `late` or `early`, one of them"),
        ("route_change:at=5s,until=4s,late=1ms", "`until` is 4s, not after `at`, 5s"),
        ("every", "`every` needs `n`"),
        ("listed", "`listed` needs `packets`"),
        (
            "reorder:gap=2,late=1ms+jitter:normal=1ms",
            "`jitter` keeps packets in order and comes after `reorder`",
        ),
    ],
)
def test_settings_that_do_not_fit_together_are_refused_in_the_users_words(impair, says):
    with pytest.raises(ScenarioError) as refused:
        Scenario(["cubic"], impair=impair)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    "impair",
    [
        "gilbert_elliott:loss=1%,burst=2.5",
        "jitter:table=1ms;1ms;8ms,reorder=on",
        "listed:packets=3;4;20,flow=1",
        "outage:off=20ms,at=9.98s,place=behind+route_change:at=10s,late=30ms",
        "duplicate:probability=100%,place=before+bleach:becomes=ect0",
    ],
)
def test_what_was_written_is_read_again(impair):
    scenario = Scenario(["cubic"], impair=impair)
    again = Scenario(["cubic"], impair=str(scenario.impair))
    assert again == scenario
    assert str(again.impair) == impair


@pytest.mark.parametrize(
    "words",
    [
        {}, {"impair": "jitter:normal=2ms"}, {"impair": "wifi"},
        {"queue": "tbf:rate=16mbit,burst=15kB,limit=100kB"},
    ],
)  # fmt: skip
def test_the_idle_path_is_compared_where_nothing_but_its_links_delays_packets(words):
    scenario = Scenario(["cubic"], rate="20mbit", rtt="40ms", **words)
    facts: Any = {
        "calibrated_link_rate_bps": 23e6,
        "calibration": [{"group": 0, "base_rtt_us": 40_000.0, "measured_rtt_us": 44_000.0}],
    }
    found = [reason.check for reason in check_calibration(scenario, facts)]
    assert found == (["calibration"] * 2 if not words else [])


def test_a_rate_may_be_a_share_of_the_link_s():
    scenario = Scenario(["cubic"], rate="20mbit", impair="policer:rate=50%,burst=15kB")
    (policer,) = scenario.resolve()["links"][0]["impairments"]
    assert policer == {"kind": "policer", "rate_bps": 10_000_000, "burst_bytes": 15_000}
