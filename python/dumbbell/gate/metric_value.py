"""A metric's value as a suite has it, ``20ms`` or ``0.95``, and as tables show it."""

from __future__ import annotations

import re

from dumbbell.base.errors import GateError, ScenarioError
from dumbbell.base.quantities.quantity import Rate, Time
from dumbbell.base.quantities.significant import significant
from dumbbell.metrics import Metric

__all__ = ["read_value", "write_difference", "write_value"]

NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2})?", re.ASCII)
#: ns in a metric's unit of time.
TIME_UNITS = {"us": 1e3, "ms": 1e6, "s": 1e9}


def read_value(text: str, metric: Metric) -> float:
    """Read a value of a metric, in the metric's unit.

    Parameters
    ----------
    text
        ``20ms`` of a time, ``5mbit`` of a rate, ``0.95`` or ``95%`` of a ratio, else a number.
    metric
        The metric, which has the unit.

    Raises
    ------
    GateError
        It is not a value of the metric; the message says what is.
    """
    text = text.strip()
    try:
        if metric.unit in TIME_UNITS:
            return int(Time.parse(text, metric.name)) / TIME_UNITS[metric.unit]
        if metric.unit == "bit/s":
            return float(Rate.parse(text, metric.name))
    except ScenarioError as error:
        raise GateError(str(error)) from None
    percent = metric.unit == "1" and text.endswith("%")
    digits = text.removesuffix("%").strip() if percent else text
    if not NUMBER.fullmatch(digits):
        if metric.unit == "1":
            raise GateError(
                f"{metric.name} `{text}` is not a number without a unit; use `0.95` or `95%`"
            )
        raise GateError(
            f"{metric.name} `{text}` does not fit its unit {metric.unit}; use a plain number"
        )
    return float(digits) / 100 if percent else float(digits)


def write_value(value: float, metric: Metric) -> str:
    """Write a value in the unit of tables: ``12.3 ms``."""
    return significant(value * metric.scale, 4) + unit_after(metric)


def write_difference(value: float, metric: Metric) -> str:
    """Write a difference, with its sign: ``+1.2 ms``."""
    return significant(value * metric.scale, spec="+") + unit_after(metric)


def unit_after(metric: Metric) -> str:
    """Return a metric's shown unit with a space before it; nothing for a plain number."""
    unit = metric.shown_unit or metric.unit
    return "" if unit == "1" else f" {unit}"
