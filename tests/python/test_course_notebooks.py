"""The course's notebooks run from top to bottom with the model answers."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from course_notebooks import LABS, write_solved

pytestmark = pytest.mark.slow


# The cells of both languages are the same (test_course.py).
@pytest.mark.parametrize("lab", LABS)
@pytest.mark.filterwarnings("default")  # Jupyter's own
def test_runs_and_draws(lab, tmp_path, monkeypatch):
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "cache"))
    directory = write_solved(tmp_path) / lab
    solved = nbformat.read(directory / f"{lab}.en.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        solved,
        timeout=None,
        startup_timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": directory}},
    )
    client.execute()
    outputs = [output for cell in solved.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any("error" in output.get("text", "") for output in outputs)
