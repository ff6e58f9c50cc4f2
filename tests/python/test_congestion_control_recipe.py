"""CONTRIBUTING.md's recipe for a new congestion control: a step that is forgotten is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell.figures.style import STYLES

ROOT = Path(__file__).resolve().parents[2]
BUILT_IN = sorted(path.name.removesuffix(".bpf.c") for path in (ROOT / "cc").glob("*.bpf.c"))


def test_a_copy_under_another_name_passes_its_check(
    tmp_path: Path, cli: Callable[..., Any]
) -> None:
    source = tmp_path / "mine.bpf.c"
    text = (ROOT / "cc/reno.bpf.c").read_text(encoding="utf-8")
    source.write_text(text.replace('"reno"', '"mine"'), encoding="utf-8")
    outcome = cli("cc", "check", str(source), "--storms", "1")
    assert outcome.code == 0, outcome.err


def test_each_source_is_built_in_by_the_name_of_its_file() -> None:
    assert sorted(dumbbell.congestion_controls()) == BUILT_IN


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_one_has_its_tests(name: str) -> None:
    modules = (ROOT / "crates/cc/tests/main.rs").read_text(encoding="utf-8")
    assert f"\nmod {name};\n" in modules


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_one_has_its_page(name: str) -> None:
    page = name.replace("_", "-")
    assert (ROOT / f"docs/{page}.md").is_file()
    assert f"\n{page}\n" in (ROOT / "docs/index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("document", ["README.md", "README.ja.md"])
@pytest.mark.parametrize("name", BUILT_IN)
def test_the_readme_has_a_row_for_a_built_in_one(name: str, document: str) -> None:
    assert f"\n| `{name}` | " in (ROOT / document).read_text(encoding="utf-8")


def test_each_built_in_one_has_a_style_of_its_own() -> None:
    assert sorted(STYLES) == BUILT_IN
    assert len({(style.color, style.marker) for style in STYLES.values()}) == len(BUILT_IN)
