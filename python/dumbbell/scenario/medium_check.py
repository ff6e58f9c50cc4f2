"""Settings of a medium that do not fit together, refused when a scenario is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.base.errors import ScenarioError

if TYPE_CHECKING:
    from dumbbell.scenario.element import ImpairmentChoice

__all__ = ["check_medium"]


def check_medium(medium: ImpairmentChoice, what: str) -> None:
    """Refuse a medium's shortest time, or fewest, above its longest, or most, as the engine does.

    The names of such pairs are ``min`` and ``max``, or end so.
    """
    parameters = medium.declaration.parameters
    for most, parameter in parameters.items():
        least = f"{most.removesuffix('max')}min"
        if least == most or least not in parameters:
            continue
        low, high = (medium.params.get(name, parameters[name].default) for name in (least, most))
        in_engine = parameter.to_engine
        if low is not None and high is not None and in_engine(high) < in_engine(low):
            raise ScenarioError(
                f"`{most}` of `{medium.name}` is {parameter.show(high)}, less than `{least}`, "
                f"{parameters[least].show(low)}; use at least that",
                key=what,
            )
