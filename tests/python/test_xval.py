"""Simulator against kernel; the kernel's runs here are fabricated (conftest)."""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import dumbbell
from dumbbell import Group, Reason, Run, Scenario, Verdict
from dumbbell.cli.validate import mixes
from dumbbell.compare import Comparison
from dumbbell.compare.engines import compare_engines, engine_difference, summarize, to_dict
from dumbbell.compare.xval import cross_validate, in_simulator
from dumbbell.compare.xval_table import summary_lines
from dumbbell.statistics import unpaired_difference

ARGUMENTS = ("validate", "copa", "cubic", "--buffer", "1..2bdp", "--time", "2s", "--reps", "2")


def values(*shares: float) -> list[list[dict[str, float | None]]]:
    """Metrics of runs of two groups that differ in the share alone."""
    names = ("rtt_p50_us", "rtt_p95_us", "inflight_mean_pkts", "retransmission_rate")
    link: dict[str, float | None] = {"queue_delay_mean_us": 1.0, "drop_rate": 0.0}
    first, second = ({**dict.fromkeys(names, us), **link} for us in (40_000.0, 50_000.0))
    return [[{"share": part, **first}, {"share": 1 - part, **second}] for part in shares]


def compared(
    simulator: list[list[dict[str, float | None]]],
    kernel: list[list[dict[str, float | None]]],
    name: str = "",
) -> list[Comparison]:
    return compare_engines(name, ["a", "b"], simulator, kernel)


def test_welch_s_interval():
    # By hand: means 2 and 5, variances 1 and 4, n = 3 each; standard error sqrt(5/3),
    # degrees of freedom (5/3)² / ((1/3)²/2 + (4/3)²/2) = 2.9412, t(0.975) = 3.2173.
    interval = unpaired_difference([3, 5, 7], [1, 2, 3]).interval
    assert interval.bounded
    assert (interval.low + interval.high) / 2 == pytest.approx(-3)
    assert interval.half_width == pytest.approx(3.2173 * np.sqrt(5 / 3), rel=1e-3)


def test_no_interval_of_a_single_run_and_none_wide_of_equal_ones():
    single, *_ = compared(values(0.5), values(0.5, 0.6))
    assert to_dict(single)["interval"] is None
    equal, *_ = compared(values(0.5, 0.5), values(0.5, 0.5, 0.5))
    assert to_dict(equal)["interval"] == [0, 0]
    apart, *_ = compared(values(0.75, 0.75), values(0.25, 0.25))
    assert to_dict(apart)["interval"] == [0.5, 0.5]


def test_marks_what_differs_by_more_than_the_runs_among_themselves():
    near = compared(values(0.50, 0.54, 0.46), values(0.51, 0.55, 0.47))
    far = compared(values(0.50, 0.51, 0.49), values(0.61, 0.60, 0.59))
    assert not near[0].excludes_zero
    assert far[0].excludes_zero
    assert engine_difference(far[0]) == pytest.approx(-0.1)
    assert [(c.metric.name, c.group, c.cc_a) for c in far[:3]] == [
        ("share", 0, "a"), ("share", 1, "b"), ("rtt_p50_us", 0, "a"),
    ]  # fmt: skip
    assert (far[-1].metric.name, far[-1].group, far[-1].cc_a) == ("drop_rate", None, "")


def test_what_a_run_does_not_tell_is_left_out():
    unknown = values(0.5, 0.5)
    for rows in unknown:
        for row in rows:
            row["retransmission_rate"] = None
    by_name = {c.metric.name: c for c in compared(values(0.5, 0.5), unknown)}
    document = to_dict(by_name["retransmission_rate"])
    assert (document["kernel"], document["difference"], document["interval"]) == ([], None, None)


def test_sums_up():
    near, far = (
        compared(values(0.5, 0.5), values(part, part), name)
        for part, name in ((0.52, "near"), (0.40, "far"))
    )
    summary = summarize([*near, *far])
    assert summary.share is not None
    assert summary.share.mean == pytest.approx((0.02 + 0.10) / 2)
    assert summary.share.worst == pytest.approx(0.10)
    assert summary.share.case == "far"
    assert summary.rtt_p50 is not None
    assert summary.rtt_p50.mean == 0
    assert summarize([]).share is None


@pytest.fixture
def runs() -> list[Run]:
    return [
        dumbbell.run(Scenario(["copa", Group("cubic", 2)], time="2s", seed=seed)) for seed in (1, 2)
    ]


def test_compares_the_metrics_of_runs(runs):
    (case,) = cross_validate([("case", runs[0].scenario, runs, runs)]).cases
    assert [entry.a for entry in case.comparisons[:2]] == [
        tuple(run.groups[group]["share"] for run in runs) for group in (0, 1)
    ]
    by_name = {entry.metric.name: entry for entry in case.comparisons}
    flows, link = runs[0].summary["flows"], runs[0].summary["bottleneck"]
    assert by_name["rtt_p50_us"].b[0] == np.mean([flow["rtt_p50_us"] for flow in flows[1:]])
    assert by_name["drop_rate"].a[0] == link["dropped_pkts"] / link["offered_pkts"]


def test_invalid_runs_are_counted_and_in_no_number(runs, monkeypatch):
    bad = Run(runs[1].scenario, runs[1].summary, runs[1].tables)
    bad.__dict__["verdict"] = Verdict((Reason("INVALID", "lateness", "too late"),))
    result = cross_validate([("case", runs[0].scenario, runs, [runs[0], bad])])
    assert result.verdicts == {"OK": 1, "INVALID": 1}
    assert all(len(c.a) == 1 for c in result.cases[0].comparisons)
    assert "2 on the kernel (1 INVALID, 1 OK)" in summary_lines(result)[0]


def test_a_scenario_with_one_valid_run_is_not_in_the_summary(runs):
    scenario = runs[0].scenario
    both = [("two", scenario, runs, runs), ("one", scenario, runs, runs[1:])]
    summary = cross_validate(both).summary
    assert summary.left_out == ("one",)
    assert summary.share is not None
    assert (summary.share.case, summary.share.worst) == ("two", 0.0)
    assert "fewer than two valid runs on the kernel: one" in " ".join(
        summary_lines(cross_validate(both))
    )
    alone = cross_validate(both[1:]).summary
    assert (alone.share, alone.rtt_p50, alone.comparisons) == (None, None, 0)


def test_words_are_one_scenario_or_one_each():
    assert mixes(["copa", "cubic"]) == [["copa", "cubic"]]
    assert mixes(["copa+cubic", "bbr"]) == [["copa", "cubic"], ["bbr"]]
    assert mixes(["a.toml", "b.toml"]) == [["a.toml"], ["b.toml"]]


class Page(HTMLParser):
    """The plots' data."""

    def __init__(self) -> None:
        super().__init__()
        self.plots: list[str] = []
        self.fetched: list[str] = []
        self.in_json = False

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.in_json = tag == "script" and named.get("type") == "application/json"
        links = (named.get("src"), named.get("href"))
        self.fetched += [link for link in links if link and not link.startswith("#")]

    def handle_data(self, data):
        if self.in_json:
            self.plots.append(data)
            self.in_json = False


def test_the_whole_way(cli, fabricated_kernel, tmp_path):
    saved = tmp_path / "data" / "kernel.json"
    outcome = cli(*ARGUMENTS, "--out", str(tmp_path / "out"), "--save", str(saved))
    assert outcome.code == 0, outcome.err
    for text in (
        "copa+cubic,buffer=1bdp", "copa+cubic,buffer=2bdp", "copa throughput share, %",
        "cubic median RTT, ms", "mean queueing delay, ms", "drop rate, %", "95 % interval",
        "runs on the kernel: 2 OK",
        "2 scenarios, 20 runs in the simulator, 4 on the kernel (4 OK)",
        "throughput share: mean absolute difference", "median RTT: mean absolute difference",
    ):  # fmt: skip
        assert text in outcome.out, text
    kept = sorted(
        path.name for path in (tmp_path / "out" / "runs" / "copa+cubic,buffer=1bdp").iterdir()
    )
    assert [name for name in kept if name.startswith("kernel")] == ["kernel-seed1", "kernel-seed2"]
    assert len(kept) == 12

    page = Page()
    page.feed((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    assert page.fetched == []
    charts = [json.loads(plot) for plot in page.plots]
    charts = [chart for chart in charts if "curves" in chart]
    assert len(charts) == 2 * 4
    goodput = charts[0]["curves"]
    assert [curve["label"]["en"] for curve in goodput] == [
        "Copa, kernel", "CUBIC, kernel", "Copa, simulator", "CUBIC, simulator",
    ]  # fmt: skip
    assert [curve.get("dashed", False) for curve in goodput] == [False, False, True, True]
    assert goodput[0]["color"] == goodput[2]["color"]
    assert all(len(curve["y"]) <= 300 for curve in goodput)
    # Goodput adds up to the link's rate and no more.
    assert 20 < sum(np.mean(curve["y"]) for curve in goodput[:2]) < 50
    assert saved.is_file()


def test_a_run_with_the_next_seed_follows_an_invalid_one(fabricated_kernel, monkeypatch, tmp_path):
    invalid = Verdict((Reason("INVALID", "window", "an impossible window"),))

    def judge(scenario, *_):
        return invalid if scenario.seed in {1, 2, 4} else Verdict(())

    monkeypatch.setattr(sys.modules["dumbbell.run.run"], "evaluate", judge)
    scenario = Scenario(["copa", "cubic"], time="1s")
    result = dumbbell.xval([("mine", scenario)], tmp_path, reps=3, simulator_reps=2)
    case = result.cases[0]
    assert [run.scenario.seed for run in case.kernel] == [1, 2, 3, 4, 5, 6]
    assert [run.scenario.seed for run in case.valid] == [3, 5, 6]


def test_a_scenario_without_a_run_to_believe_is_exit_1(
    cli, monkeypatch, fabricated_kernel, tmp_path
):
    invalid = Verdict((Reason("INVALID", "lateness", "much too late"),))
    monkeypatch.setattr(sys.modules["dumbbell.run.run"], "evaluate", lambda *_: invalid)
    outcome = cli(*ARGUMENTS, "--simulator-reps", "1", "--out", str(tmp_path))
    assert outcome.code == 1
    assert outcome.out.count("  invalid: much too late") == 2
    assert "0 of 0 differences" in outcome.out


def test_without_a_run_to_believe_there_are_no_pairs(monkeypatch, fabricated_kernel, tmp_path):
    """What was simulated is there all the same."""
    invalid = Verdict((Reason("INVALID", "lateness", "much too late"),))
    monkeypatch.setattr(sys.modules["dumbbell.run.run"], "evaluate", lambda *_: invalid)
    scenario = Scenario(["copa", "cubic"], time="1s")
    result = dumbbell.xval([("mine", scenario)], tmp_path, reps=1, simulator_reps=2)
    share = result.cases[0].comparisons[0]
    assert (len(share.a), len(share.b), share.sides.paired) == (0, 2, False)


def test_json(cli, fabricated_kernel, tmp_path):
    outcome = cli(*ARGUMENTS, "--json", "--out", str(tmp_path), "--simulator-reps", "3")
    document = json.loads(outcome.out)
    assert set(document) == {
        "schema_version", "engine_version", "kernel_verdicts", "summary", "cases",
    }  # fmt: skip
    case = document["cases"][0]
    assert case["name"] == "copa+cubic,buffer=1bdp"
    first = case["comparisons"][0]
    assert (first["metric"], first["group"], first["cc"]) == ("share", 0, "copa")
    assert (len(first["simulator"]), len(first["kernel"])) == (3, 2)
    assert first["interval"][0] <= first["difference"] <= first["interval"][1]


def test_files_and_mixes_are_cases(cli, fabricated_kernel, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('time = "9s"\n[[group]]\ncc = "reno"\n')
    words = (str(path), "copa+cubic", "--time", "1s", "--sample", "0s", "--reps", "1")
    out = cli("validate", *words, "--json", "--out", str(tmp_path / "out")).out
    assert [case["name"] for case in json.loads(out)["cases"]] == ["mine", "copa+cubic"]


def test_from_python(fabricated_kernel, tmp_path):
    scenario = Scenario(["copa", "cubic"], time="1s")
    result = dumbbell.xval([("mine", scenario)], tmp_path, reps=2, simulator_reps=2)
    assert isinstance(result, dumbbell.CrossValidation)
    assert result.verdicts == {"OK": 2}
    assert [run.engine for run in result.cases[0].kernel] == ["kernel", "kernel"]
    assert [run.summary["engine"] for run in result.cases[0].simulator] == ["simulator"] * 2


def test_the_page_opens_in_the_language_asked_for(cli, fabricated_kernel, tmp_path):
    words = ("validate", "cubic", "--time", "1s", "--reps", "1", "--simulator-reps", "1")
    assert cli(*words, "--lang", "ja", "--out", str(tmp_path)).code == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    assert '<html lang="ja" data-language="ja">' in page
    assert "unknown language `jp`" in cli(*words, "--lang", "jp", "--out", str(tmp_path)).err


def test_pairs_of_one_seed_show_what_means_hide():
    """Shares that vary by 40 points with the seed, and differ by 2 points in each pair."""
    kernel, simulator = values(0.30, 0.50, 0.70), values(0.319, 0.52, 0.721)
    assert not compared(simulator, kernel)[0].excludes_zero
    pairs = compare_engines("", ["a", "b"], simulator, kernel, paired=True)
    assert pairs[0].excludes_zero
    assert engine_difference(pairs[0]) == pytest.approx(0.02)


def test_a_pair_of_which_one_has_no_value_is_left_out():
    kernel, simulator = values(0.5, 0.5, 0.5), values(0.6, 0.7, 0.8)
    kernel[1][0]["share"] = None
    share = compare_engines("", ["a", "b"], simulator, kernel, paired=True)[0]
    assert (share.a, share.b) == ((0.5, 0.5), (0.6, 0.8))


def test_a_kernel_s_own_algorithm_is_simulated_from_its_source(tmp_path):
    source = tmp_path / "net/ipv4/tcp_two.c"
    source.parent.mkdir(parents=True)
    source.write_text("tcp_register_congestion_control(&two);")
    scenario = Scenario(["linux/two", "linux/reno", "copa"])
    with pytest.raises(dumbbell.ScenarioError, match="`--linux-tree DIR`"):
        in_simulator(scenario)
    dumbbell.use_linux_tree(tmp_path)
    try:
        found = in_simulator(scenario)
    finally:
        dumbbell.use_linux_tree(None)
    assert [str(group.cc) for group in found.groups] == [str(source), "reno", "copa"]
