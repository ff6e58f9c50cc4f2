"""Models next to the papers' findings and figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dumbbell
from dumbbell.figures import Curve, Figure
from dumbbell.figures.frame import save
from dumbbell.models import MODELS
from dumbbell.report.chart import chart
from dumbbell_studies.papers import PAPERS, Paper, Reproduction
from dumbbell_studies.papers.coexistence import Point, grid, scenario
from dumbbell_studies.papers.reproduce import evaluate
from dumbbell_studies.report.reproduction_page import render, render_site


@pytest.fixture(scope="module")
def coexistence() -> Paper[Any, Any]:
    """The quick runs in five seconds instead of 120."""
    paper = PAPERS["coexistence"]
    return replace(
        paper,
        quick_points=grid((1.0, 2.0, 4.0, 8.0, 18.0)),
        scenario=lambda point, seed: paper.scenario(point, seed).replace(time="5s"),
    )


@pytest.fixture(scope="module")
def reproduction(coexistence) -> Reproduction:
    placed = coexistence.placed([1], quick=True)
    runs = {name: dumbbell.run(s) for name, s in coexistence.scenarios([1], quick=True)}
    measured = {name: coexistence.measure(placed[name][0], run) for name, run in runs.items()}
    engines = [
        evaluate(coexistence, engine, placed, runs, measured, lambda _share, _what: None)
        for engine in ("simulator", "kernel")
    ]
    return Reproduction(coexistence, (1,), tuple(engines), quick=True)


@pytest.mark.parametrize("name", PAPERS)
def test_model_checks_are_about_the_paper_s_own_findings(name):
    said = PAPERS[name].model_checks()
    findings = {each.finding for each in said}
    letter = {"ogino2021": "A", "saito2022": "B", "kakenhi2024": "C", "coexistence": "D"}[name]
    assert len(findings) == len(said)
    assert all(finding[0] == letter for finding in findings)
    assert all(each.checks for each in said)
    assert bool(said) == (name != "ogino2021"), "no model is of Copa against another"


def test_ware_s_model_says_that_bbr_falls_as_the_buffer_grows():
    d2 = next(each for each in PAPERS["coexistence"].model_checks() if each.finding == "D2")
    share = MODELS["ware"].predict(scenario(Point(with_cubic=True, buffer_bdp=1), 1))
    assert d2.checks[0].seen.startswith(f"{share.metric('goodput_bps', 0) / 1e6:.2f} and ")
    assert d2.shown
    assert d2.to_dict()["model"] == MODELS["ware"].label


def test_lock_in_is_predicted_where_the_model_says():
    b3 = next(each for each in PAPERS["saito2022"].model_checks() if each.finding == "B3")
    locks = {c.expected.split()[0]: c.holds for c in b3.checks}
    assert locks == {"64": False, "128": True}
    assert not b3.shown, "the paper's 64 flows lock in"


def test_a_model_s_curve_is_hidden_at_first(reproduction, tmp_path):
    figure = next(f for f in reproduction.figures if f.name == "bbr-and-cubic")
    models = [curve for curve in figure.curves if curve.optional]
    assert [curve.label for curve in models] == [
        f"model: {MODELS['ware'].label}, {cc}" for cc in ("BBR", "CUBIC")
    ]
    drawn = {curve["label"]: curve for curve in chart(figure)["curves"]}
    assert [drawn[curve.label]["off"] for curve in models] == [True] * 2
    assert "off" not in drawn["BBR"]
    _, svg = save(figure, tmp_path)
    assert "model:" not in svg.read_text(), "for print it is left out"
    expected = MODELS["ware"].predict(scenario(Point(with_cubic=True, buffer_bdp=4.0), 1))
    assert models[0].y[2] == pytest.approx(expected.metric("goodput_bps", 0) / 1e6)


def test_the_front_page_has_paper_simulator_kernel_and_model(reproduction):
    page = render_site([reproduction], "dumbbell reproduce")
    front = page[page.index('id="front"') : page.index('id="coexistence"')]
    assert front.count('<th scope="row">D') == 3
    row = front[front.index('<th scope="row">D2') : front.index('<th scope="row">D3')]
    assert row.count("<td>") == 4
    assert MODELS["ware"].label in row
    assert "2 / 2" in front, "both findings that a model is of"
    d3 = front[front.index('<th scope="row">D3') :]
    assert '<span class="soft">–</span>' in d3[: d3.index("</tr>")], "there is no model of it"


def test_without_the_kernel_there_is_no_column_for_it(reproduction):
    alone = replace(reproduction, results=reproduction.results[:1])
    front = render_site([alone], "dumbbell reproduce")
    assert "not run</span>" not in front
    row = front[front.index('<th scope="row">D2') : front.index('<th scope="row">D3')]
    assert row.count("<td>") == 3
    both = render_site([alone, reproduction], "dumbbell reproduce")
    assert both.count('<span lang="en">not run</span>') == 3, "of the paper that ran without it"
    assert "says so" in render(alone), "a paper's own page has the model too"


def test_builds_are_distinguished_by_their_engine(reproduction):
    page = render(reproduction)
    table = page[page.index("Congestion controls that ran") : page.index('id="verdicts"')]
    assert "kernel" not in table, "these runs are the simulator's"
    assert '<span lang="en">engine</span>' in table
    assert "<code>extra_acked_gain=0</code>" in page


def test_the_model_is_in_the_json(reproduction):
    findings = {each["id"]: each for each in reproduction.to_dict()["findings"]}
    assert findings["D2"]["model"]["shown"] is True
    assert findings["D3"]["model"] is None


def test_a_hollow_curve_is_hollow_in_both_renderings(tmp_path):
    curve = Curve("B", np.array([1.0, 2]), np.array([1.0, 2]), "#0072b2", "o", hollow=True)
    figure = Figure("f", "", "x", "y", (curve,))
    (drawn,) = chart(figure)["curves"]
    assert (drawn["marker"], drawn["hollow"]) == ("o", True)
    assert save(figure, tmp_path)[0].is_file()
