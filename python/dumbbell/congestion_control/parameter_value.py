"""The value of a congestion control algorithm's parameter: read, and checked against its range."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import MAX_DIGITS
from dumbbell.congestion_control.description import Parameter, congestion_controls
from dumbbell.congestion_control.quic import algorithm_of, is_quic

__all__ = ["check_parameter", "parse_integer", "parse_parameter"]

#: A unit that is a fraction: ``/1024``, ``10/1024``; and a number for it.
SCALE = re.compile(r"(\d*)/(\d+)")
DECIMAL = re.compile(r"\d*\.\d+", re.ASCII)


def parse_parameter(cc: str, name: str, text: str, what: str) -> int:
    """Read a parameter's value; of a built-in CCA, whose parameters are known, with its unit."""
    known = congestion_controls().get(algorithm_of(cc))
    if known is None or is_quic(cc):
        return parse_integer(text, what)
    parameters = {each.name: each for each in known.parameters}
    if name not in parameters:
        raise no_parameter(cc, parameters, name)
    return parse_integer(text, what, parameters[name].unit, f"; use {range_of(parameters[name])}")


def parse_integer(text: str, what: str, unit: str = "", hint: str = "") -> int:
    """Read a parameter's value: ``5``, ``-1``, ``0x10``; ``0.8`` where the unit is ``/1024``."""
    if len(text) > MAX_DIGITS:
        message = f"{what} is `{excerpt(text)}`, which is out of range: it has {len(text):,} digits"
        raise ScenarioError(message, key="cc")
    try:
        # Only ASCII digits; Python accepts those of every script.
        return int(text.encode("ascii"), 0)
    except ValueError:
        scale = SCALE.match(unit)
        if scale is None or not DECIMAL.fullmatch(text):
            raise ScenarioError(
                f"{what} is `{excerpt(text)}`, which is not a whole number{hint}", key="cc"
            ) from None
    return round(Fraction(text) * int(scale[2]) / int(scale[1] or 1))


def check_parameter(cc: str, parameters: Mapping[str, Parameter], name: str, value: int) -> None:
    """Refuse a parameter that `cc` does not have, or a value out of its range."""
    parameter = parameters.get(name)
    if parameter is None:
        raise no_parameter(cc, parameters, name)
    if not parameter.min <= value <= parameter.max:
        raise ScenarioError(
            f"parameter `{name}` of `{cc}` is {excerpt(value)}; use {range_of(parameter)}",
            key="cc",
        )


def range_of(parameter: Parameter) -> str:
    """Write what a parameter may be: ``1 to 64 (packets)``."""
    return f"{parameter.min} to {parameter.max} ({parameter.unit or 'no unit'})"


def no_parameter(cc: str, parameters: Mapping[str, Parameter], name: str) -> ScenarioError:
    """Return the error about a parameter that a CCA does not have."""
    inverse = [each for each in parameters if each.endswith(f"inv_{name}")]
    hint = nearest(name, parameters) if parameters else "; it has none"
    hint = f"; `{inverse[0]}` is 1/{name}" if inverse else hint
    return ScenarioError(f"`{cc}` has no parameter `{excerpt(name)}`{hint}", key="cc")
