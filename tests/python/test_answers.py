"""The kept answers are of today's elements and predictions, and the pages have them."""

from __future__ import annotations

import io
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from dumbbell_studies.cli.print_reproduction import print_answer
from dumbbell_studies.papers import ClauseResult, Finding
from dumbbell_studies.papers.answers import answer_to, answers
from dumbbell_studies.papers.apparatus import ELEMENTS, elements_for
from dumbbell_studies.papers.conclusion import Conclusion
from dumbbell_studies.papers.plain_words import ELEMENT_WORDS, PLAIN_WORDS, in_plain_words
from dumbbell_studies.papers.prediction import predictions_on
from dumbbell_studies.papers.presets import preset_for
from dumbbell_studies.papers.questions import QUESTIONS

ROOT = Path(__file__).parents[2]


def test_the_page_of_findings_has_the_answers():
    """`python tools/findings_tables.py` writes them."""
    script = runpy.run_path(str(ROOT / "tools" / "findings_tables.py"))
    page = (ROOT / "docs" / "notes" / "findings.md").read_text(encoding="utf-8")
    assert page == script["with_tables"](page, answers())
    assert set(answers()) <= set(PLAIN_WORDS)
    assert answer_to("D3") in page
    assert answer_to("Z9") == ""


#: Those since answers are kept with their build.
OF_A_BUILD = {name: each for name, each in answers().items() if "engine_build" in each}


def test_answers_are_of_every_finding_and_one_build_a_paper():
    assert list(answers()) == list(PLAIN_WORDS)
    for questions in QUESTIONS.values():
        ids = {question.finding for question in questions}
        assert len({answers()[name].get("engine_build") for name in ids}) == 1
    assert {each["conclusion"] for each in answers().values()} <= set(Conclusion)


def test_predictions_are_of_their_finding():
    for finding, answer in answers().items():
        predictions = predictions_on(finding)
        assert [each.to_dict() for each in predictions] == answer["predictions"]
        assert all(each.id.partition(".")[0] == finding for each in predictions)


#: How each prediction ended; a change of this is a change of what findings.md says.
ENDED = {
    "confirmed": (
        "A1.room-rtt A1.room-total A1.room-lead A4.plain A5.count A7.fair-pair B2.sleep "
        "C1.over-pacing C1.versions C1.starts"
    ),
    "refuted": (
        "A1.room-mode A1.tbf-mode A1.tbf-lead A4.recovery A4.window A4.memory A6.linux-5.1 "
        "A6.lateness B2.in-turn D3.small D3.large D3.timeouts D3.limit-100 D3.recovery "
        "D3.unpaced"
    ),
    "undecidable": (
        "A4.rtt A4.window-16 A4.all A6.aggregation A6.over-pacing A6.over-pacing-size "
        "A6.order A6.room B2.iperf3 B2.gso"
    ),
}


def test_predictions_ended_as_they_are_known_to():
    ended = {name: verdict for verdict, names in ENDED.items() for name in names.split()}
    assert len(ended) == 35
    kept = [each for answer in answers().values() for each in answer["predictions"]]
    assert {each["id"]: each["verdict"] for each in kept} == ended
    page = (ROOT / "docs" / "notes" / "findings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-D]\d\.\S+) \|.*\| \*\*(\w+)\*\* \|", page, re.MULTILINE)
    assert dict(rows) == ended


def level_of(treatment: str) -> tuple[str, str]:
    element, _, level = treatment.partition(": ")
    assert level in {each.name for each in ELEMENTS[element].levels}, treatment
    return element, level


def test_answers_name_elements_that_there_are():
    for each in OF_A_BUILD.values():
        for setup in (*each["tried"], *(name.removeprefix("without ") for name in each["without"])):
            assert [level_of(treatment) for treatment in setup.split(" + ")]


@pytest.mark.parametrize("paper", QUESTIONS)
def test_each_element_that_may_matter_was_tried(paper):
    """But parts of what changed nothing, and but for findings checked under a preset alone."""
    for question in QUESTIONS[paper]:
        if question.finding not in OF_A_BUILD:
            continue
        kept = answers()[question.finding]
        if kept["conclusion"].startswith("shown") and preset_for(paper) is not None:
            assert kept["tried"] == {}
            continue
        wanted = {
            f"{element.id}: {level.name}"
            for element in elements_for(question.finding)
            for level in element.levels
            if not level.is_part
        }
        lacking = wanted - set(kept["tried"])
        # A level that changes none of the finding's runs is not a trial.
        assert lacking <= SAME_AS_PLAIN


#: The plain set-up of ogino2021 has this window.
SAME_AS_PLAIN = {"rwnd: 8MiB"}


def test_elements_have_plain_words():
    assert set(ELEMENT_WORDS) == set(ELEMENTS)
    for finding in PLAIN_WORDS:
        words = in_plain_words(answer_to(finding))
        assert "_" not in words
        assert not any(f" {element}:" in words for element in ELEMENTS)
    assert in_plain_words("With ooo_limit: 48 + bbr_4_12: unpaced (9 of 10 fresh seeds).") == (
        "With a limit of segments above a hole, 48 + the BBR of Linux 4.12, unpaced (9 of 10 fresh "
        "seeds)."
    )
    assert in_plain_words("Not shown, nor with the only candidate: noise.") == (
        "Not shown, nor with the only candidate: noise of the RTT."
    )


def printed(*shown: tuple[str, bool], apparatus: str = "") -> str:
    """What the terminal answers to findings that are shown or not."""
    findings = [
        Finding(name, "", 10 * ((ClauseResult("", "{}", (1.0,), holds),),)) for name, holds in shown
    ]
    result: Any = SimpleNamespace(
        results=[SimpleNamespace(headline="some")],
        findings=findings,
        paper=SimpleNamespace(apparatus=apparatus),
    )
    stream = io.StringIO()
    print_answer(Console(file=stream, width=500), result)
    return stream.getvalue()


def test_the_terminal_answers_what_is_not_shown_or_lost_with_the_apparatus():
    text = printed(("A1", True), ("A2", True), ("A4", False))
    assert text.count("→") == 2
    assert "with the paper's hosts as far as they are known (`mininet-2021`) in 0 of 10." in text
    assert "candidates is added: the receive window, the send buffer," in text
    assert "→" not in printed(("A1", True), ("A4", False), apparatus="mininet-2021")
