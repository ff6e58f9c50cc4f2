"""CONTRIBUTING's recipe for a panel of a report, followed."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from dumbbell.plots import run_figures
from dumbbell.plots.quantities import SERIES, Quantity
from dumbbell.report.chart import chart
from dumbbell.report.language import japanese, page_text
from dumbbell.report.source import sweep_of_run
from dumbbell.report.sweep_page import render_sweep

ROOT = Path(__file__).parents[2]


@pytest.fixture
def panel(monkeypatch) -> str:
    """Step 1: the pacing rate, which no page shows yet."""
    new = Quantity("pacing_rate_bps", "pacing rate", "Mbit/s", 1e-6)
    monkeypatch.setattr(run_figures, "SERIES", {**SERIES, "pacing": new})
    return "pacing"


def test_a_declared_series_is_in_page_file_and_notebook(panel, short_run, cli, tmp_path):
    page = render_sweep(sweep_of_run(short_run))
    packed = re.search(r'id="series-0-0"[^>]*>([^<]+)<', page)
    assert packed is not None
    charts = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    drawn = next(each for each in charts if each["name"] == panel)
    assert drawn["y_label"] == "pacing rate (Mbit/s)"
    assert [curve["label"] for curve in drawn["curves"]] == [
        "Copa", "CUBIC, flow 1", "CUBIC, flow 2",
    ]  # fmt: skip
    run = short_run.save(tmp_path / "run")
    outcome = cli("plot", str(run), "--series", panel, "--format", "svg")
    assert (outcome.code, (run / "plots" / "pacing.svg").is_file()) == (0, True)
    assert short_run.plot(panel).axes[0].get_ylabel() == "pacing rate (Mbit/s)"


def test_a_title_without_japanese_stays_english(panel, short_run):
    (figure,) = run_figures.draw_series(short_run, [panel])
    assert "pacing rate" not in japanese()
    assert chart(figure)["title"] == "pacing rate"
    assert isinstance(page_text(SERIES["queue"].title), dict)


def test_every_series_is_in_the_documentation():
    text = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"`--series` takes (.*?) and the state series", text, re.DOTALL)
    assert re.findall(r"`(\w+)`", listed) == list(SERIES)


def test_the_recipe_names_files_that_are_there():
    recipe = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = recipe[recipe.index("## A new panel") : recipe.index("## Licences")]
    paths = re.findall(r"`((?:python|tests|docs)/[\w/.]+)`", recipe)
    assert len(paths) >= 5
    assert [path for path in paths if not (ROOT / path).is_file()] == []
