"""The papers whose experiments `dumbbell reproduce` repeats.

`coexistence.py` is the shortest: points, measurements, rules, tables and figures in one file.
`finding.py` goes from seeds to an outcome, `reproduce.py` from a paper to its results.
`apparatus.py` lists what the plain set-up lacks of the papers' hosts and routers, and `presets.py`
names sets of it. `attribution.py` finds what each finding depends on; `screening.py` tries,
`conclusion.py` concludes.
"""

from typing import Any

from dumbbell_studies.papers import coexistence, kakenhi2024, ogino2021, saito2022
from dumbbell_studies.papers.finding import ClauseResult, Finding, Outcome
from dumbbell_studies.papers.paper import FromCaptures, Paper, ResultTable
from dumbbell_studies.papers.reproduce import EngineResult, Reproduction, reproduce

#: Every paper by its name on the command line.
PAPERS: dict[str, Paper[Any, Any]] = {
    paper.name: paper
    for paper in (ogino2021.PAPER, saito2022.PAPER, kakenhi2024.PAPER, coexistence.PAPER)
}

__all__ = [
    "PAPERS",
    "ClauseResult",
    "EngineResult",
    "Finding",
    "FromCaptures",
    "Outcome",
    "Paper",
    "Reproduction",
    "ResultTable",
    "reproduce",
]
