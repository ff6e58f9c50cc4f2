"""The kept answers, and the page that has them."""

from __future__ import annotations

import runpy
from pathlib import Path

from dumbbell.papers.answers import answer_to, answers
from dumbbell.papers.conclusion import Conclusion
from dumbbell.papers.plain_words import PLAIN_WORDS

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_findings_has_the_answers():
    """`python docs/findings_tables.py` writes them."""
    script = runpy.run_path(str(DOCS / "findings_tables.py"))
    page = (DOCS / "findings.md").read_text(encoding="utf-8")
    assert page == script["with_tables"](page, answers())
    assert answer_to("D3") in page
    assert answer_to("Z9") == ""


def test_answers_are_of_every_finding():
    assert list(answers()) == list(PLAIN_WORDS)
    assert {each["conclusion"] for each in answers().values()} <= set(Conclusion)
