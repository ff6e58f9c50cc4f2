"""Conformance: does an implementation behave as its reference does: docs/conform.md.

`conform.py` comes first: it runs both on `grid.py`'s paths. `envelope.py` is QUICbench's measure,
`responses.py` what a lone flow shows of its algorithm, `checks.py` compares that.
"""

from dumbbell_studies.conform.checks import ALGORITHM, CHECKS, TRANSPORT, Response, number
from dumbbell_studies.conform.conform import CellConformance, Conformance, conform, shown
from dumbbell_studies.conform.figure import envelope_figures
from dumbbell_studies.conform.grid import GRIDS, Cell

__all__ = [
    "ALGORITHM", "CHECKS", "GRIDS", "TRANSPORT", "Cell", "CellConformance", "Conformance",
    "Response", "conform", "envelope_figures", "number", "shown",
]  # fmt: skip
