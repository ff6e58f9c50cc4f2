"""The generated pages of the guide say what is declared, and its pages include their tables."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell.metrics import METRICS
from dumbbell.scenario.element import impairments, queue_disciplines
from dumbbell.scenario.traffic import applications

DOCS = Path(__file__).parents[2] / "docs"
TOOLS = DOCS.with_name("tools")
KINDS = ("queues", "impairments", "media", "traffic")
#: A page is small enough to be read on a phone.
LARGEST_FIGURE_BYTES = 40_000


@pytest.fixture(scope="module")
def guide() -> dict[str, Any]:
    """Return `tools/guide_pages.py`, which writes them all."""
    sys.path.insert(0, str(TOOLS))
    try:
        return runpy.run_path(str(TOOLS / "guide_pages.py"))
    finally:
        sys.path.remove(str(TOOLS))


@pytest.fixture(scope="module")
def files(guide: dict[str, Any]) -> dict[str, str]:
    """Return what it writes, by its path."""
    found: dict[str, str] = guide["generated"]()
    return found


def names_in(files: dict[str, str], *directories: str) -> list[str]:
    return sorted(
        path.removesuffix(".md").partition("/")[2]
        for path in files
        if path.partition("/")[0] in directories
    )


def test_every_element_metric_and_algorithm_is_there(files: dict[str, str]) -> None:
    elements = [*queue_disciplines(), *impairments(), *applications()]
    assert names_in(files, *KINDS) == sorted(elements)
    assert names_in(files, "metrics") == sorted(METRICS)
    assert set(names_in(files, "tables")) > {*dumbbell.congestion_controls(), *KINDS, "tcp"}


def test_every_page_is_in_a_table_that_the_guide_includes(files: dict[str, str]) -> None:
    for kind in (*KINDS, "metrics"):
        linked = re.findall(rf"\(_generated/{kind}/(\w+)\.md\)", files[f"tables/{kind}.md"])
        assert sorted(linked) == names_in(files, kind)
        page = (DOCS / f"{kind}.md").read_text(encoding="utf-8")
        assert f"{{include}} _generated/tables/{kind}.md" in page


def test_what_pages_include_is_generated(files: dict[str, str]) -> None:
    pages = [*DOCS.glob("*.md"), *DOCS.glob("notes/*.md")]
    included = re.findall(
        r"\{include\} (?:\.\./)?_generated/(\S+)",
        "\n".join(page.read_text(encoding="utf-8") for page in pages),
    )
    assert len(included) > 15
    assert set(included) <= set(files)


def test_earlier_pages_are_removed(guide: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "queues").mkdir()
    (tmp_path / "queues" / "was_one_once.md").write_text("an earlier version's")
    guide["write_generated"](tmp_path)
    assert names_in(guide["generated"](), "queues") == sorted(
        page.stem for page in (tmp_path / "queues").iterdir()
    )


def test_a_figure_is_small(tmp_path: Path) -> None:
    """`make docs` draws all of them."""
    figures = runpy.run_path(str(TOOLS / "element_figures.py"))
    path = figures["draw"]("queues", "bfifo", tmp_path)
    assert 5_000 < path.stat().st_size < LARGEST_FIGURE_BYTES


@pytest.mark.parametrize("kind", KINDS)
def test_every_example_is_a_scenario_with_its_element(kind: str) -> None:
    examples = runpy.run_path(str(TOOLS / "element_figures.py"))["EXAMPLES"][kind]
    for name, example in examples.items():
        example.scenario()
        assert re.search(rf"--([\w-]+ '?)?{name}\b", example.command), example.command
