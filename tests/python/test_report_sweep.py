"""A sweep's report: its content, that it needs no other file, and that it stays small."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
import shlex
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dumbbell
from dumbbell.base.errors import ResultError
from dumbbell.figures.figure import Curve, Figure
from dumbbell.metrics import METRICS
from dumbbell.models import MODELS
from dumbbell.plots.cell_values import CellValues
from dumbbell.plots.result_figures import ResultFigures
from dumbbell.report import embedded_series, sweep_page
from dumbbell.report.chart import chart, script_json
from dumbbell.report.rerun import rerun_text, seeds_text
from dumbbell.report.side_by_side import compare_sweeps, second_view
from dumbbell.report.source import load_results, sweep_of_run
from dumbbell.report.summary_table import write_fine
from dumbbell.report.sweep_page import render_sweep
from dumbbell.report.verdict_table import verdict_counts, verdict_notes
from dumbbell.statistics import Interval, mean_interval
from dumbbell.sweeps import Sweep, SweepResult


class Page(HTMLParser):
    """What a browser would fetch, what scripts hold, and what the tags are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.series: dict[str, str] = {}
        self.cells: list[int] = []
        self.charts: list[dict[str, Any]] = []
        self.is_json = False
        self.open_script = ""
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append(tag)
        self.fetched += [
            value
            for name, value in attrs
            if name in ("src", "href") and value and not value.startswith("#")
        ]
        if "data-cell" in attributes:
            self.cells.append(int(attributes["data-cell"]))
        identity = attributes.get("id") or ""
        self.open_script = identity if tag == "script" and identity.startswith("series-") else ""
        self.is_json = attributes.get("type") == "application/json" and identity != "labels"

    def handle_data(self, data):
        if self.open_script:
            self.series[self.open_script] = data
            self.open_script = ""
        if self.is_json:
            self.charts.append(json.loads(data))
            self.is_json = False


def unpacked(text: str) -> dict[str, dict[str, Any]]:
    """The charts of a cell, by their names without the group's: `cwnd`, `mode`."""
    found = json.loads(gzip.decompress(base64.b64decode(text)))
    return {each["name"].rpartition(".")[2]: each for each in found}


def known(curve: dict[str, Any]) -> list[float]:
    return [value for value in curve["y"] if value is not None]


def swept(directory: Path, ccs: list[str], *, reps: int = 3) -> SweepResult:
    scenario = dumbbell.Scenario(ccs, rate="10mbit", time="2s", name="</script><b>a name</b>")
    Sweep(scenario, {"buffer": "1..4bdp", "flows": [1, 2]}, reps=reps).run(
        cache=False, out=directory
    )
    return load_results(directory)


@pytest.fixture(scope="module")
def directory(tmp_path_factory) -> Path:
    directory: Path = tmp_path_factory.mktemp("sweep") / "bbr-cubic"
    swept(directory, ["bbr", "cubic"])
    return directory


@pytest.fixture(scope="module")
def result(directory) -> SweepResult:
    return load_results(directory)


@pytest.fixture(scope="module")
def page(result) -> str:
    return render_sweep(result)


def test_the_page_needs_no_network_and_is_small(page):
    parsed = Page(page)
    assert parsed.fetched == []
    assert "plotly" not in page
    assert len(page.encode()) < 400_000


def test_a_name_cannot_break_out_of_the_page(page):
    assert "<b>a name</b>" not in page
    assert "&lt;b&gt;a name&lt;/b&gt;" in page


def test_every_cell_can_be_selected_and_has_its_series(page, result):
    parsed = Page(page)
    everything = {cell.index for cell in result.cells}
    assert set(parsed.cells) == everything
    assert {cell for each in parsed.charts for cell in each["cells"]} == everything
    assert set(parsed.series) == {f"series-0-{cell}" for cell in everything}


def test_the_numbers_are_the_rows_own_with_their_interval(page, result):
    rows = result.rows.to_pandas()
    found = rows[(rows["buffer"] == "2bdp") & (rows["axis_flows"] == "1") & (rows["group"] == 1)]
    interval = mean_interval(100 * found["share"])
    text = unescape(re.sub(r"<[^>]+>", " ", page))
    assert f"{interval.mean:.1f} ± {interval.half_width:.1f}" in text


def test_models_lie_over_what_they_predict(page):
    label = f"model: {MODELS['ware'].label}, BBR"
    charts = Page(page).charts
    dashed = [c for each in charts for c in each["curves"] if c.get("dashed")]
    assert sum(curve["label"] == label for curve in dashed) >= 2, "in each of two panels"
    jain = [each for each in charts if each["name"].startswith("jain")]
    assert len(jain) == 2
    assert not [c for each in jain for c in each["curves"] if c.get("dashed")], "no prediction"


def test_series_keep_every_peak_and_average_rates(page, result):
    cell = next(cell for cell in result.cells if cell.label == "buffer=4bdp,flows=1")
    run = result.runs[cell.index, 0]
    charts = unpacked(Page(page).series[f"series-0-{cell.index}"])
    rows = run.flows.to_pandas()
    first = rows[rows["flow"] == 0]
    assert max(known(charts["rtt"]["curves"][0])) == pytest.approx(
        first["rtt_us"].max() / 1e3, rel=1e-3
    )
    assert np.mean(known(charts["goodput"]["curves"][0])) == pytest.approx(
        first["goodput_bps"].mean() / 1e6, rel=0.02
    )
    assert charts["mode"]["y_names"][0] == "startup"
    assert {"goodput", "cwnd", "inflight", "rtt", "queue", "mode", "bw"} <= set(charts)
    assert [curve["label"] for curve in charts["rtt"]["curves"]] == ["BBR", "CUBIC"]
    states = json.loads(gzip.decompress(base64.b64decode(Page(page).series["series-0-0"])))
    assert "state-0.mode" in [each["name"] for each in states]


def test_many_flows_are_a_line_per_group(tmp_path):
    run = dumbbell.run(dumbbell.Scenario([dumbbell.Group("reno", 6), dumbbell.Group("cubic", 6)],
                                         time="1s"))  # fmt: skip
    page = render_sweep(load_results(run.save(tmp_path / "run")))
    (text,) = Page(page).series.values()
    assert [curve["label"] for curve in unpacked(text)["cwnd"]["curves"]] == [
        "Reno, mean of the flows",
        "CUBIC, mean of the flows",
    ]


def test_a_long_run_gets_few_points(tmp_path):
    run = dumbbell.run(dumbbell.Scenario(["reno"], rate="2mbit", time="60s"))
    (text,) = Page(render_sweep(load_results(run.save(tmp_path / "run")))).series.values()
    cwnd = unpacked(text)["cwnd"]
    assert run.flows.num_rows > 5000
    assert len(cwnd["x"]) == embedded_series.MOST_POINTS
    assert cwnd["x"][-1] <= 60


def test_what_the_verdicts_remark_is_first_and_counted(tmp_path):
    held = dumbbell.Group("cubic", rwnd="20kB")
    Sweep(dumbbell.Scenario([held], time="1s"), {"buffer": "1..2bdp"}, reps=2).run(
        cache=False, out=tmp_path / "s"
    )
    result = load_results(tmp_path / "s")
    assert verdict_counts(result) == {"WARN": 4}
    (remark,) = verdict_notes(result)
    assert (remark.check, remark.runs, remark.examples[0]) == ("rwnd", 4, "buffer=1bdp, rep 0")
    page = render_sweep(result)
    assert page.index(remark.examples[0]) < page.index('id="numbers"')
    assert "receive window" in page


def test_a_run_by_itself_needs_no_name(tmp_path):
    held = dumbbell.Scenario([dumbbell.Group("cubic", rwnd="20kB")], time="1s")
    alone = load_results(dumbbell.run(held).save(tmp_path / "run"))
    assert [note.examples for note in verdict_notes(alone)] == [()]
    Sweep(held, {}, reps=2).run(cache=False, out=tmp_path / "reps")
    (note,) = verdict_notes(load_results(tmp_path / "reps"))
    assert note.examples == ("rep 0", "rep 1")


def test_invalid_runs_are_called_so_and_in_no_number(result):
    verdicts = result.rows["verdict"].to_pylist()
    cells, reps = result.rows["cell"].to_pylist(), result.rows["rep"].to_pylist()
    amiss = [
        "INVALID" if (cell, rep) == (0, 0) else verdict
        for verdict, cell, rep in zip(verdicts, cells, reps, strict=True)
    ]
    column = result.rows.column_names.index("verdict")
    judged = replace(result, rows=result.rows.set_column(column, "verdict", pa.array(amiss)))
    assert len(CellValues(result).values("share", 0, 0)) == 3
    assert len(CellValues(judged).values("share", 0, 0)) == 2
    assert "of the runs are INVALID and excluded from all numbers." in render_sweep(judged)


def test_a_run_is_a_page_of_its_own(tmp_path, short_run):
    page = render_sweep(load_results(short_run.save(tmp_path / "run")))
    assert len(Page(page).series) == 1
    assert 'id="figures"' not in page
    assert "dumbbell run scenario.toml" in page


def test_without_samples_there_is_no_series_and_the_page_still_is(tmp_path):
    run = dumbbell.run(dumbbell.Scenario(["reno"], time="1s", sample="0s"))
    page = render_sweep(load_results(run.save(tmp_path / "run")))
    assert Page(page).series == {}
    assert 'id="series"' not in page


def test_a_report_has_the_title_of_its_scenario(tmp_path):
    named = dumbbell.Scenario(["reno"], name="<Reno> & nobody", time="1s", sample="0s")
    page = render_sweep(load_results(dumbbell.run(named).save(tmp_path / "named")))
    assert "<h1>&lt;Reno&gt; &amp; nobody</h1>" in page
    run = dumbbell.run(named.replace(name="", groups=["reno", "cubic"]))
    assert "<h1>reno + cubic</h1>" in render_sweep(load_results(run.save(tmp_path / "unnamed")))


def test_an_interrupted_sweep_has_a_report_of_what_finished(tmp_path):
    swept(tmp_path / "s", ["reno"], reps=2)
    (tmp_path / "s" / "rows.parquet").unlink()
    for path in (tmp_path / "s" / "runs").glob("buffer=4bdp*"):
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
    result = load_results(tmp_path / "s")
    assert len(result.runs) == 8
    page = render_sweep(result)
    assert len(Page(page).series) == 4


def test_two_sweeps_are_shown_side_by_side(tmp_path, directory, result):
    other = swept(tmp_path / "s", ["bbr3", "cubic"])
    page = render_sweep(result, against=other)
    parsed = Page(page)
    assert len(parsed.series) == 2 * len(result.cells)
    assert any(curve.get("hollow") for each in parsed.charts for curve in each["curves"])
    assert "Repetitions of the same seed are compared in pairs." in page
    rows, others = result.rows.to_pandas(), other.rows.to_pandas()
    at = {"buffer": "1bdp", "axis_flows": "1", "group": 0}
    a, b = (
        frame.loc[(frame[list(at)] == pd_row(at)).all(axis=1), "goodput_per_flow_bps"] / 1e6
        for frame in (rows, others)
    )
    text = unescape(re.sub(r"<[^>]+>", " ", page))
    assert re.search(rf"{a.mean():.2f}\s+{b.mean():.2f}\s+[+-]{abs(b.mean() - a.mean()):.2f}", text)


def pd_row(words: dict[str, Any]) -> Any:
    return list(words.values())


def test_a_sweep_differs_nowhere_from_itself(result):
    page = render_sweep(result, against=result)
    counts = re.findall(r"</strong>: (\d+) / (\d+)", page)
    assert counts
    assert all(differ == "0" for differ, _ in counts)


def test_of_two_groups_one_share_is_tested(result):
    figures = ResultFigures(result, second_view(result, result))
    share, goodput = (
        compare_sweeps(figures, [figures.metric(name)]).tables[0]
        for name in ("share", "goodput_per_flow_bps")
    )
    cells = len(result.cells)
    assert (share.tested, share.count) == (cells, cells), "the other's is the rest"
    assert (goodput.tested, goodput.count) == (2 * cells, 2 * cells)


def test_sweeps_without_a_common_cell_are_refused(tmp_path, result):
    Sweep(dumbbell.Scenario(["bbr", "cubic"], time="1s"), {"rtt": "10..20ms"}).run(
        cache=False, out=tmp_path / "s"
    )
    with pytest.raises(ResultError, match="no cell in common; the nearest differ in"):
        render_sweep(result, against=load_results(tmp_path / "s"))


def single(**words: Any) -> SweepResult:
    """A sweep as the command line makes it of single values: they are in the scenario."""
    scenario = dumbbell.Scenario(["reno", "cubic"], time="1s", **words)
    return Sweep(scenario, {}).run(cache=False)


def test_cells_of_other_conditions_are_not_compared():
    a, b = single(rate="5mbit", buffer="2bdp"), single(rate="10mbit", buffer="8bdp")
    assert a.cells[0].label == b.cells[0].label == "all"
    said = r"differ in rate \(`5mbit` and `10mbit`\), buffer \(`2bdp` and `8bdp`\)"
    with pytest.raises(ResultError, match=said):
        second_view(a, b)
    alone = Sweep(dumbbell.Scenario(["reno"], time="1s"), {}).run(cache=False)
    with pytest.raises(ResultError, match="have 2 and 1 groups of flows"):
        second_view(a, alone)


def test_a_page_of_two_runs_says_which_and_has_both_numbers():
    a, b = (
        single_of([dumbbell.Group(cc, name="download")], queue=queue)
        for cc, queue in (("cubic", "bfifo"), ("bbr", "fq_codel"))
    )
    page = render_sweep(a, against=b, names=("results/a", "results/b"))
    plain = re.sub(r"<script.*?</script>|<[^>]+>", " ", page, flags=re.DOTALL)
    text = " ".join(unescape(plain).split())
    assert "two runs" in text
    assert "A results/a" in text
    assert "B results/b" in text
    assert "download: A cubic , B bbr" in text
    assert "queue: A bfifo , B fq_codel" in text
    numbers = page[page.index('id="numbers"') : page.index('id="series"')]
    assert numbers.count("<h3>A</h3>") == numbers.count("<h3>B</h3>") == 1
    for result in (a, b):
        mean = 1e-6 * float(result.rows["goodput_per_flow_bps"][0].as_py())
        assert f"{mean:.1f}" in numbers
    charts = [unpacked(series) for series in Page(page).series.values()]
    assert len(charts) == 2
    for name in ("goodput", "rtt", "cwnd"):
        assert charts[0][name]["range"] == charts[1][name]["range"], "one scale side by side"


def test_a_group_with_two_names_has_both():
    a, b = (single_of([dumbbell.Group("cubic", name=name)]) for name in ("before", "after"))
    figures = ResultFigures(a, second_view(a, b))
    (table,) = compare_sweeps(figures, [figures.metric("goodput_bps")]).tables
    assert table.rows[0].group == "before → after"


def single_of(groups: list[dumbbell.Group], **words: Any) -> SweepResult:
    scenario = dumbbell.Scenario(groups, rate="10mbit", time="1s", **words)
    return sweep_of_run(dumbbell.run(scenario))


def test_cells_of_the_same_conditions_are_compared_whatever_the_axes(tmp_path):
    fours = [dumbbell.Group(cc, 4) for cc in ("reno", "cubic")]
    a = Sweep(
        dumbbell.Scenario(["reno", "cubic"], time="1s"), {"flows": [2, 4], "buffer": "1..4bdp"}
    )
    b = Sweep(dumbbell.Scenario(fours, time="1s"), {"buffer": "2..8bdp"})
    first, second = a.run(out=tmp_path / "a"), b.run(out=tmp_path / "b")
    figures = ResultFigures(first, second_view(first, second))
    goodput = figures.metric("goodput_bps")
    compared = compare_sweeps(figures, [goodput])
    assert (compared.cells, compared.only_a, compared.only_b) == (2, 4, 1)
    assert compared.is_paired
    assert all(row.a == row.b for row in compared.tables[0].rows)
    (_, four) = figures.draw(goodput)
    hollow = next(curve for curve in four.curves if curve.hollow)
    assert list(np.isfinite(hollow.y)) == [False, True, True]
    packed, _ = embedded_series.embed(figures.shown, lambda _share: None)
    assert [each.cell for each in packed if each.which == 1] == [4, 5]


def test_the_page_has_a_bound(result, monkeypatch):
    whole = render_sweep(result)
    monkeypatch.setattr(embedded_series, "MAX_BYTES", 10_000)
    monkeypatch.setattr(sweep_page, "MAX_PLACES", 3 * len(result.cells))
    monkeypatch.setattr(sweep_page, "MAX_CELLS", 4)
    page = render_sweep(result)
    assert len(page) < len(whole)
    assert "Cells without time series, to keep" in page
    assert "Cells without a row; rows.parquet" in page
    assert "Metrics without a figure" in page
    assert "rto_count" in page[page.index("Metrics without a figure") :]
    assert len(Page(page).charts) < len(Page(whole).charts) / 3


def test_the_command_in_the_page_runs_the_same_again(cli, tmp_path, result):
    (tmp_path / "scenario.toml").write_text(result.scenario.to_toml())
    words = shlex.split(rerun_text(result))
    words[words.index("scenario.toml")] = str(tmp_path / "scenario.toml")
    outcome = cli(*words[1:], "--out", str(tmp_path / "again"))
    assert outcome.code == 0, outcome.err
    assert load_results(tmp_path / "again").rows.equals(result.rows)


def test_the_command_of_a_links_steps_runs_the_same_again(cli, tmp_path):
    """Steps have commas of their own, so the values of their axis are separated by `;`."""
    links = [dumbbell.Link("up", rate="5mbit")]
    line = dumbbell.Scenario(["reno"], links=links, time="1s", sample="0s")
    steps = ["0.3s:2mbit, 0.6s:1mbit", "0.3s:3mbit"]
    swept = Sweep(line, {"link.up.rate_steps": steps}).run(cache=False)
    (tmp_path / "scenario.toml").write_text(line.to_toml())
    words = shlex.split(rerun_text(swept))
    words[words.index("scenario.toml")] = str(tmp_path / "scenario.toml")
    outcome = cli(*words[1:], "--out", str(tmp_path / "again"))
    assert outcome.code == 0, outcome.err
    assert load_results(tmp_path / "again").rows.equals(swept.rows)


def test_seeds_that_follow_one_another_are_a_range():
    assert [seeds_text(seeds) for seeds in ([4], [1, 2], [1, 2, 3], [1, 2, 9])] == [
        "4", "1, 2", "1–3", "1, 2, 9",
    ]  # fmt: skip


def test_the_same_sweep_gives_the_same_page(directory, page):
    assert render_sweep(load_results(directory)) == page


def test_report_on_the_command_line(cli, directory, tmp_path):
    outcome = cli("report", str(directory), "--out", str(tmp_path / "page.html"), "--lang", "ja")
    assert (outcome.code, outcome.err) == (0, "")
    assert "runs: 18 OK" in outcome.out
    assert '<html lang="ja" data-language="ja">' in (tmp_path / "page.html").read_text("utf-8")
    outcome = cli("report", str(directory), "--json")
    document = json.loads(outcome.out)
    assert document["bytes"] == (directory / "report.html").stat().st_size
    assert (document["runs"], document["cells"]) == (18, 6)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["report", "{}"], "holds no results"),
        (["report", "{}/nowhere"], "nowhere: does not exist"),
        (["report", "{}", "--lang", "jp"], "unknown language `jp`"),
        (["plot", "{}"], "holds no results"),
    ],
)
def test_what_cannot_be_reported_is_refused_in_one_line(cli, tmp_path, words, said):
    outcome = cli(*(word.format(tmp_path) for word in words))
    assert outcome.code == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_chart_has_what_the_figure_has():
    x, y = np.array([1.0, 2, 4, 8]), np.array([1.0, math.nan, 3, 4])
    curve = Curve("a</script>", x, y, "#000000", "s", low=y - 1, high=y + 1)
    figure = Figure("f", "", "buffer (BDP)", "share (%)", (curve,), x_ticks=(1, 2, 4, 8))
    drawn = chart(figure, extent=(0, 4), cells=[3, 1, 2, 0])
    assert drawn["curves"][0]["y"] == [1, None, 3, 4], "a line ends where a value is missing"
    assert drawn["curves"][0]["low"] == [0, None, 2, 3]
    assert (drawn["x"], drawn["ticks"], drawn["cells"]) == (
        [1, 2, 4, 8],
        (1, 2, 4, 8),
        [3, 1, 2, 0],
    )
    assert drawn["range"] == pytest.approx((0, 4.2))
    assert drawn["x_label"] == {"en": "buffer (BDP)", "ja": "バッファ (BDP)"}
    assert "</script>" not in script_json(drawn)


def test_curves_of_other_points_keep_their_own():
    a = Curve("a", np.array([1.0, 2]), np.array([5.0, 6]), "#000000")
    b = Curve("b", np.array([1.5, 2]), np.array([7.0, 8]), "#000000")
    drawn = chart(Figure("f", "", "time (s)", "y", (a, b)))
    assert "x" not in drawn
    assert [curve["x"] for curve in drawn["curves"]] == [[1, 2], [1.5, 2]]
    assert (drawn.get("x_label"), drawn["x_unit"]) == (None, "s"), "its ticks have the unit"


@pytest.mark.parametrize(
    ("half_width", "said"), [(3.0, "80 ± 3"), (0.04, "79.90 ± 0.04"), (0.0001, "79.90 ± <0.01")]
)
def test_a_narrow_interval_has_digits(half_width, said):
    interval = Interval(79.9, 79.9 - half_width, 79.9 + half_width, 0.95, 5, "Student t")
    assert write_fine(interval, 0) == said


def test_gains_are_in_ones(directory, result, page):
    gain = unpacked(Page(page).series["series-0-0"])["pacing_gain"]
    assert max(known(gain["curves"][0])) == pytest.approx(2.89, 0.01)


def test_one_cell_has_no_figures_and_an_axis_of_one_value_no_name(tmp_path):
    scenario = dumbbell.Scenario(["reno", "cubic"], time="1s")
    Sweep(scenario, {"buffer": "2bdp"}, reps=3).run(cache=False, out=tmp_path / "s")
    assert 'id="figures"' not in render_sweep(load_results(tmp_path / "s"))
    two = {"buffer": "2bdp", "rtt": "10ms,20ms"}
    Sweep(scenario, two).run(cache=False, out=tmp_path / "t")
    page = render_sweep(load_results(tmp_path / "t"))
    assert '["rtt=10ms","rtt=20ms"]' in page


def test_every_metric_has_a_title_that_pages_translate():
    from dumbbell.report.language import japanese

    assert [m.title for m in METRICS.values() if m.title not in japanese()] == []
