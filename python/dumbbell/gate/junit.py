"""The gate's findings as JUnit XML, which continuous integration reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite
from junitparser.junitparser import FinalResult

from dumbbell.base.writing import replacing
from dumbbell.gate.comparison import Change
from dumbbell.gate.criterion_outcome import Met
from dumbbell.gate.gate import Gate
from dumbbell.gate.text import say_change, say_criterion

__all__ = ["write_junit"]


def write_junit(gate: Gate, path: Path) -> None:
    """Write a test case per cell; it fails with what became worse and what criteria it missed.

    Raises
    ------
    ResultError
        The file cannot be written.
    """
    suite = TestSuite(gate.after.suite.name)
    for name, value in gate.after.subject._asdict().items():
        if value:
            suite.add_property(name, value)
    suite.add_property("engine", f"{gate.after.engine} {gate.after.engine_version}")
    failures, remarks = findings(gate)
    errors = {entry.cell: str(entry) for entry in gate.not_evaluated}
    for cell in gate.after.cells:
        case = TestCase(cell.label, f"dumbbell.{gate.after.suite.name}")
        case.result = results_of(failures[cell.label], errors.get(cell.label))
        if remarks[cell.label]:
            case.system_out = "\n".join(remarks[cell.label])
        suite.add_testcase(case)
    for name, needs in gate.skipped:
        case = TestCase(name, f"dumbbell.{gate.after.suite.name}")
        case.result = Skipped(f"needs {needs}")
        suite.add_testcase(case)
    document = JUnitXml("dumbbell gate")
    document.add_testsuite(suite)
    document.update_statistics()  # type: ignore[no-untyped-call]
    with replacing(path) as new:
        document.write(str(new), pretty=True)


def results_of(failures: Sequence[str], error: str | None) -> list[FinalResult]:
    """Return what a test case ends with: of several failures readers show the first alone.

    Some of them show its message, others its text.
    """
    results: list[FinalResult] = []
    if failures:
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        results.append(Failure(failures[0] + more, "regression"))
        results[0].text = "\n".join(failures)
    if error is not None:
        results.append(Error(error, "INVALID"))
    return results


def findings(gate: Gate) -> tuple[defaultdict[str, list[str]], defaultdict[str, list[str]]]:
    """Return what fails and what is remarked, in sentences, by cell."""
    failures: defaultdict[str, list[str]] = defaultdict(list)
    remarks: defaultdict[str, list[str]] = defaultdict(list)
    for comparison in gate.comparisons:
        if comparison.change == Change.WORSE:
            failures[comparison.cell].append(say_change(comparison))
        elif comparison.change in (Change.UNCLEAR, Change.BETTER):
            remarks[comparison.cell].append(say_change(comparison))
    for outcome in gate.criteria:
        if outcome.met == Met.MISSED:
            failures[outcome.cell].append(say_criterion(outcome))
        elif outcome.met != Met.MET:
            remarks[outcome.cell].append(say_criterion(outcome))
    return failures, remarks
