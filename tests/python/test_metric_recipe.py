"""The recipe of CONTRIBUTING.md for a new metric: each step that is forgotten is found."""

from __future__ import annotations

import inspect
from pathlib import Path

from dumbbell.metrics import METRICS, metric, registry
from dumbbell.metrics import document as document_page
from dumbbell.metrics.document import document
from dumbbell.report.language import japanese


def test_each_metric_has_its_formula_and_source() -> None:
    for each in METRICS.values():
        text, _, source = inspect.cleandoc(each.doc).partition("\n\nReferences\n----------\n")
        assert len(text.splitlines()) >= 1, f"{each.name}: the docstring has no formula"
        assert source, f"{each.name}: the docstring has no References"


def test_each_file_with_a_metric_is_imported_by_the_registry() -> None:
    imported = {value.__name__ for value in vars(registry).values() if inspect.ismodule(value)}
    found = set(Path(registry.__file__).parent.glob("*.py"))
    for path in found - {Path(document_page.__file__)}:  # whose text has an example
        if "\n@register(" in path.read_text(encoding="utf-8"):
            assert f"dumbbell.metrics.{path.stem}" in imported, (
                f"{path.name} is not imported by registry.py"
            )


def test_a_metric_without_its_translation_and_page_is_found(monkeypatch) -> None:
    """What `test_report_language.py` and `test_metrics_document.py` fail by."""
    before = document()
    new = metric.Metric("largest", "us", "a title of no metric", "lower", "run", lambda _: 1.0)
    monkeypatch.setitem(metric._METRICS, "largest", new)
    assert [each.name for each in METRICS.values() if each.title not in japanese()] == ["largest"]
    assert document().startswith(before)
    assert "## `largest`" in document().removeprefix(before)
