"""A base RTT that changes: the words, the engine and what is made of a run."""

from typing import Any

import pytest

from dumbbell import Group, Run, Scenario, ScenarioError, Sweep, run
from dumbbell.metrics.observation import Observation
from dumbbell.models import MODELS, DoesNotApply
from dumbbell.sweeps.field import field_of

STEPS = "2s:80ms, 4s:30ms"


def stepped(**changes: Any) -> Scenario:
    # A window that leaves the queue empty: the RTT is the path's.
    groups = [Group("reno", rwnd="20kB", jitter="0s")]
    return Scenario(groups, **{"rtt": "40ms", "time": "6s", "rtt_steps": STEPS} | changes)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("80ms", "`80ms`, which is not a time and an RTT; use e.g. `20s:80ms`"),
        ("2s:80", "has no unit"),
        ("2s:1us", "use at least"),
        ("0s:80ms", "is zero"),
        ("4s:80ms,2s:40ms", "has `2s` after `4s`"),
        (["2s", "80ms"], "must be a string like `20s:80ms, 40s:40ms`"),
    ],
)
def test_refuses_an_invalid_step(text, says):
    with pytest.raises(ScenarioError) as raised:
        stepped(rtt_steps=text)
    assert says in str(raised.value)
    assert raised.value.key == "rtt_steps"


def test_refuses_steps_that_no_group_takes():
    with pytest.raises(ScenarioError, match="change nothing: every group has an `rtt`"):
        Scenario([Group("reno", rtt="20ms")], rtt_steps=STEPS)


def test_a_scenario_file_keeps_them(tmp_path):
    path = tmp_path / "stepped.toml"
    path.write_text(stepped().to_toml())
    assert f'rtt_steps = "{STEPS}"' in path.read_text()
    assert Scenario.from_toml(path) == stepped()
    assert Scenario.from_dict(stepped().to_dict()) == stepped()
    plain = stepped(rtt_steps="")
    assert "rtt_steps" not in plain.to_toml()
    assert "rtt_steps" not in plain.to_json()


def test_only_groups_without_an_rtt_of_their_own_take_them():
    scenario = Scenario(["reno", Group("reno", rtt="40ms")], rtt_steps=STEPS, buffer="1bdp")
    taking, keeping = scenario.resolve()["groups"]
    assert [step["base_rtt_ns"] for step in taking["rtt_steps"]] == [80_000_000, 30_000_000]
    assert "rtt_steps" not in keeping
    # The BDP is that of `rtt`.
    assert scenario.resolve()["links"][0]["queue"]["limit_bytes"] == 250_000
    assert scenario.group_labels == ("reno (rtt 40ms at first)", "reno (rtt 40ms)")


def test_the_path_has_each_rtt_in_its_time(tmp_path):
    result = run(stepped())
    # Nothing but the window: no RTT below the path's.
    assert [reason.check for reason in result.verdict.reasons] == ["rwnd"]
    series = result.flows.to_pandas().dropna(subset="rtt_us")
    for from_s, to_s, base_ms in ((1, 2, 40), (2.1, 4, 80), (4.2, 6, 30)):
        within = series[(series["time_us"] >= 1e6 * from_s) & (series["time_us"] < 1e6 * to_s)]
        assert within["rtt_us"].min() / 1e3 == pytest.approx(base_ms, abs=1)
        # Delayed ACKs: what is alone waits for 40 ms at most.
        assert within["rtt_us"].max() / 1e3 < base_ms + 45
    assert result.summary["flows"][0]["base_rtt_us"] == 30_000
    result.save(tmp_path / "run")
    assert Run.load(tmp_path / "run").scenario == stepped()


def test_windows_of_metrics_are_of_the_longest_rtt():
    longest = run(stepped(rtt_steps="2s:400ms"))
    assert Observation(longest).window_us == 4_000_000


def test_what_comes_after_the_end_changes_nothing():
    scenario = stepped(rtt_steps="6s:1ms, 7s:900ms")
    assert int(scenario.shortest_rtt) == 40_000_000
    result = run(scenario)
    assert result.flows.equals(run(stepped(rtt_steps="")).flows)
    assert Observation(result).window_us == 1_000_000


def test_links_of_a_sweep_are_apart_by_semicolons():
    field = field_of("rtt_steps", stepped())
    assert [str(steps) for steps in field.expand(f"{STEPS};3s:60ms")] == [STEPS, "3s:60ms"]
    sweep = Sweep(stepped(time="5s"), {"rtt_steps": ["", STEPS]}, reps=1).run()
    rtts_us = [run.groups[0]["rtt_mean_us"] for run in sweep.runs.values()]
    assert rtts_us[1] > 1.1 * rtts_us[0]


def test_models_of_a_constant_rtt_do_not_apply():
    with pytest.raises(DoesNotApply, match="does not cover `rtt_steps`"):
        MODELS["ware"].predict(Scenario(["bbr", "cubic"], rtt_steps=STEPS))


def test_the_command_line_has_the_word(cli):
    outcome = cli("run", "reno", "--rtt-steps", "1s:80ms", "--time", "2s", "--sample", "0s")
    assert outcome.code == 0
    assert "40ms, 80ms from 1s on" in outcome.out
    refused = cli("run", "reno", "--rtt-steps", "1s")
    assert refused.code == 2
    assert "use e.g. `20s:80ms`" in refused.err
