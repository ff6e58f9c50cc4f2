"""The notebooks of examples/ run from top to bottom, and show what they were committed with."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def printed(notebook: nbformat.NotebookNode) -> list[str]:
    """What the cells show as text; where an object lies in memory is none of it."""
    return [
        output.get("text") or output["data"]["text/plain"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output["output_type"] != "error" and "image/png" not in output.get("data", {})
    ]


def test_there_are_five():
    assert [path.stem for path in NOTEBOOKS] == [
        "buffer-sweep",
        "changed-congestion-control",
        "narrow-uplink",
        "short-flows",
        "which-queue",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default")  # Jupyter's own
def test_runs_and_shows_the_same(path, tmp_path, monkeypatch):
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path))
    committed, fresh = (nbformat.read(path, as_version=4) for _ in range(2))  # type: ignore[no-untyped-call]
    client = NotebookClient(
        fresh,
        timeout=None,
        startup_timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": EXAMPLES}},
    )
    client.execute()
    assert len(printed(fresh)) >= 4
    assert printed(fresh) == printed(committed)
