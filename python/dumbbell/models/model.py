"""What every model says of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dumbbell.models.does_not_apply import DoesNotApply
from dumbbell.models.prediction import Prediction
from dumbbell.scenario import Scenario

__all__ = ["DERIVED", "PUBLISHED", "Headline", "Model"]

#: A model is its authors', or was worked out in this project and is called that.
PUBLISHED, DERIVED = "published", "derived"


@dataclass(frozen=True)
class Headline:
    """The metric that a model is judged by.

    Attributes
    ----------
    key
        As in a run's metrics.
    group
        Index of the group; None for the bottleneck.
    label
        For people.
    unit, scale
        What it is printed in, and what it is multiplied by for that.
    is_relative
        Whether an error is a part of what was measured; otherwise it is the difference.
    """

    key: str
    group: int | None
    label: str
    unit: str
    scale: float
    is_relative: bool


@dataclass(frozen=True)
class Model:
    """A model.

    Attributes
    ----------
    name
        On the command line.
    label
        In a figure's legend, after ``model:``.
    title
        What it predicts.
    source
        Where it comes from.
    status
        ``published``, or ``derived``: worked out in this project, not in its source.
    of_scenario
        From a scenario to metrics; None for a model of what a scenario does not set, a loss
        rate for example.
    headline
        The metric that it is judged by.
    """

    name: str
    label: str
    title: str
    source: str
    status: str
    of_scenario: Callable[[Scenario], Prediction] | None = None
    headline: Headline | None = None

    def predict(self, scenario: Scenario) -> Prediction:
        """Predict a run's metrics.

        Raises
        ------
        DoesNotApply
            The model says nothing of such a scenario; why.
        """
        if self.of_scenario is None:
            raise DoesNotApply("it is of a loss rate, which a scenario does not set")
        return self.of_scenario(scenario)
