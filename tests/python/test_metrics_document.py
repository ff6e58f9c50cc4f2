"""docs/metrics.md and docs/statistics.md say what the code does."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from dumbbell.metrics import METRICS
from dumbbell.metrics.document import document
from dumbbell.statistics import mean_interval, paired_difference

DOCS = Path(__file__).resolve().parents[2] / "docs"


def code_of(name: str) -> dict[str, Any]:
    text = (DOCS / name).read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(block, name, "exec"), names)  # noqa: S102
    return names


def test_the_page_of_metrics_is_current(cli):
    """`dumbbell metrics --markdown > docs/metrics.md` makes it so."""
    assert (DOCS / "metrics.md").read_text(encoding="utf-8") == document()
    assert cli("metrics", "--markdown").out == document()
    assert cli("metrics", "jain", "--markdown").code == 2


def test_the_guide_has_a_page_for_each_metric_and_no_other(tmp_path):
    (tmp_path / "was_one_once.md").write_text("an earlier version's")
    names = runpy.run_path(str(DOCS / "metric_pages.py"))
    names["write_metric_pages"](tmp_path)
    assert {page.stem for page in tmp_path.iterdir()} == set(METRICS)


def test_the_examples_run():
    assert code_of("metrics.md")["run"].verdict.status == "OK"
    names = code_of("statistics.md")
    assert names["interval"] == mean_interval(names["a"])
    assert names["interval"].mean == pytest.approx(16.12)
    assert paired_difference(names["a"], names["b"]).interval.excludes(0)
