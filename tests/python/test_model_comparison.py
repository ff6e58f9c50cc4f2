"""A model laid over runs, as curves and as errors."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import dumbbell
from dumbbell.figures.frame import save
from dumbbell.metrics import Warmup, measure
from dumbbell.models import MODELS, DoesNotApply, Headline, Prediction
from dumbbell.models.comparison import ModelComparison, compare_model, summarize
from dumbbell.plots import overlay
from dumbbell.plots.comparison_figure import draw_comparison
from dumbbell.plots.result_figures import ResultFigures
from dumbbell.report.chart import chart
from dumbbell.sweeps import Sweep

WARE = MODELS["ware"]
DELAY = Headline("queue_delay_mean_us", None, "queueing delay", "ms", 1e-3, is_relative=True)
SHARE = Headline("share", 0, "BBR's share", "%", 100, is_relative=False)


def pair(buffer: str, time: str = "2s", seed: int = 1) -> dumbbell.Scenario:
    return dumbbell.Scenario(
        ["bbr", "cubic"], rate="10mbit", buffer=buffer, time=time, sample="100ms", seed=seed
    )


def share(prediction: Prediction) -> float:
    return prediction.metric("share", 0)


def test_an_overlay_is_dashed_and_says_what_it_is():
    scenarios = [pair(f"{buffer}bdp") for buffer in (2, 4, 8)]
    curve = overlay(
        WARE, scenarios, [2, 4, 8], lambda p: 100 * p.metric("share", 0), "#009e73", of="BBR"
    )
    assert curve is not None
    assert curve.dashed
    assert curve.label == "model: Ware et al. 2019, BBR"
    assert curve.x.tolist() == [2, 4, 8]
    assert curve.y == pytest.approx([78.5, 62.9, 54.5], abs=0.1)


def test_an_overlay_leaves_out_what_the_model_does_not_cover():
    scenarios = [pair("2bdp"), dumbbell.Scenario(["copa", "cubic"]), pair("8bdp")]
    curve = overlay(WARE, scenarios, [1, 2, 3], share, "#000000")
    assert curve is not None
    assert curve.x.tolist() == [1, 3]
    assert overlay(WARE, scenarios[:2], [1, 2], share, "#000000") is None
    assert overlay(MODELS["pftk"], scenarios, [1, 2, 3], share, "#000000") is None


@pytest.fixture(scope="module")
def sweep():
    return Sweep(pair("1bdp"), {"buffer": "1..4bdp"}, reps=3).run(cache=False)


def test_a_sweep_s_figures_have_the_models_that_are_of_such_flows(sweep, tmp_path):
    figures = ResultFigures(sweep)
    (shares,) = figures.draw(figures.metric("share"))
    assert [(curve.label, curve.dashed) for curve in shares.curves] == [
        ("BBR", False),
        ("CUBIC", False),
        ("model: Ware et al. 2019, BBR", True),
        ("model: Ware et al. 2019, CUBIC", True),
    ]
    assert shares.curves[0].x.tolist() == [1, 2, 4]
    sums = shares.curves[0].y + shares.curves[1].y
    assert sums == pytest.approx([100, 100, 100])
    # Ware et al.'s model says nothing of the queue.
    (delay,) = figures.draw(figures.metric("queue_delay_mean_us"))
    assert [curve.label for curve in delay.curves] == [""]
    assert [c.get("dashed", False) for c in chart(shares)["curves"]] == [False, False, True, True]
    png, svg = save(shares, tmp_path)
    assert png.stat().st_size > 10_000
    assert "model: Ware et al. 2019, BBR" in svg.read_text(encoding="utf-8")


def test_flows_alone_have_their_own_model_and_no_share():
    cubic = dumbbell.Scenario([dumbbell.Group("cubic", 1)], buffer="2bdp", time="1s")
    figures = ResultFigures(Sweep(cubic, {"flows": [1, 2, 4]}).run(cache=False))
    assert [metric.name for metric in figures.usual] == [
        "goodput_per_flow_bps",
        "queue_delay_mean_us",
    ]
    (figure,) = figures.draw(figures.metric("queue_delay_mean_us"))
    assert figure.x_label == "flows"
    assert [curve.label for curve in figure.curves] == [
        "mean queueing delay",
        "model: CUBIC loss interval",
    ]


def test_whole_runs_are_measured_by_default_and_their_end_on_request():
    # CUBIC alone for a second, then both.
    groups = [dumbbell.Group("bbr", start="1s", jitter="0s"), dumbbell.Group("cubic")]
    scenario = dumbbell.Scenario(groups, rate="10mbit", buffer="2bdp", time="6s", sample="100ms")
    run = dumbbell.run(scenario)
    rows, late_rows = measure(run), measure(run, Warmup.parse("3s"))
    model = replace(WARE, of_scenario=lambda _: WARE.predict(pair("2bdp")))

    def measured(last_s: float | None) -> float:
        (compared,) = compare_model(model, {1: scenario}, last_s=last_s).values()
        return compared.measured[0]

    assert measured(None) == measured(6) == rows[0]["share"] == run.groups[0]["share"]
    assert measured(3) == late_rows[0]["share"]
    assert measured(3) > 1.05 * measured(None)


def test_compare_runs_and_errors():
    scenarios = {(b, 1): pair(f"{b}bdp", time="20s") for b in (2.0, 4.0)}
    compared = compare_model(WARE, scenarios, reps=2, last_s=10)
    for (buffer, _), each in compared.items():
        expected = WARE.predict(scenarios[buffer, 1]).metric("share", 0)
        assert each.predicted == expected
        assert len(each.measured) == len(each.verdicts) == 2
        assert each.error == pytest.approx(expected - np.mean(each.measured))
    (figure,) = draw_comparison(WARE, compared)
    assert [curve.label for curve in figure.curves] == ["runs", "model: Ware et al. 2019"]
    assert figure.curves[0].low is not None


def test_compare_refuses_what_the_model_does_not_cover():
    with pytest.raises(DoesNotApply):
        compare_model(WARE, {1: dumbbell.Scenario(["copa"], time="1s")})
    with pytest.raises(dumbbell.ResultError, match="`pftk` predicts no metric"):
        compare_model(MODELS["pftk"], {1: pair("1bdp")})


def test_summaries() -> None:
    def of(predicted: float, measured: float, headline: Headline = SHARE) -> ModelComparison:
        return ModelComparison(pair("1bdp"), headline, predicted, (measured,), ())

    errors = summarize([of(0.5, 0.4), of(0.5, 0.7), of(0.5, 0.49)])
    assert errors.count == 3
    assert errors.median == pytest.approx(0.1)
    assert errors.worst == pytest.approx(0.2)
    assert errors.bias == pytest.approx((0.1 - 0.2 + 0.01) / 3)
    assert of(30.0, 40.0, DELAY).error == pytest.approx(-0.25)
    nothing = of(30.0, 0.0, DELAY)
    assert math.isinf(nothing.error)
    assert json.loads(json.dumps(nothing.to_dict(), allow_nan=False))["error"] is None
