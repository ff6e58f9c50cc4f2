"""Gives each lab's tests the answers in its notebook."""

from __future__ import annotations

import pytest

from grading import Answers


@pytest.fixture(scope="module")
def answers(request: pytest.FixtureRequest) -> Answers:
    """The answers in the notebook next to the test."""
    return Answers.of_directory(request.path.parent)
