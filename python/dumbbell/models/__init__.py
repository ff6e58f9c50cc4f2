"""Models from papers, and derived ones: formulas for what happens at a bottleneck.

Each file has one model: its equations, symbols, units, assumptions and source, functions of the
field's quantities, and `predict`, which takes a scenario and returns metrics under the names of a
run's, so that a model can be drawn over any figure of runs (`dumbbell.plots.overlay`).

>>> import dumbbell
>>> from dumbbell.models import MODELS
>>> scenario = dumbbell.Scenario(["bbr", "cubic"], rate="10mbit", rtt="40ms", buffer="16bdp")
>>> round(MODELS["ware"].predict(scenario).metric("share", 0), 2)
0.49
"""

from collections.abc import Mapping

from dumbbell.models import (
    bbr_fca,
    bbr_many_flows,
    copa_equilibrium,
    cubic_interval,
    cubic_response,
    mathis1997,
    padhye1998,
    ware2019,
)
from dumbbell.models.bottleneck import Bottleneck
from dumbbell.models.copa_equilibrium import LOCK_IN_BDP
from dumbbell.models.cubic_epochs import trajectory_mean_pkts
from dumbbell.models.does_not_apply import DoesNotApply
from dumbbell.models.model import DERIVED, PUBLISHED, Headline, Model
from dumbbell.models.prediction import Prediction
from dumbbell.scenario import Scenario

#: Every model by its name on the command line.
MODELS: Mapping[str, Model] = {
    module.MODEL.name: module.MODEL
    for module in (
        ware2019,
        cubic_interval,
        cubic_response,
        mathis1997,
        padhye1998,
        bbr_many_flows,
        copa_equilibrium,
        bbr_fca,
    )
}

__all__ = [
    "DERIVED",
    "LOCK_IN_BDP",
    "MODELS",
    "PUBLISHED",
    "Bottleneck",
    "DoesNotApply",
    "Headline",
    "Model",
    "Prediction",
    "models_of",
    "trajectory_mean_pkts",
]


def models_of(scenario: Scenario) -> list[tuple[Model, Prediction]]:
    """Return the models that cover a scenario, with their predictions."""
    found = []
    for model in MODELS.values():
        try:
            found.append((model, model.predict(scenario)))
        except DoesNotApply:
            continue
    return found
