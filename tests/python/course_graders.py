"""The labs' graders, as functions of answers, for tests of the course."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["COURSE", "ROOT", "checks_of", "grader", "model_values", "refusal"]

ROOT = Path(__file__).parents[2]
COURSE = ROOT / "course"
sys.path[:0] = [str(ROOT / "tools"), str(COURSE)]
from course_notebooks import model_answers  # noqa: E402

from grading import Answers  # noqa: E402


@cache
def grader(lab: str) -> ModuleType:
    """Return a lab's tests, which are functions of the answers."""
    spec = importlib.util.spec_from_file_location(f"test_{lab}", COURSE / lab / f"test_{lab}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checks_of(lab: str) -> list[Any]:
    return [each for name, each in vars(grader(lab)).items() if name.startswith("test_")]


def model_values(lab: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for cell in model_answers(lab).values():
        exec(cell, values)  # noqa: S102 -- ours
    return values


def refusal(lab: str, answers: Answers) -> str:
    """Return what the grader says against answers; nothing if it accepts them."""
    said = []
    for test in checks_of(lab):
        try:
            test(answers)
        except AssertionError as error:
            said.append(str(error).partition("\nassert ")[0])
    return "\n".join(said)
