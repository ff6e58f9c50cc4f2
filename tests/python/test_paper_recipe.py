"""CONTRIBUTING.md's recipe for a new paper: it works, and a forgotten step is noticed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dumbbell_studies.papers as package
from dumbbell.figures import Figure
from dumbbell.run import Run
from dumbbell.scenario import Scenario
from dumbbell_studies.papers import PAPERS, ClauseResult, Finding, Paper, ResultTable, reproduce
from dumbbell_studies.papers.results import Results, group_values
from dumbbell_studies.report import write_report

ROOT = Path(__file__).resolve().parents[2]
PLACE = Path(package.__path__[0])


def measure(_point: float, run: Run) -> float:
    return group_values(run)("utilization")


def findings(results: Results[float, float]) -> list[Finding]:
    checks = [
        (ClauseResult("at 1 BDP a full link", "{:.0%}", (seen[1.0],), seen[1.0] > 0.8),)
        for seen in results.repetitions()
    ]
    return [Finding("Z1", "Reno fills the link.", tuple(checks))]


def figures(results: Results[float, float]) -> list[Figure]:
    at = list(results.measured)
    return [
        Figure(
            "figure-1", "Figure 1", "buffer (BDP)", "use", (results.curve("reno", at, at, float),)
        )
    ]


def test_a_paper_is_points_a_scenario_a_measure_and_rules(tmp_path):
    paper: Paper[float, float] = Paper(
        "mine", "Reno alone", "made up", (), (), (1.0, 2.0), (1.0,), "Quick: 1 BDP.",
        run_name=lambda buffer: f"reno-{buffer:g}bdp",
        scenario=lambda buffer, seed: Scenario(
            ["reno"], rate="10mbit", buffer=f"{buffer:g}bdp", time="5s", seed=seed
        ),
        measure=measure,
        findings=findings,
        tables=lambda results: [
            ResultTable("Use", ("buffer",), tuple((f"{b:g}",) for b in results.measured))
        ],
        figures=figures,
        default_seeds=lambda buffer: 3 if buffer == 1 else 1,
    )  # fmt: skip
    result = reproduce(paper, tmp_path)
    runs = ("1bdp-seed1", "1bdp-seed2", "1bdp-seed3", "2bdp-seed1")
    assert sorted(result.runs) == [f"reno-{name}" for name in runs]
    assert result.command == "dumbbell reproduce mine"
    assert len(result.tables[0].rows) == 2
    text = write_report(result, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Reno fills the link." in text


def source(name: str) -> str:
    """Return the text of a paper's file, or of all files of its package."""
    files = sorted((PLACE / name).glob("*.py")) or [PLACE / f"{name}.py"]
    return "".join(path.read_text(encoding="utf-8") for path in files)


def test_every_paper_s_file_is_in_the_list():
    files = [*PLACE.glob("*.py"), *PLACE.glob("*/__init__.py")]
    names = {path: path.parent.name if path.name == "__init__.py" else path.stem for path in files}
    texts = {names[path]: path.read_text(encoding="utf-8") for path in files}
    with_paper = {name for name, text in texts.items() if "\nPAPER = Paper(" in text}
    assert with_paper == set(PAPERS)


@pytest.mark.parametrize("name", PAPERS)
def test_every_finding_is_in_the_documents_and_has_tests(name):
    ids = set(re.findall(r'"([A-Z]\d)"', source(name)))
    assert ids
    page = (ROOT / "docs" / "notes" / "findings.md").read_text(encoding="utf-8")
    tests = (ROOT / "tests" / "python" / f"test_{name}.py").read_text(encoding="utf-8")
    for finding in ids:
        assert page.count(f"| {finding} |") >= 2, f"{finding}: its rule, and what it shows"
        assert finding in tests or finding.lower() in tests, f"{finding} has no test"
