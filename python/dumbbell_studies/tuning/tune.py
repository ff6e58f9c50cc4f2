"""Parameters that are best on one goal or several, by Optuna."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from dumbbell.base.optional import optional
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.runs import Execution, Progress
from dumbbell_studies.tuning.parameter_range import ParameterRange
from dumbbell_studies.tuning.target import Goal, Target, Values

__all__ = ["Trial", "Tuning", "tune"]

#: Trials that run together. Not the number of cores: the same seed is to find the same anywhere.
BATCH = 4
#: Trials whose held-out values are measured, at most; next to the untuned one.
MOST_HELD_OUT = 5
#: Fewer trials say nothing about importances.
LEAST_FOR_IMPORTANCES = 10


@dataclass(frozen=True)
class Trial:
    """One setting of the parameters.

    Attributes
    ----------
    cc
        The congestion control algorithm with the parameters that differ from its own.
    params
        What was tried.
    values
        Of the goals, on what was tuned.
    held_out
        Of the goals, on what the tuning has not seen; None if that was not measured.
    """

    cc: str
    params: Mapping[str, int]
    values: Values
    held_out: Values | None = None

    def to_dict(self, goals: Sequence[Goal]) -> dict[str, Any]:
        """Return it for programs."""
        names = [goal.name for goal in goals]
        held_out = self.held_out
        return {
            "cc": self.cc,
            "params": dict(self.params),
            "values": dict(zip(names, self.values, strict=True)),
            "held_out": None if held_out is None else dict(zip(names, held_out, strict=True)),
        }


@dataclass(frozen=True)
class Tuning:
    """What a tuning found.

    Attributes
    ----------
    target, held_out
        What it was tuned on, and what was kept from it.
    untuned
        The congestion control algorithm as it was.
    best
        The Pareto-optimal trials: with one goal the best one.
    trials
        All.
    importances
        By goal, each parameter's share of what parameters explain among the better trials.
    """

    target: Target
    held_out: Target
    untuned: Trial
    best: tuple[Trial, ...]
    trials: tuple[Trial, ...]
    importances: Mapping[str, Mapping[str, float]]

    def to_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        goals = self.target.goals
        return {
            "tuned_on": self.target.description,
            "held_out_on": self.held_out.description,
            "untuned": self.untuned.to_dict(goals),
            "best": [each.to_dict(goals) for each in self.best],
            "trials": [each.to_dict(goals) for each in self.trials],
            "importances": {name: dict(of) for name, of in self.importances.items()},
        }


def tune(
    cc: str,
    ranges: Sequence[ParameterRange],
    target: Target,
    *,
    trials: int = 50,
    seed: int = 1,
    on_trials: Callable[[int, Progress], None] = lambda *_: None,
    **how: Unpack[Execution],
) -> Tuning:
    """Tune parameters.

    Every trial runs on the same seeds, so that trials differ by their parameters alone.

    Parameters
    ----------
    cc
        The congestion control algorithm.
    ranges
        Of the parameters.
    target
        What is to be made better.
    trials
        How many settings are tried.
    seed
        Of the sampler (TPE): the same finds the same.
    on_trials
        Called while they run with the number of finished trials.
    how
        How runs are executed.

    Raises
    ------
    MissingPackageError
        Optuna is not installed.
    """
    optuna = optional("optuna", extra="tune", purpose="tuning")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    own = CongestionControlChoice.parse(cc)
    goals = target.goals
    done = 0

    def measure(on: Target, ccs: Sequence[str]) -> list[Values]:
        how["on_progress"] = lambda each: on_trials(done, each)
        return on.measure(ccs, **how)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True)
    directions = ["maximize" if goal.is_higher_better else "minimize" for goal in goals]
    study = optuna.create_study(directions=directions, sampler=sampler)
    study.enqueue_trial(
        {each.name: own.params.get(each.name, each.parameter.default) for each in ranges},
        skip_if_exists=True,
    )
    found: list[Trial] = []
    while done < trials:
        asked = [study.ask() for _ in range(min(BATCH, trials - done))]
        params = [{each.name: suggested(trial, each) for each in ranges} for trial in asked]
        ccs = [named(own, each) for each in params]
        for trial, of, text, values in zip(asked, params, ccs, measure(target, ccs), strict=True):
            found.append(Trial(text, of, values))
            if None in values:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, [value for value in values if value is not None])
        done += len(asked)
    untuned = found[0]
    best = pareto(found, goals)[:MOST_HELD_OUT]
    kept = target.held_out()
    held_out = measure(kept, [untuned.cc, *(each.cc for each in best)])
    best = [
        Trial(each.cc, each.params, each.values, of)
        for each, of in zip(best, held_out[1:], strict=True)
    ]
    untuned = Trial(untuned.cc, untuned.params, untuned.values, held_out[0])
    return Tuning(
        target, kept, untuned, tuple(best), tuple(found), importances(optuna, study, goals)
    )


def suggested(trial: Any, of: ParameterRange) -> int:
    """Return the value that a trial tries."""
    value: int = trial.suggest_int(of.name, of.low, of.high, log=of.is_logarithmic)
    return value


def named(own: CongestionControlChoice, params: Mapping[str, int]) -> str:
    """Return a congestion control algorithm with parameters, those at their defaults left out."""
    defaults = {each.name: each.default for each in own.description.parameters}
    merged = {**own.params, **params}
    kept = {name: value for name, value in merged.items() if defaults.get(name) != value}
    return str(CongestionControlChoice(own.name, kept, own.path))


def pareto(trials: Sequence[Trial], goals: Sequence[Goal]) -> list[Trial]:
    """Return the trials that no other is better than in every goal, the best first."""

    def merits(trial: Trial) -> tuple[float, ...]:
        signs = (1 if goal.is_higher_better else -1 for goal in goals)
        return tuple(sign * (value or 0.0) for sign, value in zip(signs, trial.values, strict=True))

    good = [each for each in trials if None not in each.values]
    kept: dict[tuple[float, ...], Trial] = {}
    for trial in good:
        mine = merits(trial)
        is_beaten = any(
            other != mine and all(x >= y for x, y in zip(other, mine, strict=True))
            for other in map(merits, good)
        )
        if not is_beaten:
            kept.setdefault(mine, trial)
    return [kept[key] for key in sorted(kept, reverse=True)]


def importances(optuna: Any, study: Any, goals: Sequence[Goal]) -> dict[str, dict[str, float]]:
    """Return each parameter's importance for each goal (PED-ANOVA); none of too few trials.

    References
    ----------
    Watanabe, Bansal, Hutter: "PED-ANOVA: efficiently quantifying hyperparameter importance in
    arbitrary subspaces", IJCAI 2023.
    """
    is_done = optuna.trial.TrialState.COMPLETE
    if len([each for each in study.trials if each.state == is_done]) < LEAST_FOR_IMPORTANCES:
        return {}
    found = {}
    for number, goal in enumerate(goals):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluator = optuna.importance.PedAnovaImportanceEvaluator()
            of = optuna.importance.get_param_importances(
                study, evaluator=evaluator, target=lambda trial, n=number: trial.values[n]
            )
        found[goal.name] = {name: float(value) for name, value in of.items()}
    return found
