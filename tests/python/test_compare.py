"""`dumbbell compare`: pairs, what is reported about them, and what is refused."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import dumbbell
from dumbbell import Group, Scenario
from dumbbell.compare import compare
from dumbbell.compare.measured import MeasuredRun
from dumbbell.emulation.scenario import emulated_scenario
from dumbbell.metrics import METRICS
from dumbbell.run.programs import is_time_measured
from dumbbell.sweeps import Sweep

SEEDS = range(1, 7)


def scenarios(*ccs: str, seeds: Any = SEEDS, **words: Any) -> list[Scenario]:
    base: Any = {"rate": "10mbit", "buffer": "0.5bdp", "time": "8s", "sample": "50ms", **words}
    return [Scenario([Group(cc) for cc in ccs], seed=seed, **base) for seed in seeds]


def runs_of(*ccs: str, **words: Any) -> list[dumbbell.Run]:
    return [dumbbell.run(scenario) for scenario in scenarios(*ccs, **words)]


@pytest.fixture(scope="module")
def plain() -> list[dumbbell.Run]:
    """CUBIC against Reno."""
    return runs_of("cubic", "reno")


@pytest.fixture(scope="module")
def gentle() -> list[dumbbell.Run]:
    """The same with a CUBIC that backs off next to nothing."""
    return runs_of("cubic:beta=1000", "reno")


def saved(runs: list[dumbbell.Run], directory: Any) -> str:
    for run in runs:
        run.save(directory / f"seed={run.scenario.seed}")
    return str(directory)


def test_a_changed_congestion_control_shows(plain, gentle):
    result = compare(plain, gentle, metrics=["goodput_per_flow_bps", "share"])
    assert (result.pairs, result.unpaired_a, result.unpaired_b) == (6, 0, 0)
    cubic, reno, share = result.comparisons  # of two groups, the other's share is the rest
    assert (cubic.cc_a, cubic.cc_b) == ("cubic", "cubic:beta=1000")
    assert cubic.seeds == tuple(SEEDS)
    assert cubic.a == tuple(run.groups[0]["goodput_per_flow_bps"] for run in plain)
    assert cubic.difference.interval.mean > 0
    assert (cubic.better, reno.better) == ("b", "a")
    assert (share.metric.name, share.group, share.better) == ("share", 0, None)
    assert cubic.differs
    assert cubic.difference.p is not None
    assert cubic.p_adjusted is not None
    assert cubic.difference.p <= cubic.p_adjusted <= 3 * cubic.difference.p


def test_nothing_differs_from_itself(plain):
    result = compare(plain, plain)
    assert {entry.metric.name for entry in result.comparisons} == set(METRICS)
    for entry in result.comparisons:
        if entry.a:
            assert entry.difference.interval.mean == 0
            assert not entry.differs


def test_how_long_a_command_took_on_an_emulated_path_is_no_condition():
    def conditions(time: str, said: dict[str, bool], rate: str = "10mbit") -> dict[str, str]:
        scenario = emulated_scenario({"rate": rate}, client=["curl", "http://server/"])
        scenario = scenario.replace(time=time)
        return MeasuredRun(scenario, (), is_time_measured(scenario, said)).conditions

    measured, asked = {"time_is_measured": True}, {"time_is_measured": False}
    one, another = "6289050231ns", "6301417906ns"
    for said in (measured, {}):  # earlier versions did not say
        assert conditions(one, said) == conditions(another, said)
        assert conditions(one, said) != conditions(one, said, "20mbit")
    assert conditions("6s", measured) == conditions("7s", measured)
    # What was asked for is one.
    assert conditions("6s", {}) != conditions("7s", {})
    assert conditions(one, asked) != conditions(another, asked)


def test_seeds_without_their_like_are_left_out(plain, gentle):
    result = compare(plain[:4], gentle[2:], metrics=["jain"])
    assert (result.pairs, result.unpaired_a, result.unpaired_b) == (2, 2, 2)
    assert result.comparisons[0].seeds == (3, 4)
    assert result.comparisons[0].group is None


def test_cells_are_named_by_what_differs():
    a, b = (
        [run for buffer in ("1bdp", "2bdp") for run in runs_of(cc, buffer=buffer, seeds=[1, 2])]
        for cc in ("reno", "cubic")
    )
    result = compare(a, b, metrics=["utilization"])
    assert [entry.cell for entry in result.comparisons] == ["buffer=1bdp", "buffer=2bdp"]


def test_cells_of_several_links_are_named_by_the_links_field():
    def runs(rate: str, names: str) -> list[dumbbell.Run]:
        of = {"a": dumbbell.Link("a", rate="20mbit"), "b": dumbbell.Link("b", rate=rate)}
        groups = [dumbbell.Group("reno", route=["a", "b"])]
        links = [of[name] for name in names]
        scenario = dumbbell.Scenario(groups, links=links, time="2s")
        return [dumbbell.run(scenario.replace(seed=seed)) for seed in (1, 2)]

    a = [*runs("5mbit", "ab"), *runs("10mbit", "ab")]
    b = [*runs("5mbit", "ba"), *runs("10mbit", "ba")]
    result = compare(a, b, metrics=["utilization@b"])
    assert [entry.cell for entry in result.comparisons] == [
        "link.b.rate=5mbit",
        "link.b.rate=10mbit",
    ]
    assert result.pairs == 4


def test_several_mixes_pair_by_mix(plain):
    both = [*plain, *runs_of("reno", "cubic")]
    result = compare(both, both, metrics=["jain"])
    assert [entry.cell for entry in result.comparisons] == ["cc=cubic+reno", "cc=reno+cubic"]


def test_invalid_runs_are_left_out(plain):
    broken = [dumbbell.Run(run.scenario, run.summary, run.tables) for run in plain]
    flows = [{**flow, "cc": "another"} for flow in plain[0].summary["flows"]]
    broken[0].summary = {**plain[0].summary, "flows": flows}
    assert broken[0].verdict.status == "INVALID"
    result = compare(plain, broken, metrics=["jain"])
    assert (result.pairs, result.unpaired_b) == (5, 1)


def test_harm_by_solo_runs(plain):
    alone = runs_of("reno")
    result = compare(alone, plain, metrics=["goodput_bps", "jain"], solo=True)
    (entry,) = result.comparisons  # Jain's index of others cannot be harmed
    assert (entry.group, entry.cc_b) == (1, "reno")
    assert entry.harm is not None
    losses = [1 - y / x for x, y in zip(entry.a, entry.b, strict=True)]
    assert entry.harm.mean == pytest.approx(sum(losses) / 6)
    assert 0.2 < entry.harm.mean < 0.8


def test_harm_of_a_group_that_crosses_some_of_the_links():
    links = [dumbbell.Link(name, rate="10mbit") for name in ("a", "b")]
    short, long = Group("reno", route=["a"]), Group("cubic", route=["a", "b"])
    alone = dumbbell.run(Scenario([short], links=links[:1], time="4s"))
    competing = dumbbell.run(Scenario([short, long], links=links, time="4s"))
    (entry,) = compare(alone, competing, metrics=["goodput_bps"], solo=True).comparisons
    assert (entry.group, entry.cc_b) == (0, "reno")
    assert entry.harm is not None
    assert entry.harm.mean > 0.1
    faster = dumbbell.Link("a", rate="20mbit")
    elsewhere = dumbbell.run(Scenario([short], links=[faster], time="4s"))
    with pytest.raises(dumbbell.ResultError, match="no group of the second was alone"):
        compare(elsewhere, competing, metrics=["goodput_bps"], solo=True)


def test_a_warmup_is_cut_from_both_sides(plain, gentle):
    result = compare(plain, gentle, metrics=["utilization"], warmup="4s")
    (entry,) = result.comparisons
    assert entry.a[0] == METRICS["utilization"].of(plain[0], dumbbell.metrics.Warmup.parse("4s"))


def test_sweeps_by_their_rows(tmp_path):
    sweeps = []
    for name, cc, buffers in (("a", "reno", "1,2,4bdp"), ("b", "cubic", "2,4,8bdp")):
        values = [f"{each}bdp" for each in buffers.removesuffix("bdp").split(",")]
        scenario = scenarios(cc)[0]
        result = Sweep(scenario, {"buffer": values}, reps=3).run()
        sweeps.append(str(result.save(tmp_path / name)))
    found = compare(*sweeps, metrics=["utilization"], names=("a", "b"))
    assert [entry.cell for entry in found.comparisons] == ["buffer=2bdp", "buffer=4bdp"]
    assert (found.pairs, found.unpaired_a, found.unpaired_b) == (6, 3, 3)


def test_the_command(cli, plain, gentle, tmp_path):
    a, b = saved(plain, tmp_path / "plain"), saved(gentle, tmp_path / "gentle")
    outcome = cli("compare", a, b, "--metric", "goodput_per_flow_bps,jain")
    assert outcome.code == 0, outcome.err
    assert "group 0: cubic in A, cubic:beta=1000 in B" in outcome.out
    # As the line above names it: a row is one line.
    assert re.search(r"^goodput per flow, Mbit/s +0 +\d", outcome.out, re.MULTILINE)
    assert " reno " in outcome.out
    assert "6 pairs of runs" in outcome.out
    assert "Jain's index" in outcome.out
    document = json.loads(cli("compare", a, b, "--metric", "jain", "--json").out)
    assert document["pairs"] == 6
    (entry,) = document["comparisons"]
    assert entry["difference"]["n"] == 6
    assert entry["difference"]["method"] == "Student t"
    assert len(entry["a"]) == 6


def test_groups_of_one_congestion_control_are_distinguished(cli, tmp_path):
    runs = [
        dumbbell.run(Scenario([Group("reno"), Group("reno", rtt="80ms")], time="4s", seed=seed))
        for seed in (1, 2)
    ]
    directory = saved(runs, tmp_path)
    outcome = cli("compare", directory, directory, "--metric", "goodput_per_flow_bps,share")
    assert outcome.out.count(" reno (rtt 40ms) ") == 2
    assert outcome.out.count(" reno (rtt 80ms) ") == 1


def test_one_pair_has_no_interval(cli, plain, gentle, tmp_path):
    a, b = (str(r[0].save(tmp_path / n)) for r, n in ((plain, "a"), (gentle, "b")))
    outcome = cli("compare", a, b)
    assert outcome.code == 0
    assert "a pair alone has no interval; repeat with several seeds" in outcome.out
    document = json.loads(cli("compare", a, b, "--metric", "all", "--json").out)
    assert {e["metric"] for e in document["comparisons"]} == set(METRICS)
    assert document["comparisons"][0]["difference"]["low"] is None


def test_runs_that_differ_in_a_choice_are_compared_by_it(cli, tmp_path, monkeypatch):
    places = {}
    for name, queue, seed in (("a", "bfifo", 1), ("b", "fq_codel", 1), ("c", "fq_codel", 2)):
        groups = [Group("cubic", name="download", metric="rtt_p95_us"), Group("reno", rtt="80ms")]
        dumbbell.run(Scenario(groups, rate="10mbit", queue=queue, seed=seed, time="2s")).save(
            tmp_path / name
        )
        places[name] = str(tmp_path / name)
    monkeypatch.setenv("COLUMNS", "80")
    outcome = cli("compare", places["a"], places["b"])
    assert outcome.code == 0
    assert "queue: bfifo in A, fq_codel in B" in outcome.out
    assert "RTT p95" in outcome.out, "what a group is judged by"
    heads = next(line for line in outcome.out.splitlines() if line.startswith("metric"))
    assert {"A", "B"} <= set(heads.split())
    document = json.loads(cli("compare", places["a"], places["c"], "--json").out)
    assert (document["pairs"], document["differing"]) == (1, {"queue": ["bfifo", "fq_codel"]})


def test_a_changed_algorithm_is_of_its_named_group(cli, tmp_path):
    for cc in ("cubic", "bbr"):
        dumbbell.run(Scenario([Group(cc, name="download")], time="1s")).save(tmp_path / cc)
    outcome = cli("compare", str(tmp_path / "cubic"), str(tmp_path / "bbr"))
    assert "download: cubic in A, bbr in B" in outcome.out


def test_refusals(cli, plain, tmp_path):
    a = saved(plain[:2], tmp_path / "a")
    other_rate = saved(runs_of("cubic", "reno", rate="20mbit", seeds=[1]), tmp_path / "rate")
    other_seed = saved(plain[4:], tmp_path / "seed")
    alone = saved(runs_of("reno", seeds=[1]), tmp_path / "alone")
    saved(plain[:1], tmp_path / "twice" / "morning")
    saved(plain[:1], tmp_path / "twice" / "evening")
    (tmp_path / "empty").mkdir()
    said = {
        (a, other_rate): "the nearest differ in rate (`10mbit` and `20mbit`); run both",
        (a, other_seed): "the conditions are the same, but the seeds are 1, 2 and 5, 6; run",
        (a, alone): "runs of 2 and of 1 groups; use `--harm`",
        (a, str(tmp_path / "empty")): "holds no run and no sweep",
        (a, str(tmp_path / "nowhere")): "does not exist",
        (a, a, "--metric", "jian"): "unknown metric `jian`; did you mean `jain`?",
        (a, a, "--metric", "all,jain"): "`all` cannot be combined with names",
        (a, a, "--warmup", "8s"): "leaves nothing of a run of `8s`",
        (a, a, "--harm"): "harm needs runs of one group alone, but one is of cubic + reno",
        (str(tmp_path / "twice"), a): "has two runs of cubic+reno with seed 1",
    }
    for arguments, message in said.items():
        outcome = cli("compare", *arguments)
        assert outcome.code == 2
        assert message in outcome.err
        assert outcome.err.count("\n") == 1


def test_metrics_are_listed(cli):
    outcome = cli("list", "metrics")
    assert all(name in outcome.out for name in METRICS)
    one = cli("list", "metrics", "jain")
    assert "DEC-TR-301" in one.out
    listed = json.loads(cli("list", "metrics", "--json").out)
    assert [entry["name"] for entry in listed] == list(METRICS)
    assert cli("list", "metrics", "jian").code == 2
