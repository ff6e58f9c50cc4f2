"""What does not depend on results is there in Japanese too, letter for letter."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
from importlib import import_module, resources
from types import ModuleType

import dumbbell_studies.papers as papers_package
from dumbbell.compare.xval_table import COLUMNS, OVERVIEW_COLUMNS
from dumbbell.explore.controls import OF_PROGRAMS
from dumbbell.fit.figures import CAPTION
from dumbbell.metrics import METRICS
from dumbbell.models.allocations import ALLOCATIONS
from dumbbell.plots.quantities import SERIES
from dumbbell.report.language import bilingual, japanese, page_text
from dumbbell.report.xval_figures import SERIES as XVAL_SERIES
from dumbbell.run.engine import KERNEL, SIMULATOR
from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.fields import fields_of
from dumbbell_studies.papers import PAPERS, Outcome
from dumbbell_studies.papers.conclusion import Conclusion
from dumbbell_studies.papers.prediction import Verdict
from dumbbell_studies.report.attribution_page import CHARTS
from dumbbell_studies.score import find_board, shipped_boards

TEMPLATES = (
    "analysis.html.j2", "attribution.html.j2", "cross_validation.html.j2", "paper.html.j2",
    "reproduction.html.j2", "score.html.j2",
    "site.html.j2", "sweep.html.j2", "explore.html.j2",
    "live.html.j2", "what_if.html.j2",
)  # fmt: skip
BOARDS = [find_board(name) for name in shipped_boards()]
#: Of a run's figures.
QUANTITIES = {q.title for q in SERIES.values()} | {q.unit for q in SERIES.values()}
QUANTITIES |= {"queue by group"}
#: Of a cross-validation's tables and figures.
XVAL = {text for text in (*COLUMNS, *OVERVIEW_COLUMNS) if text} | {
    "Backlog", "backlog", "The bottleneck's queue.", "largest",
    "points: mean difference of throughput shares", "mean difference of median RTTs",
    *(text for row in XVAL_SERIES for text in (row[1], row[5])),
}  # fmt: skip
#: Written alike in Japanese.
SAME = {"cwnd", "ms", "Mbit/s"}
#: Axes of a sweep whose names a page translates; others are shown as they are written.
AXES = {"buffer", "flows", "rate", "rtt", "cc", "jitter", "start", "time"}


#: What the page of `explore` calls its sliders, besides these.
SLIDERS = {"the path", "delay", "impair", "loss", "size", "stop", "traffic"}


def docs_of_controls() -> set[str]:
    """What the page of `explore` says of its sliders: a program's only are left out."""
    fields = [field for kind in (Scenario, Link, Group) for field in fields_of(kind).values()]
    return {field.doc for field in fields if field.is_axis and field.name not in OF_PROGRAMS}


def template_texts() -> set[str]:
    found: set[str] = set()
    packages = ("dumbbell.report", "dumbbell_studies.report", "dumbbell.explore")
    places = [resources.files(package) for package in packages]
    for name in TEMPLATES:
        files = [place.joinpath("templates", name) for place in places]
        text = next(file for file in files if file.is_file()).read_text("utf-8")
        found.update(re.findall(r'\bt\("([^"]*)"\)', text))
    return found


def modules(paper: str) -> list[ModuleType]:
    """A paper's module, or all of its package."""
    module = import_module(f"{papers_package.__name__}.{paper}")
    inner = pkgutil.iter_modules(getattr(module, "__path__", ()), f"{module.__name__}.")
    return [module, *(import_module(each.name) for each in inner)]


def statements(paper: str) -> set[str]:
    """Texts of `Finding(id, statement, …, note="…")` and of the table of rules."""
    found: set[str] = set()
    for module in modules(paper):
        found.update(statement for _, statement, _ in getattr(module, "RULES", ()))
        found.update(texts_of_findings(inspect.getsource(module)))
    return found


def texts_of_findings(source: str) -> set[str]:
    """Statements and notes that are written out where a finding is made."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding":
            if not isinstance(node.args[1], ast.Name):
                found.add(ast.literal_eval(node.args[1]))
            notes = [word.value for word in node.keywords if word.arg == "note"]
            found.update(note.value for note in notes if isinstance(note, ast.Constant))
    return found


def expected() -> set[str]:
    found = template_texts() | {SIMULATOR, KERNEL} | AXES | SLIDERS | (QUANTITIES - SAME)
    found |= XVAL | docs_of_controls() | {CAPTION}
    found |= {str(outcome) for outcome in Outcome}
    found |= {metric.title for metric in METRICS.values()}
    found |= {rule.title for rule in ALLOCATIONS}
    found |= {board.title for board in BOARDS}
    found |= {category.title for board in BOARDS for category in board.categories}
    found |= {*map(str, Conclusion), *map(str, Verdict), *CHARTS}
    for name, paper in PAPERS.items():
        found |= statements(name) | set(paper.departures)
        found |= {text for row in paper.setup for text in row}
    return found


def test_every_text_has_its_japanese():
    assert sorted(expected() - set(japanese())) == []


def test_no_translation_remains_of_a_removed_text():
    assert sorted(set(japanese()) - expected()) == []


def test_measures_and_parameters_are_the_same_in_both():
    # Numbers of one digit are left out: a language may write them in words.
    measure = re.compile(r"\d+\.\d+|\d{2,}|`[^`]+`|[0-9a-f]{12}")
    for english, other in japanese().items():
        assert set(measure.findall(other)) <= set(measure.findall(english)), english


def test_a_text_is_escaped_and_falls_back_to_english():
    assert str(bilingual("<b>3 & 4</b>")) == "&lt;b&gt;3 &amp; 4&lt;/b&gt;"
    assert (
        str(bilingual("Findings")) == '<span lang="en">Findings</span><span lang="ja">知見</span>'
    )


def test_a_figure_s_words_are_in_both_languages_with_their_unit():
    assert page_text("inflight (packets)") == {
        "en": "inflight (packets)", "ja": "インフライト (パケット)",
    }  # fmt: skip
    assert page_text("mode · Copa") == "mode · Copa"
