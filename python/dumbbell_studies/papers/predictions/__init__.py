"""What was expected of the papers' apparatus, by paper.

Each has its arithmetic from the sources that docs/notes/apparatus.md names. Numbers are of 26
November 2026 and are not corrected by results; each says whether something of it had been measured
when it was written down here.
"""

from __future__ import annotations

from dumbbell_studies.papers.prediction import Prediction
from dumbbell_studies.papers.predictions.coexistence import COEXISTENCE
from dumbbell_studies.papers.predictions.kakenhi2024 import KAKENHI
from dumbbell_studies.papers.predictions.ogino2021 import OGINO
from dumbbell_studies.papers.predictions.saito2022 import SAITO

__all__ = ["PREDICTIONS"]

#: By the paper's name.
PREDICTIONS: dict[str, tuple[Prediction, ...]] = {
    "ogino2021": OGINO,
    "saito2022": SAITO,
    "kakenhi2024": KAKENHI,
    "coexistence": COEXISTENCE,
}
