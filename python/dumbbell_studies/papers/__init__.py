"""The papers whose experiments `dumbbell reproduce` repeats."""

from typing import Any

from dumbbell_studies.papers import coexistence, kakenhi2024, ogino2021, saito2022
from dumbbell_studies.papers.finding import Check, Finding, Outcome
from dumbbell_studies.papers.paper import FromCaptures, Paper, ResultTable
from dumbbell_studies.papers.reproduce import EngineResult, Reproduction, reproduce

#: Every paper by its name on the command line.
PAPERS: dict[str, Paper[Any, Any]] = {
    paper.name: paper
    for paper in (ogino2021.PAPER, saito2022.PAPER, kakenhi2024.PAPER, coexistence.PAPER)
}

__all__ = [
    "PAPERS",
    "Check",
    "EngineResult",
    "Finding",
    "FromCaptures",
    "Outcome",
    "Paper",
    "Reproduction",
    "ResultTable",
    "reproduce",
]
