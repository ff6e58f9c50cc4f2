"""Flows in opposite directions share no link: what says who got more says so."""

import dumbbell
from dumbbell.plots.labels import group_labels


def test_groups_of_an_upload_are_called_down_and_up(cli, tmp_path):
    """They were `cubic (route bottleneck)` and `cubic (route up)`."""
    words = ("--upload", "cubic", "--up-rate", "5mbit", "--time", "2s")
    outcome = cli("run", "cubic", *words, "--out", str(tmp_path / "r"))
    assert outcome.code == 0, outcome.err
    assert "cubic (down)" in outcome.out
    assert "cubic (up)" in outcome.out
    run = dumbbell.Run.load(tmp_path / "r")
    assert group_labels(run.scenario) == ("CUBIC (down)", "CUBIC (up)")


def test_jains_index_is_of_each_direction_too(cli):
    lone = cli("run", "cubic", "--upload", "cubic", "--up-rate", "5mbit", "--time", "2s")
    assert "over all flows, which share no link" in lone.out
    several = cli(
        "run", "cubic", "--flows", "2", "--upload", "cubic", "--up-rate", "5mbit", "--time", "2s"
    )
    (line,) = (each for each in several.out.splitlines() if each.startswith("fairness"))
    of_all, down, up = (float(word) for word in line.replace(",", "").split() if "." in word)
    assert "over bottleneck" in line
    assert of_all < min(down, up)
    for words in (("cubic", "bbr"), ("cubic", "--traffic", "page")):  # whose requests share none
        assert "over all flows\n" in cli("run", *words, "--time", "2s").out
