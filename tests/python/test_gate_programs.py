"""The gate for programs: a change that makes one slower fails, one that does not passes."""

from types import SimpleNamespace
from typing import Any

import pytest

from dumbbell import Group
from dumbbell.compare.comparison import match_seeds
from dumbbell.gate.case import Observed
from dumbbell.gate.comparison import Change, MetricChange
from dumbbell.gate.silent_clients import why_silent
from dumbbell.gate.subject import Measure
from dumbbell.gate.tolerance import Tolerance

SUITE = """
title = "What a change to the program must not make worse"
reps = 5
rate = "20mbit"
rtt = "20ms"
time = "10s"

[judge]
run_time_us = "20% + 50ms"
measured = "5%"

[[case]]
name = "alone"
why = "How long does it take, and what does it say of itself?"

[[case.group]]
client = "sh client.sh"
measure = 'score ([0-9]+)'
"""
CLIENT = "ping -q -c 3 -i 0.05 server >/dev/null; {more} echo score {score}\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "download.toml").write_text(SUITE)
    (tmp_path / "client.sh").write_text(CLIENT.format(more="", score=100))
    return tmp_path


@pytest.mark.kernel
def test_a_program_s_regression_is_caught(cli, place):
    recorded = cli("gate", "download.toml", "--record", "baseline")
    assert recorded.code == 0, recorded.err
    assert "engine kernel" in recorded.out
    same = cli("gate", "baseline")
    assert same.code == 0, same.out
    assert "gate passed: the program in suite `download`" in same.out

    (place / "client.sh").write_text(CLIENT.format(more="sleep 0.5;", score=100))
    slower = cli("gate", "baseline", "--markdown", "gate.md")
    assert slower.code == 1, slower.out
    assert "run time (program)" in slower.out
    assert "worse" in (place / "gate.md").read_text()

    (place / "client.sh").write_text(CLIENT.format(more="", score=80))
    lower = cli("gate", "baseline")
    assert lower.code == 1
    assert "measured (program)" in lower.out


@pytest.mark.kernel
def test_a_program_that_measures_nothing_is_refused(cli, place):
    mute = "client `sh client.sh` ended with code 1"
    other = r"`measured` of group 0: nothing the client printed matches `score ([0-9]+)`"
    for more, score, message in [("", "none", other), ("exit 1;", 1, mute)]:
        (place / "client.sh").write_text(CLIENT.format(more=more, score=score))
        recorded = cli("gate", "download.toml", "--reps", "3", "--record", "baseline")
        assert (recorded.code, recorded.out) == (2, "")
        assert message in recorded.err
        assert not (place / "baseline").exists()


def test_why_a_client_failed_is_in_what_it_printed():
    group = Group(client="python3 absent.py")
    program = {
        "group": 0, "side": "client", "command": ["python3", "absent.py"], "exit_code": 2,
        "signal": None, "was_ended": False, "output": "one\npython3: can't open file\n",
    }  # fmt: skip
    run: Any = SimpleNamespace(
        summary={"programs": [program]}, scenario=SimpleNamespace(groups=[group])
    )
    ended = "client `python3 absent.py` ended with code 2"
    assert why_silent(run, 0) == f"{ended}: python3: can't open file"
    program["output"] = ""
    assert why_silent(run, 0) == f"{ended}, and printed nothing"


def test_values_that_are_missing_on_both_sides_are_not_called_identical():
    measure = Measure("goodput_bps")
    sides = match_seeds({1: None, 2: None}, {1: None, 2: None})
    observed = Observed("", "goodput_bps")
    tolerance = Tolerance.parse("5%", measure.metric)
    change = MetricChange("alone", observed, measure, tolerance, sides, 1, 1, None)
    assert change.decided(1, 1, 0.01).change == Change.NO_VALUE


def test_a_program_is_tested_on_the_kernel_only(cli, place):
    outcome = cli("gate", "download.toml", "--engine", "simulator")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--engine kernel" in outcome.err
    outcome = cli("gate", "download.toml", "--cc", "cubic")
    assert outcome.code == 2
    assert "tests no congestion control" in outcome.err


def test_a_group_is_a_program_or_has_a_cc(cli, place):
    text = (place / "download.toml").read_text()
    (place / "download.toml").write_text(text.replace('client = "sh client.sh"', "flows = 2"))
    assert "the group has no `cc`" in cli("gate", "download.toml").err
