"""docs/metrics.md and docs/statistics.md say what the code does."""

import re
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


def test_the_command_prints_every_metric_as_markdown(cli):
    assert cli("list", "metrics", "--markdown").out == document()
    assert re.findall(r"^## `(\w+)`$", document(), re.MULTILINE) == list(METRICS)
    assert cli("list", "metrics", "jain", "--markdown").code == 2


def test_the_examples_run():
    assert code_of("metrics.md")["run"].verdict.status == "OK"
    names = code_of("statistics.md")
    assert names["interval"] == mean_interval(names["a"])
    assert names["interval"].mean == pytest.approx(16.12)
    assert paired_difference(names["a"], names["b"]).interval.excludes(0)
