from pathlib import Path

import pytest

from dumbbell import Scenario, ScenarioError

EXAMPLES = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))

GOOD = """\
# A comment: buffer = nonsense
name = "a [test]"
rate = "50mbit"
buffer = "2bdp"
time = "10s"

[[group]]
cc = "copa:mode_window_rtts=5"
flows = 2

[[group]] # the other one
cc = "cubic"
start = "1s"
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "scenario.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_reads(tmp_path):
    scenario = Scenario.from_toml(write(tmp_path, GOOD))
    assert scenario.name == "a [test]"
    assert [str(group.cc) for group in scenario.groups] == ["copa:mode_window_rtts=5", "cubic"]
    assert [group.flows for group in scenario.groups] == [2, 1]
    assert [str(group.start) for group in scenario.groups] == ["0s", "1s"]


def test_writes_what_it_reads(tmp_path):
    scenario = Scenario.from_toml(write(tmp_path, GOOD))
    assert Scenario.from_toml(write(tmp_path, scenario.to_toml())) == scenario


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('buffer = "2bdp"', 'bufer = "2bdp"', 4, "unknown key `bufer`; did you mean `buffer`?"),
        ("flows = 2", "flow = 2", 9, "unknown key `flow`; did you mean `flows`?"),
        ('start = "1s"', 'begin = "1s"', 13, "unknown key `begin`"),
        ('rate = "50mbit"', "rate = 50", 3, "rate `50` has no unit"),
        ('rate = "50mbit"', '"rate" = "0mbit"', 3, "rate `0mbit` is zero"),
        ('buffer = "2bdp"', 'cc = "copa"', 4, "unknown key `cc`; set it in a `[[group]]`"),
        ("flows = 2", 'time = "2s"', 9, "unknown key `time`; set it above the first `[[…]]`"),
        ("flows = 2", 'rate = "2mbit"', 9, "set it above the first `[[…]]` or in a `[[link]]`"),
        (
            "flows = 2",
            'up_rate = "2mbit"',
            9,
            'unknown key `up_rate`; write two `[[link]]`, `name = "bottleneck"` and `name = "up"`, '
            'the second with `rate = "2mbit"`, and in the `[[group]]` `route = ["bottleneck"]` and '
            '`back = ["up"]`',
        ),
        ('start = "1s"', 'start = "10s"', 13, "never start"),
        ('cc = "cubic"', 'cc = "cubik"', 12, "did you mean `cubic`?"),
        ('cc = "cubic"', "cc = 3", 12, "invalid congestion control `3`"),
        ('cc = "cubic"\n', "", 11, "the group has no `cc`"),
        ('buffer = "2bdp"', 'buffer = "9B"', 4, "smaller than a packet"),
        ("flows = 2", "flows = 2.5", 9, "flows `2.5` is not a whole number"),
        ('buffer = "2bdp"', "[link]\nrate = 1", 4, "write each link as `[[link]]`"),
        ('buffer = "2bdp"', 'text = """\nrate = 1\n"""', 4, "unknown key `text`"),
        ('buffer = "2bdp"', "buffer = = 2", 4, "not TOML"),
        ('time = "10s"', 'time = "10s', 5, "not TOML"),
    ],
)
def test_names_the_line(tmp_path, old, new, line, says):
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no flows"),
        ("group = 3", "write each group of flows as `[[group]]`"),
        ("[[group]", "not TOML"),
    ],
)
def test_refuses(tmp_path, text, says):
    with pytest.raises(ScenarioError, match=r"scenario\.toml") as caught:
        Scenario.from_toml(write(tmp_path, text))
    assert says in str(caught.value)


def test_refuses_what_is_no_text_file(tmp_path):
    with pytest.raises(ScenarioError, match="no such file"):
        Scenario.from_toml(tmp_path / "absent.toml")
    with pytest.raises(ScenarioError, match="is a directory"):
        Scenario.from_toml(tmp_path)
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="not TOML: not UTF-8 text"):
        Scenario.from_toml(path)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_scenarios(path):
    scenario = Scenario.from_toml(path)
    assert scenario.name


def test_there_are_examples():
    assert len(EXAMPLES) >= 4
