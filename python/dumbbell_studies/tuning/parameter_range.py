"""The values of a parameter that are worth trying."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.congestion_control import CongestionControlChoice, Parameter

__all__ = ["ParameterRange", "ranges_of"]

#: A declared range often is all that an integer can be: by default this factor around the default.
FACTOR = 8
#: From this ratio on values are tried on a logarithmic scale.
LOGARITHMIC_FROM = 10


@dataclass(frozen=True)
class ParameterRange:
    """A parameter and its ends.

    Attributes
    ----------
    parameter
        As declared.
    low, high
        Both included.
    """

    parameter: Parameter
    low: int
    high: int

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self.parameter.name

    @property
    def is_logarithmic(self) -> bool:
        """Whether values are tried on a logarithmic scale."""
        return self.low > 0 and self.high >= LOGARITHMIC_FROM * self.low

    @property
    def ends(self) -> list[int]:
        """Off, where 0 is allowed, and both ends, without the default."""
        off = [0] if self.parameter.min <= 0 <= self.parameter.max else []
        return sorted({*off, self.low, self.high} - {self.parameter.default})

    @classmethod
    def of(cls, parameter: Parameter, text: str = "") -> ParameterRange:
        """Return the range that the user says, ``2..16``, or one around the default.

        Raises
        ------
        ScenarioError
            It cannot be read, or is not within what is declared.
        """
        if text:
            low_text, dots, high_text = text.partition("..")
            try:
                low, high = int(low_text), int(high_text)
            except ValueError:
                dots, low, high = "", 0, 0
            if not dots or not parameter.min <= low < high <= parameter.max:
                raise ScenarioError(
                    f"`{parameter.name}={text}` is not a range; use two whole numbers from "
                    f"{parameter.min} to {parameter.max}, like "
                    f"`{parameter.name}={parameter.min}..{parameter.max}`",
                    key="over",
                )
            return cls(parameter, low, high)
        default = parameter.default
        if parameter.max - parameter.min <= FACTOR:
            return cls(parameter, parameter.min, parameter.max)
        if default <= 0:
            return cls(parameter, max(parameter.min, default), min(parameter.max, default + 100))
        low = max(parameter.min, min(default // FACTOR, default - 1), min(1, default))
        return cls(parameter, low, min(parameter.max, default * FACTOR))


def ranges_of(cc: CongestionControlChoice, over: Sequence[str]) -> list[ParameterRange]:
    """Return the ranges of parameters, ``beta`` or ``beta=500..900``; all of them without names.

    Raises
    ------
    ScenarioError
        It has no such parameter, or none at all.
    """
    known = {each.name: each for each in cc.description.parameters}
    if not known:
        raise ScenarioError(f"`{cc}` has no parameters", key="over")
    if not over:
        return [ParameterRange.of(each) for each in known.values()]
    found = []
    for word in over:
        name, _, text = (part.strip() for part in word.partition("="))
        if name not in known:
            raise ScenarioError(
                f"`{cc.name}` has no parameter `{name}`{nearest(name, known)}", key="over"
            )
        found.append(ParameterRange.of(known[name], text))
    return found
