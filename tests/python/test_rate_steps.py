"""A bottleneck whose rate changes: the words, the engine and the verdict."""

import json
from typing import Any

import pytest

from dumbbell import Run, Scenario, ScenarioError, run
from dumbbell.base.quantities.steps import RateSteps
from dumbbell.run.verdict.links import check_links
from dumbbell.run.verdict.reason import OK

STEPS = "2s:5mbit, 4s:20mbit"


def stepped(**changes: Any) -> Scenario:
    words = {"rate": "50mbit", "time": "6s", "rate_steps": STEPS} | changes
    return Scenario(["cubic"], **words)


def test_steps_read_and_print_alike():
    steps = RateSteps.parse(" 2s:5mbit,4000ms:20mbit ")
    assert [(int(time), int(rate)) for time, rate in steps] == [
        (2 * 10**9, 5 * 10**6),
        (4 * 10**9, 20 * 10**6),
    ]
    assert str(steps) == STEPS
    assert RateSteps.parse("") == ()
    assert RateSteps.parse(steps) is steps


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("5mbit", "`5mbit`, which is not a time and a rate"),
        ("2s:5", "has no unit"),
        ("2:5mbit", "has no unit"),
        ("2s:0mbit", "is zero"),
        ("0s:5mbit", "is zero"),
        ("4s:5mbit,2s:1mbit", "has `2s` after `4s`"),
        ("2s:5mbit,2s:1mbit", "put the steps in order of time"),
        (["2s", "5mbit"], "must be a string like"),
    ],
)
def test_refuses_an_invalid_step(text, says):
    with pytest.raises(ScenarioError) as raised:
        stepped(rate_steps=text)
    assert says in str(raised.value)
    assert raised.value.key == "rate_steps"


def test_a_scenario_file_keeps_them(tmp_path):
    path = tmp_path / "stepped.toml"
    path.write_text(stepped().to_toml())
    assert f'rate_steps = "{STEPS}"' in path.read_text()
    assert Scenario.from_toml(path) == stepped()
    assert Scenario.from_dict(stepped().to_dict()) == stepped()
    assert "rate_steps" not in stepped(rate_steps="").to_toml()
    assert "rate_steps" not in stepped(rate_steps="").to_json()


def test_the_link_has_each_rate_in_its_time(tmp_path):
    result = run(stepped())
    assert result.verdict.status == OK, result.verdict
    link = result.summary["bottleneck"]
    assert link["capacity_bytes"] == pytest.approx((100e6 + 10e6 + 40e6) / 8)
    assert link["utilization"] == pytest.approx(link["forwarded_bytes"] / link["capacity_bytes"])
    result.save(tmp_path / "run")
    assert Run.load(tmp_path / "run").scenario == stepped()


def test_a_link_that_ignored_them_is_invalid():
    result = run(stepped(rate_steps=""))
    wrong = json.loads(json.dumps(result.summary))
    # It forwarded what 50 Mbit/s make, and claims the steps' capacity.
    wrong["links"][0] |= {"capacity_bytes": 150e6 / 8, "busy_capacity_bytes": 150e6 / 8}
    assert [reason.check for reason in check_links(stepped(), wrong)] == ["rate"]


def test_the_command_line_has_the_word(cli):
    outcome = cli("run", "reno", "--rate-steps", "1s:5mbit", "--time", "2s", "--sample", "0s")
    assert outcome.code == 0
    assert "50mbit, 5mbit from 1s on" in outcome.out
    refused = cli("run", "reno", "--rate-steps", "1s")
    assert refused.code == 2
    assert "use e.g. `10s:5mbit`" in refused.err
