"""Sixty typical mistakes: every answer names the thing, the value and the fix, in one line."""

import shlex

import pytest

from tests.bad_inputs.typical_mistakes import MISTAKES


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A directory with a saved run, a sweep, a scenario and broken files."""
    from dumbbell import Scenario, Sweep, run

    place = tmp_path_factory.mktemp("mistakes")
    run(["reno"], time="1s").save(place / "r")
    run(["bbr"], time="1s").save(place / "b")
    Sweep(Scenario(["reno"], time="1s"), {"buffer": "1,2bdp"}).run(out=place / "s")
    axes = {"buffer": "1,2bdp", "rtt": "10ms,20ms"}
    Sweep(Scenario(["reno"], time="1s"), axes).run(out=place / "g")
    (place / "own").mkdir()
    (place / "own/own.bpf.c").write_text("")
    (place / "scen").mkdir()
    (place / "scen/incast.toml").write_text("rate = '1mbit'")
    case = '[[case]]\nname = "a"\n[[case.group]]\n'
    (place / "suite.toml").write_text(f'reps = 3\n{case}cc = "{{cc}}"\n')
    (place / "cmd.toml").write_text(f'{case}cmd = "true"\n')
    (place / "line.toml").write_text('rate = "1mbit"\n[[group]]\ncc = "reno"\n')
    (place / "n.toml").write_text('rate = "1mbit"\n[[group]]\nname = 5\ncc = "reno"\n')
    return place


def test_there_are_sixty():
    assert len(MISTAKES) >= 60


@pytest.mark.parametrize(("line", "says"), MISTAKES, ids=[line for line, _ in MISTAKES])
def test_the_answer_names_the_thing_the_value_and_the_fix(line, says, cli, made, monkeypatch):
    monkeypatch.chdir(made)
    outcome = cli(*shlex.split(line))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.removeprefix("error: ").rstrip("\n") == says
    assert "Traceback" not in outcome.err
