"""The guide's pages of elements say what is declared, and each has its figure."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from dumbbell.scenario.element import impairments, queue_disciplines
from dumbbell.scenario.traffic import applications

DOCS = Path(__file__).parents[2] / "docs"
KINDS = ("queues", "impairments", "media", "traffic")
#: A page is small enough to be read on a phone.
LARGEST_FIGURE_BYTES = 40_000


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    """Return `tools/element_pages.py`, which writes pages and tables."""
    return runpy.run_path(str(DOCS / "element_pages.py"))


@pytest.mark.parametrize("kind", [*KINDS, "tcp"])
def test_the_tables_are_current(written: dict[str, Any], kind: str) -> None:
    """`python tools/element_pages.py` writes them."""
    page = (DOCS / f"{kind}.md").read_text(encoding="utf-8")
    assert "<!-- table: " in page
    assert page == written["with_tables"](page)


def test_every_element_has_its_page_and_no_other_is_there(written: dict[str, Any]) -> None:
    pages = {path: path.read_text("utf-8") for kind in KINDS for path in (DOCS / kind).iterdir()}
    assert pages == written["pages"]()
    names = [*queue_disciplines(), *impairments(), *applications()]
    assert sorted(path.stem for path in pages) == sorted(names)


def test_every_page_has_a_small_figure(written: dict[str, Any]) -> None:
    for page in written["pages"]().values():
        (name,) = re.findall(r"\.\./figures/([\w-]+\.svg)", page)
        assert 5_000 < (DOCS / "figures" / name).stat().st_size < LARGEST_FIGURE_BYTES, name


@pytest.mark.parametrize("kind", KINDS)
def test_every_example_is_a_scenario_with_its_element(written: dict[str, Any], kind: str) -> None:
    for name, example in written["EXAMPLES"][kind].items():
        example.scenario()
        assert re.search(rf"--([\w-]+ '?)?{name}\b", example.command), example.command
