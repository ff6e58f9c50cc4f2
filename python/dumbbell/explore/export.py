"""A page that needs no server: the runs of every position of its sliders lie in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from dumbbell.base.errors import DumbbellError, ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.writing import write_file
from dumbbell.explore.axis_sweep import METRIC
from dumbbell.explore.changes import changed
from dumbbell.explore.controls import Control, controls_of, doc_text
from dumbbell.explore.page import render_page
from dumbbell.explore.pictures import picture_of
from dumbbell.explore.words import as_command, as_python
from dumbbell.metrics import METRICS, measure
from dumbbell.plots import group_colors, group_labels
from dumbbell.report.embedded_series import pack
from dumbbell.report.language import page_text
from dumbbell.run import Run
from dumbbell.run.engine import SIMULATOR, check_engine
from dumbbell.runs import Progress, run_all
from dumbbell.scenario import Scenario
from dumbbell.sweeps.field import field_of, varied_by

__all__ = ["write_export"]

#: Sliders of a page where none are named, for a scenario without links.
USUAL = ("buffer=0.25bdp,0.5bdp,1bdp,2bdp,4bdp,8bdp,16bdp", "rtt=10ms,20ms,40ms,80ms,160ms")
#: Between the names of what one slider sets: ``link.down.queue+link.up.queue``.
TOGETHER = "+"
#: Positions that a page can have, each a run.
MAX_CELLS = 2000
#: Points of a line: of a page with few positions, and of one with many.
MOST_POINTS, FEWEST_POINTS = 240, 60
#: Positions up to which a line has the most points.
FEW_CELLS = 60
#: What the sweep below the picture can show.
SHOWN = (METRIC, "share", "rtt_mean_us", "rtt_p95_us", "mos", "page_load_time_p95_s")


def write_export(
    scenario: Scenario,
    path: Path,
    over: Iterable[str] = (),
    *,
    title: str = "",
    language: str = "",
    on_progress: Callable[[Progress], None] | None = None,
) -> Path:
    """Write a page with sliders that needs no server.

    Parameters
    ----------
    scenario
        What no slider changes.
    path
        The page.
    over
        Sliders with their values: ``buffer=1..16bdp``; by default the buffer and the RTT.
    title
        Of the page; by default the scenario's.
    language
        ``en`` or ``ja``: what it opens in; empty leaves it to the browser.
    on_progress
        Called several times a second.

    Raises
    ------
    ScenarioError
        There is no such slider, a value cannot be, or there are too many positions.
    ResultError
        The page cannot be written.
    """
    axes = [axis_of(text, scenario) for text in over or USUAL]
    count = math.prod(len(values) for _, values in axes)
    if count > MAX_CELLS:
        raise ScenarioError(
            f"the sliders have {count:,} positions together; a page holds {MAX_CELLS:,}: use fewer "
            "values"
        )
    grid = grid_of(scenario, axes, on_progress)
    grid["title"] = title or scenario.name or "dumbbell explore"
    return write_file(path, render_page(grid, language, grid["title"]))


def axis_of(text: str, scenario: Scenario) -> tuple[Control, list[str]]:
    """Read a slider and its values: ``buffer=1..16bdp``."""
    name, equals, values = (part.strip() for part in text.partition("="))
    first = name.partition(TOGETHER)[0]
    control = controls_of(scenario).get(first) or control_of_axis(first, scenario)
    if not (equals and values):
        raise ScenarioError(
            f"`--over {excerpt(text)}` has no values; use e.g. `--over buffer=1..16bdp`"
        )
    control = replace(control, name=name)
    if ":" in name:  # a parameter of an element, which no axis has
        return control, [value.strip() for value in values.split(",")]
    field = field_of(first, scenario, is_set=True)
    found = [str(each) for each in field.kind.split(values, name)]
    return control, list(dict.fromkeys(field_text(field.parse(each)) for each in found))


def control_of_axis(name: str, scenario: Scenario) -> Control:
    """Return a slider for an axis that is of several groups at once: ``flows``.

    Raises
    ------
    ScenarioError
        There is no such axis.
    """
    field = field_of(name, scenario)
    same = controls_of(scenario).get(f"{(field.groups or (0,))[0]}.{field.key}")
    if same is None:
        raise ScenarioError(f"`{excerpt(name)}` has no slider")
    return replace(same, name=name)


def field_text(value: Any) -> str:
    """Return a value as a control has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def grid_of(
    scenario: Scenario,
    axes: Sequence[tuple[Control, Sequence[str]]],
    on_progress: Callable[[Progress], None] | None,
) -> dict[str, Any]:
    """Run every position; return what the page's script reads (`templates/sources.js`)."""
    places = list(product(*(range(len(values)) for _, values in axes)))
    points = max(FEWEST_POINTS, MOST_POINTS * FEW_CELLS // max(len(places), FEW_CELLS))
    cells: dict[int, str] = {}
    rows: dict[int, list[dict[str, Any]]] = {}
    scenarios: list[tuple[int, Scenario]] = []
    for index, place in enumerate(places):
        pairs = [
            (name, values[at])
            for (control, values), at in zip(axes, place, strict=True)
            for name in control.name.split(TOGETHER)
        ]
        try:
            cell = changed(scenario, pairs)
            check_engine(SIMULATOR, cell)
            scenarios.append((index, cell))
        except DumbbellError as error:
            cells[index] = pack({"message": str(error), **texts_of(scenario)})

    def draw(index: int, run: Run) -> Run:
        picture = picture_of(run, points=points)
        picture["known"] = []
        cells[index] = pack({"picture": picture, **texts_of(run.scenario)})
        rows[index] = measure(run, metrics=[METRICS[name] for name in SHOWN])
        # All tables together would not fit in memory.
        return Run(run.scenario, run.summary, {})

    run_all(scenarios, on_finished=draw, on_progress=on_progress, cache=True)
    return {
        "axes": [axis_words(control, values) for control, values in axes],
        "start": [start_of(control, values) for control, values in axes],
        "cells": [cells[index] for index in range(len(places))],
        "metrics": metrics_of(scenario, axes, rows, len(places)),
    }


def texts_of(scenario: Scenario) -> dict[str, str]:
    """Return a scenario as text to take away."""
    return {
        "toml": scenario.to_toml(), "command": as_command(scenario), "python": as_python(scenario),
    }  # fmt: skip


def axis_words(control: Control, values: Sequence[str]) -> dict[str, Any]:
    """Return a slider for the page's script."""
    section = control.name.rpartition(".")[0] if TOGETHER not in control.name else ""
    label = f"{control.label} · {section}" if section else control.label
    return {
        "name": control.name, "label": page_text(label), "doc": doc_text(control.doc),
        "values": values, "is_slider": bool(control.steps),
    }  # fmt: skip


def start_of(control: Control, values: Sequence[str]) -> int:
    """Return where a slider begins: at the scenario's value, or the first or middle one."""
    if control.value in values:
        return list(values).index(control.value)
    return 0 if control.options else len(values) // 2


def metrics_of(
    scenario: Scenario,
    axes: Sequence[tuple[Control, Sequence[str]]],
    rows: dict[int, list[dict[str, Any]]],
    count: int,
) -> dict[str, Any]:
    """Return the values of each metric at every position, for the sweep below the picture."""
    fields = [
        (field, [field.parse(each) for each in values])
        for control, values in axes
        for name in control.name.split(TOGETHER)
        if ":" not in name  # a parameter of an element
        for field in [field_of(name, scenario, is_set=True)]
    ]
    labels = group_labels(scenario, varied_by(fields, scenario))
    colors = group_colors(scenario)
    found = {}
    for metric in (METRICS[name] for name in SHOWN):
        of_groups = metric.per == "group"
        size = len(scenario.groups) if of_groups else 1
        values = [
            [
                None if row.get(metric.name) is None else round(metric.scale * row[metric.name], 4)
                for row in rows[index][:size]
            ]
            if index in rows
            else None
            for index in range(count)
        ]
        if any(each is not None for row in values for each in row or ()):
            shown = list(zip(labels, colors, strict=True)) if of_groups else [("", colors[0])]
            found[metric.name] = {
                "title": page_text(metric.title), "unit": metric.shown_unit, "groups": shown,
                "values": values,
            }  # fmt: skip
    return found
