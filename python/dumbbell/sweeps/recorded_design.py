"""The design of a sweep as `sweep.json` says it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dumbbell.congestion_control import RecordedCongestionControl
from dumbbell.congestion_control.name_kinds import split_preset
from dumbbell.congestion_control.quic import split_params
from dumbbell.congestion_control.recorded import SourceReference
from dumbbell.scenario import Scenario
from dumbbell.scenario.trace import Trace
from dumbbell.sweeps.design import Axis, Design, make_design

__all__ = ["recorded_design", "words_of"]


def recorded_design(document: Mapping[str, Any]) -> Design:
    """Return the design that `sweep.json` says, with congestion control algorithms as recorded."""
    references = {
        str(name): SourceReference.from_dict(words)
        for name, words in document.get("sources", {}).items()  # earlier versions wrote none
    }

    def recorded(text: str) -> RecordedCongestionControl:
        return RecordedCongestionControl.read(
            text, references.get(split_preset(split_params(text)[0])[0])
        )

    words = document["scenario"]
    scenario = Scenario.from_result(words, [recorded(group["cc"]) for group in words["group"]])
    axes = {axis["name"]: values_in(axis, recorded) for axis in document["axes"]}
    design = make_design(scenario, axes, document["zipped"])
    units = {axis["name"]: axis["unit"] for axis in document["axes"]}
    # Of a parameter only the result says the unit.
    return replace(design, axes=tuple(replace(axis, unit=units[axis.name]) for axis in design.axes))


def words_of(axis: Axis) -> dict[str, list[str]]:
    """Return an axis's values as a scenario has them, where their labels are others."""
    is_labelled = any(isinstance(value, Trace) and value.label for value in axis.values)
    return {"words": [str(value) for value in axis.values]} if is_labelled else {}


def values_in(axis: Mapping[str, Any], recorded: Callable[[str], Any]) -> list[Any]:
    """Return the values of an axis, read as far as a label does not say what they are."""
    if "words" in axis:
        return [
            replace(Trace.parse(word), label="" if word == label else label)
            for word, label in zip(axis["words"], axis["values"], strict=True)
        ]
    is_cc = axis["name"].rpartition(".")[2] == "cc"
    return [recorded(value) if is_cc else value for value in axis["values"]]
