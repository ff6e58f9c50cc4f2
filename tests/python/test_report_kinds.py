"""`dumbbell report` of analyses and reproductions, pages that open themselves, and notebooks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import dumbbell
from dumbbell.capture_analysis import Analysis
from dumbbell.report.analysis_page import render_analysis
from dumbbell.sweeps import Sweep


@pytest.fixture(scope="module")
def analysis(tmp_path_factory) -> Path:
    """The analysis of a run's capture, as `analyze --out` saves it."""
    place: Path = tmp_path_factory.mktemp("captured")
    scenario = dumbbell.Scenario(["copa", "cubic"], rate="10mbit", time="2s")
    dumbbell.run(scenario, capture=place / "captured").save(place / "run")
    dumbbell.analyze(place / "run", segments=[0]).save(place / "analysis")
    return place / "analysis"


def test_an_analysis_is_read_as_it_was_saved(analysis):
    again = Analysis.load(analysis)
    document = json.loads((analysis / "analysis.json").read_text(encoding="utf-8"))
    assert again.to_dict() == document
    assert again.congestion_controls == ("copa", "cubic")
    assert again.segments.num_rows > 0


def test_an_analysis_has_a_page_with_its_flows_by_congestion_control(cli, analysis, tmp_path):
    page = tmp_path / "page.html"
    outcome = cli("report", str(analysis), "--out", str(page), "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["connections"] == 2
    text = page.read_text(encoding="utf-8")
    figures = [
        json.loads(found)
        for found in re.findall(r'<script type="application/json">(.*?)</script>', text)
    ]
    names = [figure["name"] for figure in figures]
    assert names[:3] == ["throughput", "rtt", "inflight"]
    assert "time-sequence-0-detail" in names
    looks = {curve["label"]: curve["color"] for curve in figures[1]["curves"]}
    assert looks == {"0: Copa": "#d55e00", "1: CUBIC": "#0072b2"}


def test_a_file_s_name_cannot_break_out_of_the_page(analysis):
    named = Analysis.load(analysis)
    named.path = "</script><b>x</b>"
    assert "<b>x</b>" not in render_analysis(named)


def test_an_analysis_is_not_compared(cli, analysis):
    outcome = cli("report", str(analysis), "--against", str(analysis))
    assert outcome.code == 2
    assert "--against compares runs and sweeps" in outcome.err


def test_a_reproduction_s_page_is_the_one_that_it_wrote(cli, tmp_path):
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "findings.json").write_text("{}")
    outcome = cli("report", str(tmp_path))
    assert (outcome.code, "`dumbbell reproduce` with the same --out" in outcome.err) == (2, True)
    (tmp_path / "paper" / "report.html").write_text("the page")
    assert cli("report", str(tmp_path), "--out", str(tmp_path / "copy.html")).code == 0
    assert (tmp_path / "copy.html").read_text() == "the page"


def test_show_opens_the_page_or_says_where_it_is(cli, tmp_path, monkeypatch):
    opened: list[str] = []

    def browse(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr("webbrowser.open", browse)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    words = ("run", "reno", "--time", "1s", "--show", "--out", str(tmp_path / "run"))
    url = (tmp_path / "run" / "report.html").as_uri()
    assert f"open {url}" in cli(*words).out.replace("\n", "")
    assert opened == []
    monkeypatch.setenv("DISPLAY", ":0")
    assert cli(*words).code == 0
    assert opened == [url]


def test_notebooks_show_results_as_tables_and_figures(analysis, short_run):
    sweep = Sweep(dumbbell.Scenario(["reno", "cubic"], time="1s"), {"buffer": "1..4bdp"}).run()
    for result in (short_run, sweep, Analysis.load(analysis)):
        assert result._repr_html_().startswith("<table><caption>")
        assert result.plot()._repr_png_().startswith(b"\x89PNG")
    assert "CUBIC" in [text.get_text() for text in sweep.plot("share").legends[0].get_texts()]


def test_a_run_without_time_series_cannot_be_drawn():
    run = dumbbell.run(dumbbell.Scenario(["reno"], time="1s", sample="0s"))
    with pytest.raises(dumbbell.ResultError, match="no time series"):
        run.plot()
