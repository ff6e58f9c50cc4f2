"""What a scenario asks is answered in words: what is best for each group, and how surely."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dumbbell import Group, Link, Scenario, Sweep
from dumbbell.base.errors import ScenarioError
from dumbbell.cli.answers import print_best
from dumbbell.compare.answers import listed, place, sentence, sweep_answers
from dumbbell.compare.best import best_cells
from dumbbell.compare.choices import condition_axes
from dumbbell.plots.result_figures import ResultFigures
from dumbbell.sweeps import SweepResult
from dumbbell.sweeps.design import make_design

WHICH_QUEUE = Path(__file__).resolve().parents[2] / "scenarios" / "which-queue.toml"


@pytest.fixture(scope="module")
def swept() -> SweepResult:
    """Three queues, three seeds each; what they measured is replaced."""
    groups = [Group("cubic", name="bulk", metric="goodput_bps"), Group("reno", metric="rtt_p95_us")]
    return Sweep(
        Scenario(groups, time="1.2s"), {"queue": ["bfifo", "fq_codel", "cake"]}, reps=3
    ).run(cache=False)


def with_values(result: SweepResult, name: str, values: dict[int, list[float | None]]) -> Any:
    """Return a sweep whose cells have some values of a metric, a list by repetition."""
    rows = result.rows
    column = [
        values[cell][rep]
        for cell, rep in zip(rows["cell"].to_pylist(), rows["rep"].to_pylist(), strict=True)
    ]
    at = rows.column_names.index(name)
    return replace(result, rows=rows.set_column(at, name, pa.array(column, pa.float64())))


def test_the_best_is_named_with_its_lead_and_the_surety(swept):
    result = with_values(
        swept, "goodput_bps", {0: [9e6, 9.1e6, 9e6], 1: [5e6, 5.2e6, 5e6], 2: [7e6, 7e6, 7.1e6]}
    )
    result = with_values(
        result,
        "rtt_p95_us",
        {0: [80e3, 81e3, 80e3], 1: [40e3, 43e3, 41e3], 2: [41e3, 41e3, 41.5e3]},
    )
    bulk, other = best_cells(result)
    assert (bulk.name, other.name) == ("bulk", "reno")
    assert sentence(bulk, result) == (
        "best with bfifo: goodput 9.03 Mbit/s, 2 Mbit/s (95 % interval 1.75 to 2.25) more than "
        "with cake, which is more than chance"
    )
    # Lower is better, and two are as good as far as three seeds can say.
    assert sentence(other, result) == (
        "best with cake and fq_codel, between which chance may decide: RTT, 95th percentile "
        "41.2 ms, 39.2 ms (95 % interval 37.3 to 41.1) less than with bfifo, which is more than "
        "chance"
    )


def test_places_of_crossed_axes_are_told_apart(swept):
    queues = ("bfifo", "cake")
    links = [Link(name, rate="10mbit") for name in ("down", "up")]
    scenario = Scenario(
        [Group("cubic", metric="goodput_bps", route=["down"], back=["up"])], links=links, time="1s"
    )
    axes = {f"link.{link.name}.queue": list(queues) for link in links}
    result = Sweep(scenario, axes).run(cache=False)
    places = [place(cell, result) for cell in result.cells]
    assert places == [f"{down}, {up}" for down in queues for up in queues]
    assert listed(places[:3]) == "bfifo, bfifo; bfifo, cake; and cake, bfifo"
    assert listed(places[:2]) == "bfifo, bfifo; and bfifo, cake"
    assert listed(["bfifo", "cake"]) == "bfifo and cake"
    joined = Sweep(scenario, axes, zipped=[tuple(axes)]).run(cache=False)
    assert [place(cell, joined) for cell in joined.cells] == [*queues]


def test_differences_that_chance_explains_are_no_answer(swept):
    noise: dict[int, list[float | None]] = {
        0: [5e6, 9e6, 7e6],
        1: [9e6, 5e6, 6e6],
        2: [6e6, 7e6, 8e6],
    }
    bulk, _ = best_cells(with_values(swept, "goodput_bps", noise))
    assert sentence(bulk, swept) == "goodput 6.67 to 7 Mbit/s: no difference beyond chance"


def test_a_cell_that_varies_much_is_never_best(swept):
    values: dict[int, list[float | None]] = {
        0: [0.7e6, 5.6e6, 2.1e6], 1: [0.553e6, 0.553e6, 0.554e6], 2: [0.66e6, 0.666e6, 0.661e6],
    }  # fmt: skip
    _, other = best_cells(with_values(swept, "rtt_p95_us", values))
    said = sentence(other, swept)
    assert said.startswith("best with fq_codel: ")
    assert "chance may decide" not in said
    assert said.endswith("; bfifo (2800 ms) may be worse by chance: the runs vary too much")
    del values[2]
    values[2] = [None] * 3
    _, other = best_cells(with_values(swept, "rtt_p95_us", values))
    assert sentence(other, swept).startswith("best with fq_codel: RTT, 95th percentile 553 ms; ")


def test_numbers_that_are_printed_alike_are_a_tie(swept):
    values: dict[int, list[float | None]] = {
        0: [4.3900, 4.3901, 4.3900], 1: [4.3892, 4.3893, 4.3892], 2: [2.1, 2.2, 2.1],
    }  # fmt: skip
    judged = [Group("cubic", name="bulk", metric="mos"), Group("reno")]
    design = replace(swept.design, scenario=Scenario(judged, time="1.2s"))
    result = replace(with_values(swept, "mos", values), design=design)
    mos = best_cells(result)[0]
    assert sentence(mos, result).startswith(
        "best with bfifo and fq_codel, a tie in practice: mean opinion score 4.39, 2.26 "
    )
    values[2] = [4.391, 4.391, 4.391]
    result = replace(with_values(swept, "mos", values), design=design)
    assert sentence(best_cells(result)[0], result) == "mean opinion score 4.39: a tie in practice"


def test_a_rate_is_a_condition_and_no_choice():
    scenario = Scenario([Group("cubic", metric="goodput_bps")], time="1s")
    axes = {"rate": ["5mbit", "10mbit"], "queue": ["bfifo", "fq_codel"]}
    result = Sweep(scenario, axes, reps=3).run(cache=False)
    texts = [answer.text for answer in sweep_answers(result)]
    assert [text.split(": ")[0] for text in texts] == ["at 5mbit", "at 10mbit"]
    assert not any("mbit" in text.partition(": ")[2] for text in texts)
    assert sweep_answers(Sweep(scenario, {"rate": axes["rate"]}, reps=3).run(cache=False)) == []
    others: list[tuple[dict[str, list[Any]], tuple[str, ...]]] = [
        ({"cc": ["cubic", "reno"], "buffer": ["1bdp", "2bdp"]}, ("buffer",)),
        ({"queue": ["bfifo", "codel"], "buffer": ["1bdp", "2bdp"]}, ()),
        ({"cubic.beta": [600, 819], "rtt": ["20ms", "40ms"]}, ("rtt",)),
    ]
    for other, conditions in others:
        assert condition_axes(make_design(scenario, other)) == conditions


def test_cells_without_a_value_are_said(swept):
    some: dict[int, list[float | None]] = {
        0: [9e6, 9.1e6, 9e6], 1: [None] * 3, 2: [7e6, 7e6, 7.1e6],
    }  # fmt: skip
    bulk, _ = best_cells(with_values(swept, "goodput_bps", some))
    assert sentence(bulk, swept).endswith("which is more than chance; no value with fq_codel")


def test_a_cell_without_a_value_in_some_runs_is_worse_and_said(swept, capsys):
    some: dict[int, list[float | None]] = {
        0: [9e6, None, None], 1: [5e6, 5.1e6, 5e6], 2: [7e6, 7e6, 7.1e6],
    }  # fmt: skip
    bulk, _ = best_cells(with_values(swept, "goodput_bps", some))
    assert sentence(bulk, swept).startswith("best with cake: goodput 7.03 Mbit/s, ")
    assert sentence(bulk, swept).endswith("more than chance; bfifo: no value in 2 of 3 runs")
    # Where only one has a value every time there is nothing that chance could decide.
    some[1] = [5e6, 5.1e6, None]
    result = with_values(swept, "goodput_bps", some)
    bulk, _ = best_cells(result)
    assert sentence(bulk, swept) == (
        "best with cake: goodput 7.03 Mbit/s; bfifo: no value in 2 of 3 runs; "
        "fq_codel: no value in 1 of 3 runs"
    )
    print_best(result)
    assert "chance       " not in capsys.readouterr().out


def test_several_runs_of_which_two_are_no_pair_are_not_called_one(swept, capsys):
    some: dict[int, list[float | None]] = {
        0: [9e6, None, None], 1: [None, 5.1e6, None], 2: [None] * 3,
    }  # fmt: skip
    print_best(with_values(swept, "goodput_bps", some))
    out = capsys.readouterr().out
    assert "one run of each" not in out
    assert "cannot rule out chance: add `--reps 6`" in out


def test_a_run_and_a_sweep_of_which_queue_end_in_answers(cli):
    run = cli("run", str(WHICH_QUEUE), "--time", "4s").out
    assert "\ncall in      mean opinion score " in run
    assert "\ndownload     goodput " in run
    queues = [f"link.{link}.queue=bfifo,fq_codel" for link in ("down", "up")]
    axes = [word for queue in queues for word in ("--axis", queue)]
    arguments = ["sweep", str(WHICH_QUEUE), *axes, "--zip", "link.down.queue,link.up.queue"]
    once = cli(*arguments, "--time", "4s").out
    assert "\ncall out     best with fq_codel: mean opinion score " in once
    assert "\nchance       one run of each cell cannot rule out chance: add `--reps 5`\n" in once
    often = cli(*arguments, "--time", "4s", "--reps", "3").out
    assert "\ncall out     best with fq_codel: mean opinion score " in often
    assert "with bfifo, which is more than chance\n" in often


def test_a_page_and_a_document_have_the_answers(cli, tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(Scenario([Group("cubic", name="bulk", metric="goodput_bps")]).to_toml())
    words = (str(path), "--time", "1s", "--out")
    run = json.loads(cli("run", *words, str(tmp_path / "r"), "--json").out)
    (answer,) = run["answers"]
    assert (answer["name"], answer["metric"]) == ("bulk", "goodput_bps")
    assert answer["text"].startswith("goodput ")
    assert "answers" not in json.loads(cli("run", "cubic", "--time", "1s", "--json").out)
    axis = ("--queue", "bfifo,fq_codel", "--json")
    swept = json.loads(cli("sweep", *words, str(tmp_path / "s"), *axis).out)
    texts = [run["answers"][0]["text"] for run in swept]
    assert texts[0] == texts[1]
    assert texts[0].startswith("best with ")
    for name, said in (("r", answer["text"]), ("s", texts[0])):
        assert cli("report", str(tmp_path / name)).code == 0
        page = (tmp_path / name / "report.html").read_text(encoding="utf-8")
        assert f"<strong>bulk</strong> {said}</li>" in page
        assert ("cannot rule out chance" in page) == (name == "s")


def test_what_a_group_cannot_be_judged_by_is_refused_before_anything_runs(cli, tmp_path):
    for metric, message in [
        ("moss", "unknown metric `moss`; did you mean `mos`?"),
        ("jain", "`cubic` cannot be judged by `jain`, which is of a run; use one of groups, like"),
    ]:
        groups = [Group("cubic", metric=metric)]
        with pytest.raises(ScenarioError) as error:
            Sweep(Scenario(groups), {})
        assert str(error.value).startswith(message)
        path = tmp_path / "scenario.toml"
        path.write_text(Scenario(groups).to_toml())
        outcome = cli("run", str(path))
        assert outcome.code == 2
        assert message in outcome.err


def test_a_metric_changes_nothing_that_runs():
    named, plain = Scenario([Group("cubic", metric="mos")]), Scenario(["cubic"])
    assert named.to_json() == plain.to_json()
    assert named.group_labels == plain.group_labels


def test_a_legend_has_the_groups_that_have_a_value(swept):
    values: dict[int, list[float | None]] = {cell: [4.0, 4.1, 4.2] for cell in range(3)}
    result = with_values(swept, "mos", values)
    names = ["bulk", "Reno"]
    of_bulk = [value if group == 0 else None for value, group in zip(
        result.rows["mos"].to_pylist(), result.rows["group"].to_pylist(), strict=True)]  # fmt: skip
    at = result.rows.column_names.index("mos")
    rows = result.rows.set_column(at, "mos", pa.array(of_bulk, pa.float64()))
    figures = ResultFigures(replace(result, rows=rows))
    for metric, labels in (("mos", names[:1]), ("goodput_bps", names)):
        (figure,) = figures.draw(figures.metric(metric))
        assert [curve.label for curve in figure.curves] == labels


def test_what_a_group_is_judged_by_can_be_set(cli):
    outcome = cli("run", "cubic", "--set", "0.metric=rtt_p95_us", "--time", "1s")
    assert outcome.code == 0, outcome.err
    assert "RTT, 95th percentile" in outcome.out
