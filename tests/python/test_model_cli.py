"""`dumbbell model`."""

import json
from pathlib import Path

import pytest

from dumbbell import Scenario
from dumbbell.models import MODELS


def test_lists(cli):
    outcome = cli("model")
    assert outcome.code == 0
    for name in MODELS:
        assert name in outcome.out
    documents = json.loads(cli("model", "--json").out)
    assert [document["name"] for document in documents] == list(MODELS)
    assert {document["status"] for document in documents} == {"published", "derived"}


@pytest.mark.parametrize("name", MODELS)
def test_each_model_prints_a_table_and_the_same_as_json(cli, name):
    outcome = cli("model", name)
    assert outcome.code == 0
    assert outcome.err == ""
    document = json.loads(cli("model", name, "--json").out)
    assert document["model"] == name
    assert document["points"]
    # What was worked out here is called that.
    assert ("derived" in outcome.out) == (document["status"] == "derived" or name == "mathis")


def test_limits_of_a_run_s_samples_are_no_model_s(cli):
    outcome = cli("model", "bbr-many", "--flows", "20000", "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["points"][0]["flows"] == 20_000


def test_fair_shares_of_parking_lots(cli):
    outcome = cli("model", "sharing", "--links", "1,3")
    assert (outcome.code, outcome.err) == (0, "")
    assert "36.6" in outcome.out  # 1/(1 + √3)
    document = json.loads(cli("model", "sharing", "--links", "3", "--cross", "2", "--json").out)
    assert document["points"] == [
        {
            "links": 3,
            "cross": 2,
            "max_min": pytest.approx(1 / 3),
            "minimum_potential_delay": pytest.approx(1 / (1 + 2 * 3**0.5)),
            "proportional_fair": pytest.approx(1 / (1 + 2 * 3)),
        }
    ]


def test_fair_rates_of_a_scenario(cli):
    lot = str(Path(__file__).parents[2] / "scenarios/parking-lot.toml")
    points = json.loads(cli("model", "sharing", lot, "--json").out)["points"]
    scenario = Scenario.from_toml(lot)
    assert [point["cc"] for point in points] == [str(group.cc) for group in scenario.groups]
    for link in scenario.links:
        for rule in ("max_min", "minimum_potential_delay", "proportional_fair"):
            load_bps = sum(
                group.flows * point[f"{rule}_bps"]
                for group, point in zip(scenario.groups, points, strict=True)
                if link.name in (group.route or ())
            )
            assert load_bps == pytest.approx(int(link.rate), rel=1e-6)
    outcome = cli("model", "sharing", lot)
    assert (outcome.code, outcome.err) == (0, "")
    assert f"{points[0]['max_min_bps'] / 1e6:.2f}" in outcome.out


def test_ware_s_table(cli):
    arguments = ("model", "ware", "--rate", "10mbit", "--rtt", "40ms")
    outcome = cli(*arguments, "--buffer", "1..64bdp", "--flows", "1,2,4")
    assert outcome.out.count("bdp") == 21
    assert "62.9" in outcome.out
    points = json.loads(cli(*arguments, "--buffer", "4bdp", "--json").out)["points"]
    assert points[0]["bbr_share"] == pytest.approx(0.629, abs=0.001)
    bursts = json.loads(cli(*arguments, "--buffer", "4bdp", "--burst-pkts", "3", "--json").out)
    assert bursts["points"][0]["bbr_share"] > points[0]["bbr_share"]


def test_from_intervals_and_loss_rates(cli):
    arguments = ("--interval", "5s,10s", "--rtt", "100ms", "--json")
    points = json.loads(cli("model", "cubic-interval", *arguments).out)["points"]
    assert [round(point["w_avg_pkts"]) for point in points] == [154, 1233]
    arguments = ("--loss", "1e-4..1e-2,0.1%", "--rtt", "40ms", "--json")
    points = json.loads(cli("model", "mathis", *arguments).out)["points"]
    assert [point["loss"] for point in points] == pytest.approx([1e-4, 1e-3, 1e-2, 1e-3])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sharing", "--links", "101"], "links `101`: use at most 100"),
        (["wäre"], "no such command: `wäre`; did you mean `ware`?"),
        (["ware", "--rate", "10"], "rate `10` has no unit; use e.g."),
        (["ware", "--rtt", "40mbit"], "rtt `40mbit` has the wrong unit `mbit`"),
        (["ware", "--buffer", "0bdp"], "buffer `0bdp` is zero; use e.g."),
        (["ware", "--flows", "none"], "flows `none` is not a list of counts; use e.g."),
        (["mathis", "--loss", "2"], "use 1e-15 to below 1, e.g. `1e-3` or `0.1%`"),
        (["mathis", "--loss", "1e-2..1e-4"], "a range must increase"),
        (["pftk", "--loss", "many"], "invalid loss rate `many`: use 1e-15 to below 1"),
        (["mathis", "--loss", "1e-320"], "invalid loss rate `1e-320`"),
        (["copa", "--inv-delta", "inf"], "--inv-delta"),
        (["ware", "--burst-pkts", "nan"], "--burst-pkts"),
        (["pftk", "--rto", "1"], "rto `1` has no unit"),
        (["cubic-interval", "--interval", "4"], "interval `4` has no unit"),
        (["bbr-fca", "--theta", "2"], "--theta"),
        (["compare", "warre"], "unknown model `warre`; did you mean `ware`?"),
        (["compare", "pftk"], "unknown model `pftk`"),
        (["compare", "ware", "--time", "5s"], "last `400s` is longer than the run; use at most"),
        (["compare", "ware", "--reps", "0"], "reps is 0; use 1 or more"),
        (["compare", "ware", "--rate", "10mbit,20mbit"], "`--rate 10mbit,20mbit` lists 2 values"),
        (["compare", "ware", "--cc", "linux/bbr"], "use `--engine uml` or `kernel`, or `bbr`"),
        (["compare", "ware", "--cc", "copa"], "it covers BBR (version 1) against CUBIC or Reno"),
        (["--json", "ware"], "use `dumbbell model ware … --json`"),
    ],
)
def test_an_error_is_one_line(cli, arguments, said):
    outcome = cli("model", *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    assert said in outcome.err


def test_compares_with_the_simulator(cli, tmp_path):
    arguments = ("model", "compare", "ware", "--buffer", "1..4bdp", "--flows", "1,2")
    short = ("--time", "10s", "--last", "5s")
    outcome = cli(*arguments, *short, "--out", str(tmp_path / "figures"))
    assert outcome.code == 0
    assert outcome.err == ""
    for text in ("2 BDP and more: 4 points", "less: 2 points", "N = 2", "worst:", "runs: "):
        assert text in outcome.out
    assert sorted(path.name for path in (tmp_path / "figures").glob("*.svg")) == [
        "ware-n1.svg", "ware-n2.svg",
    ]  # fmt: skip
    document = json.loads(cli(*arguments, *short, "--json").out)
    assert len(document["points"]) == 6
    assert document["errors"]["2 BDP and more"]["count"] == 4
    assert document["points"][0]["metric"] == "share"
