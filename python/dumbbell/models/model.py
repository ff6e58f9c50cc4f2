"""A model's declaration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dumbbell.base.quantities.plain_value import to_plain
from dumbbell.models.calculation import Calculation
from dumbbell.models.does_not_apply import DoesNotApply
from dumbbell.models.prediction import Prediction
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.fields import RUN, fields_of

__all__ = ["DERIVED", "LONG_FLOWS", "PUBLISHED", "Headline", "Model"]

#: A model was published by its authors, or derived in this project.
PUBLISHED, DERIVED = "published", "derived"
#: Fields covered by a model of what long flows converge to at a drop-tail bottleneck. Such a model
#: counts packets per round trip, so when flows start and how segments and ACKs are grouped do not
#: matter. `Bottleneck.from_scenario` refuses values of `rtt`, `mss` and windows that do matter.
LONG_FLOWS = frozenset(
    {
        "rate", "rtt", "buffer", "group.cc", "group.flows", "group.rtt", "group.rtt_dither",
        "group.start", "group.jitter", "group.rwnd", "group.sndbuf", "group.mss", "group.tso",
        "group.delayed_ack", "group.gro", "group.nagle", "group.slow_start_after_idle",
        "group.dscp",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Headline:
    """The metric that a model is evaluated by.

    Attributes
    ----------
    key
        Its name in a run's metrics.
    group
        Index of the group; None for the bottleneck.
    label
        Its name in texts.
    unit, scale
        The unit it is printed in, and the factor to that unit.
    is_relative
        Whether an error is relative to the measured value; otherwise it is the difference.
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
    help
        Its line in ``--help``.
    calculations
        What ``dumbbell model NAME`` prints: the first whose axes are set.
    of_scenario
        Predicts metrics from a scenario; None for a model that needs something else, like a
        measured loss rate.
    headline
        The metric that it is evaluated by.
    covers
        The fields of a scenario that it models, those of groups as ``group.rtt``. A scenario in
        which any other field is set is refused, except fields that do not change the network.
    """

    name: str
    label: str
    title: str
    source: str
    status: str
    help: str
    calculations: tuple[Calculation, ...]
    of_scenario: Callable[[Scenario], Prediction] | None = None
    headline: Headline | None = None
    covers: frozenset[str] = frozenset()

    def predict(self, scenario: Scenario) -> Prediction:
        """Predict a run's metrics.

        Raises
        ------
        DoesNotApply
            The model does not cover such a scenario; the message says why.
        """
        if self.of_scenario is None:
            raise DoesNotApply("it predicts from a measured loss rate, not from a scenario")
        if not scenario.is_dumbbell:
            raise DoesNotApply("it covers one bottleneck, and this scenario has links")
        self._check_covered(scenario, "")
        for group in scenario.groups:
            self._check_covered(group, "group.")
        return self.of_scenario(scenario)

    def _check_covered(self, owner: Scenario | Group, prefix: str) -> None:
        """Refuse a field that is set and not covered."""
        for name, field in fields_of(type(owner)).items():
            value = getattr(owner, name)
            is_covered = field.panel == RUN or f"{prefix}{name}" in self.covers
            if not is_covered and not field.is_default(value):
                raise DoesNotApply(f"it does not cover `{name}` (here `{to_plain(value)}`)")
