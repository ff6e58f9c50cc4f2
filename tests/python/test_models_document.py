"""docs/models.md and its laboratory note agree with the models and the simulator."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dumbbell
from dumbbell.models import MODELS
from dumbbell.models.comparison import compare_model, summarize

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "models.md").read_text(encoding="utf-8")
NOTE = (DOCS / "notes" / "models.md").read_text(encoding="utf-8")
FLOWS = (1, 2, 4, 8, 16, 32)
BUFFERS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


def error_table(first_cell: str) -> dict[tuple[float, int], float]:
    """The errors of a table of the note, by buffer and flow count."""
    rows = NOTE[NOTE.index(f"| {first_cell} |") :].split("\n\n")[0].split("\n")[2:]
    cells = [re.findall(r"[-+]?\d+\.?\d*", row.replace("−", "-")) for row in rows]
    return {
        (float(buffer), flows): float(error) / 100
        for buffer, *errors in cells
        for flows, error in zip(FLOWS, errors, strict=True)
    }


def test_every_model_has_its_section():
    headings = " ".join(re.findall(r"^## .*$", TEXT, re.MULTILINE))
    for name in MODELS:
        assert f"`{name}`" in headings
        assert f"| `{name}` |" in TEXT


def test_its_python_runs():
    (block,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(block, "docs/models.md", "exec"), names)  # noqa: S102
    solution = names["ware2019"].solve(names["Bottleneck"].of("10mbit", "40ms", "16bdp"), 4)
    assert f"bbr_share  # {solution.bbr_share:.2f}" in block
    assert [model.name for model, _ in names["models_of"](names["scenario"])] == ["ware"]


@pytest.fixture(scope="module")
def ware_errors():
    """What `dumbbell model compare ware` runs, one seed."""
    scenarios = {
        (buffer, flows): dumbbell.Scenario(
            [dumbbell.Group("bbr", flows), "cubic"],
            rate="10mbit", rtt="40ms", buffer=f"{buffer:g}bdp", time="600s", sample="100ms",
        )
        for buffer in BUFFERS
        for flows in FLOWS
    }  # fmt: skip
    return compare_model(MODELS["ware"], scenarios, last_s=400)


def test_ware_et_al_are_within_8_points_in_the_median(ware_errors):
    deep = [each for (buffer, _), each in ware_errors.items() if buffer >= 2]
    assert len(deep) == 36
    assert summarize(deep).median < 0.08
    assert all(verdict.status != "INVALID" for each in deep for verdict in each.verdicts)


def test_where_ware_et_al_fail_is_what_the_note_says(ware_errors):
    written = error_table("10 Mbit/s, 40 ms")
    assert set(written) == set(ware_errors)
    # The note has the mean of three seeds.
    difference = [abs(written[key] - each.error) for key, each in ware_errors.items()]
    assert np.median(difference) < 0.01
    assert max(difference) < 0.06
