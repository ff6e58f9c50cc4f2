"""The user's programs: as scenarios name them, and in results. No program runs here."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dumbbell
from dumbbell import Group, ResultError, Run, Scenario, ScenarioError
from dumbbell.compare.measured import MeasuredRun
from dumbbell.metrics import METRICS
from dumbbell.run.engine import check_engine
from dumbbell.run.programs import with_measured
from dumbbell.run.verdict.programs import check_programs
from dumbbell.scenario.program import RecordedCommand

CLIENT = "curl -so /dev/null -w 'speed: %{speed_download}' http://server/file"


def group(**fields: Any) -> Group:
    words: dict[str, Any] = {"client": CLIENT, "measure": r"speed: (\S+)"}
    return Group(**words | fields)


def program(**changes: Any) -> dict[str, Any]:
    """What became of a client, as the engine reports it."""
    return {
        "group": 0, "side": "client", "command": ["curl"], "start_us": 1000, "end_us": 501_000,
        "exit_code": 0, "signal": None, "was_ended": False, "cpu_us": 20_000,
        "run_delay_us": 100, "output": "speed: 1\nspeed: 2.5\n", **changes,
    }  # fmt: skip


def run_with(*programs: dict[str, Any], **fields: Any) -> Run:
    """A simulated run in the clothes of one of programs."""
    scenario = Scenario([group(**fields)], time="1s")
    simulated = dumbbell.run(Scenario(["cubic"], time="1s", sample="0s"))
    summary = with_measured(scenario, {**simulated.summary, "programs": list(programs)})
    return Run(scenario, summary, {})


def test_a_command_is_split_as_a_shell_does_and_written_back():
    words = ["curl", "-so", "/dev/null", "-w", "speed: %{speed_download}", "http://server/file"]
    assert group().client == tuple(words)
    assert group(client=words).client == tuple(words)
    assert str(group().client) == CLIENT
    path = group(client="/usr/bin/iperf3 -s").client
    assert path is not None
    assert path.name == "iperf3"


def test_the_engine_gets_words_ports_and_the_mtu():
    scenario = Scenario([group(server="nginx", ready="tcp:80, udp:443", mtu="1400B"), "cubic"])
    resolved, other = scenario.resolve()["groups"]
    assert resolved["program"] == {
        "client": list(scenario.groups[0].client or ()),
        "server": ["nginx"],
        "ready": [{"tcp": 80}, {"udp": 443}],
        "mtu_bytes": 1400,
    }
    assert resolved["mss_bytes"] == 1400 - 52
    assert resolved["cc"] == {"name": "linux/default", "params": {}}
    assert "program" not in other


def test_groups_are_called_by_their_programs():
    scenario = Scenario(
        [group(), group(cc="bbr"), group(client="iperf3"), "cubic", group(rtt="9ms")]
    )
    assert scenario.group_labels == (
        "curl (rtt 40ms)", "curl bbr", "iperf3", "cubic", "curl (rtt 9ms)",
    )  # fmt: skip


def test_the_simulator_runs_no_program():
    with pytest.raises(ScenarioError, match="is a real program, which the simulator does not run"):
        dumbbell.run([group()])


def test_a_program_of_a_result_does_not_run_again():
    run = run_with(program())
    again = Run.from_dict(json.loads(run.to_json()), {})
    assert isinstance(again.scenario.groups[0].client, RecordedCommand)
    assert again.scenario.groups[0].client == run.scenario.groups[0].client
    assert again.scenario.to_toml() == run.scenario.to_toml()
    for engine in ("kernel", "simulator"):
        with pytest.raises(ScenarioError, match="results run no programs"):
            check_engine(engine, again.scenario)
    changed = again.scenario.replace(buffer="4bdp")
    with pytest.raises(ScenarioError, match="results run no programs"):
        check_engine("kernel", changed)


def test_a_program_is_compared_with_flows_of_ours():
    program_run = MeasuredRun(Scenario([group(cc="cubic")], time="1s"), ())
    ours = MeasuredRun(Scenario(["cubic"], time="1s"), ())
    assert program_run.conditions == ours.conditions
    assert program_run.ccs == (f"{CLIENT} (cubic)",)
    smaller = MeasuredRun(Scenario([group(mtu="1400B")], time="1s"), ())
    assert smaller.conditions != ours.conditions


def test_a_result_keeps_its_programs():
    run = run_with(program(), program(side="server", start_us=-5, exit_code=None, signal=15))
    again = Run.from_dict(json.loads(run.to_json()), {})
    assert again.summary["programs"] == run.summary["programs"]
    assert "programs" not in dumbbell.run(["cubic"], time="0.2s").to_dict()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"group": 1}, "`programs[0].group` is 1, which is not a group"),
        ({"command": "curl"}, "`programs[0].command` is not a list of words"),
        ({"output": 3}, "`programs[0].output` is not text"),
        ({"end_us": "soon"}, "`programs[0].end_us` cannot be 'soon'"),
        ({"was_ended": 1}, "`programs[0].was_ended` cannot be 1"),
    ],
)
def test_damaged_programs_are_refused(changes, says):
    document = json.loads(run_with(program()).to_json())
    document["programs"] = [program(**changes)]
    with pytest.raises(ResultError) as refused:
        Run.from_dict(document, {})
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("speed: 1\nspeed: 2.5\n", 2.5),
        ("speed: 4e6", 4e6),
        ("speed: fast\n", None),
        ("speed: nan\n", None),
        ("nothing", None),
        ("", None),
    ],
)
def test_the_last_number_is_measured(output, expected):
    run = run_with(program(output=output))
    assert run.summary["programs"][0]["measured"] == expected
    assert METRICS["measured"].of(run) == [expected]


def test_metrics_are_of_the_groups_client():
    run = run_with(program(side="server", cpu_us=7), program())
    assert METRICS["run_time_us"].of(run) == [500_000]
    assert METRICS["cpu_time_us"].of(run) == [20_000]
    assert METRICS["run_delay_us"].of(run) == [100]
    assert METRICS["exit_code"].of(run) == [0]
    killed = run_with(program(exit_code=None, signal=9))
    assert METRICS["exit_code"].of(killed) == [-9]
    ended = run_with(program(was_ended=True, exit_code=None, signal=15))
    assert METRICS["exit_code"].of(ended) == METRICS["run_time_us"].of(ended) == [None]
    without = dumbbell.run(["cubic"], time="0.2s")
    assert METRICS["measured"].of(without) == [None]


def test_a_program_that_entered_a_path_is_blamed_by_its_own_name():
    """`emulate enter client -- wget …` fails while the path's command is curl."""
    run = run_with(program(), program(command=["/usr/bin/wget", "http://server/"], exit_code=8))
    (reason,) = check_programs(run.scenario, run.summary)
    assert reason.message.startswith("the client wget ended with exit code 8")


@pytest.mark.parametrize(
    ("changes", "check", "says"),
    [
        ({}, None, ""),
        ({"side": "server"}, None, ""),
        ({"side": "server", "was_ended": True, "exit_code": 143}, None, ""),
        ({"side": "server", "exit_code": 1}, "program", "the server curl ended with exit code 1"),
        ({"was_ended": True, "exit_code": None, "signal": 15}, None, ""),
        (
            {"exit_code": 7}, "program",
            "the client curl ended with exit code 7; it printed last `speed: 2.5`",
        ),
        ({"exit_code": None, "signal": 11}, "program", "the client curl was ended by signal 11"),
        ({"output": ""}, "program", "found no number in what the client curl printed"),
        (
            {"run_delay_us": 60_000}, "cpu",
            "the threads of the client curl waited 12% of its run time for a CPU",
        ),
    ],
)  # fmt: skip
def test_the_verdict_looks_at_programs(changes, check, says):
    run = run_with(program(**changes))
    reasons = list(check_programs(run.scenario, run.summary))
    if check is None:
        assert reasons == []
        return
    assert [(reason.status, reason.check) for reason in reasons] == [("WARN", check)]
    assert says in reasons[0].message
