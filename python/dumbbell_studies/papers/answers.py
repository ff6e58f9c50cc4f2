"""What each finding depends on, as it was found out before: it takes minutes to find out again.

`answers.json` is written by `tools/findings_tables.py` from the `attribution.json` of `dumbbell
reproduce --attribute`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from dumbbell_studies.papers.conclusion import Conclusion

__all__ = ["answer_to", "answers", "is_lost"]


@cache
def answers() -> dict[str, Any]:
    """Return the answers by the finding's id: `conclusion` and `sentence`."""
    text = (
        resources.files("dumbbell_studies.papers")
        .joinpath("answers.json")
        .read_text(encoding="utf-8")
    )
    found: dict[str, Any] = json.loads(text)
    return found


def answer_to(finding: str) -> str:
    """Return what a finding depends on, in a sentence; empty if that was not found out."""
    return str(answers().get(finding, {}).get("sentence", ""))


def is_lost(finding: str) -> bool:
    """Return whether the plain set-up shows a finding and the paper's apparatus does not."""
    return bool(answers().get(finding, {}).get("conclusion") == Conclusion.LOST)
