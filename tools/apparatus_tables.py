"""The tables of docs/notes/apparatus.md; ``python tools/apparatus_tables.py`` writes them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from markdown_tables import markdown_table, replace_tables  # next to this file

from dumbbell_studies.papers import PAPERS
from dumbbell_studies.papers.apparatus import ELEMENTS
from dumbbell_studies.papers.apparatus_element import ApparatusElement, Treatment
from dumbbell_studies.papers.presets import PRESETS, kernel_part
from dumbbell_studies.papers.questions import QUESTIONS

__all__ = ["with_tables"]

PAGE = Path(__file__).parents[1] / "docs" / "notes" / "apparatus.md"


def elements() -> str:
    """Return the table of elements."""
    return markdown_table(
        ["element", "levels", "what it is", "source", "screened on", "on the kernel too"],
        [
            [
                f"`{element.id}`",
                "; ".join(level.name for level in element.levels) or "not in dumbbell yet",
                element.what,
                element.source,
                ", ".join(element.findings),
                on_kernel(element),
            ]
            for element in ELEMENTS.values()
        ],
    )


def on_kernel(element: ApparatusElement) -> str:
    """Say whether the kernel engine has an element: ``yes``, ``no`` or which levels."""
    (plain,) = (
        PAPERS[paper].scenario(question.points[0], 1)
        for paper, questions in QUESTIONS.items()
        for question in questions
        if question.finding == element.findings[0]
    )
    possible = [
        level.name
        for level in element.levels
        if kernel_part((Treatment(element.id, level.name),), plain)
    ]
    if len(possible) == len(element.levels):
        return "yes"
    return "; ".join(possible) or "no"


def presets() -> str:
    """Return the table of presets."""
    return markdown_table(
        ["preset", "adds", "is in the plain set-up already", "not known"],
        [
            [
                f"`{preset.name}`: {preset.what}",
                "; ".join(f"`{each.element}`: {each.level}" for each in preset.setup) or "nothing",
                "; ".join(preset.as_plain),
                "; ".join(preset.unknown),
            ]
            for preset in PRESETS.values()
        ],
    )


TABLES = {"elements": elements, "presets": presets}


def with_tables(page: str) -> str:
    """Return a page with the tables that belong between its marks."""
    return replace_tables(page, lambda name: TABLES[name]())


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
