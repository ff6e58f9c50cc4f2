"""Scenarios for Hypothesis, out of the spaces in which `dumbbell search` looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dumbbell.base.errors import ScenarioError
from dumbbell.base.optional import optional
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.scenario import Scenario
from dumbbell.scenario_space.candidate import MAX_ELEMENTS, Candidate, Plain
from dumbbell.scenario_space.kind import DrawnElement, ElementKind
from dumbbell.scenario_space.space import space_named

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["scenarios"]


def scenarios(
    cc: str,
    against: str = "cubic",
    *,
    space: str = "static",
    elements: int = 3,
    **fields: Any,
) -> SearchStrategy[Scenario]:
    """Return a Hypothesis strategy over scenarios.

    A failing example shrinks to fewer elements and smaller numbers, like what `dumbbell search`
    finds.

    Parameters
    ----------
    cc
        The congestion control algorithm under test, of group 0.
    against
        That of competitors.
    space
        ``static``, ``segments``, ``cross``, ``loss-window`` or ``pulses``.
    elements
        How many differences from the plain scenario there are at most.
    fields
        Of the plain scenario: ``time="5s"``.

    Raises
    ------
    MissingPackageError
        Hypothesis is not installed.
    ScenarioError
        There is no such space.
    """
    st = optional("hypothesis.strategies", extra="dev", purpose="a strategy over scenarios")
    base = Scenario([cc], **{"time": "10s", **fields})
    choice = CongestionControlChoice.parse
    plain = Plain(base, choice(cc), choice(against))
    kinds = list(space_named(space, base).kinds.values())

    def build(drawn: list[DrawnElement], seed: int) -> Scenario | None:
        try:
            return Candidate.of(drawn).scenario(plain, is_reference=False, seed=seed)
        except ScenarioError:
            return None  # a buffer smaller than a packet, for example

    elements_of = st.one_of([of_kind(st, kind) for kind in kinds])
    lists = st.lists(elements_of, max_size=min(elements, MAX_ELEMENTS))
    found: SearchStrategy[Scenario] = st.builds(
        build, lists, st.integers(min_value=1, max_value=2**32)
    ).filter(lambda scenario: scenario is not None)
    return found


def of_kind(st: Any, kind: ElementKind) -> Any:
    """Return a strategy over the elements of a kind."""
    numbers = st.tuples(*(st.sampled_from(scale.values) for scale in kind.parameters.values()))
    return numbers.map(kind.element)
