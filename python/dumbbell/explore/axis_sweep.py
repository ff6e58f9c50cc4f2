"""The sweep below the picture: one control over its values, a point as each run finishes."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Generator, Mapping, Sequence
from queue import SimpleQueue
from typing import Any

from dumbbell.base.errors import Cancelled, DumbbellError, ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.explore.changes import changed
from dumbbell.explore.controls import Control, controls_of
from dumbbell.explore.window import Request
from dumbbell.metrics import METRICS, ChosenMetrics, Metric, metric_named
from dumbbell.plots import group_colors, group_labels
from dumbbell.report.language import page_text
from dumbbell.run.engine import SIMULATOR, default_workers
from dumbbell.runs import measure_each
from dumbbell.runs.progress import Progress
from dumbbell.scenario import Scenario

__all__ = ["METRIC", "metrics_listed", "sweep_lines", "values_of"]

#: Most points of a slider's axis; of a picker's, all that it has.
MAX_POINTS = 18
MAX_OPTIONS = 24
#: What is drawn unless the reader chooses otherwise.
METRIC = "goodput_per_flow_bps"


def metrics_listed() -> list[tuple[str, Any]]:
    """Return the metrics of groups and runs, by name and title."""
    return [(each.name, page_text(each.title)) for each in METRICS.values() if each.per != "link"]


def values_of(control: Control) -> list[str]:
    """Return the values of a sweep over a control, its own among them.

    Raises
    ------
    ScenarioError
        It has no values to choose from.
    """
    values = list(control.steps or control.options)
    if not values or control.chosen is not None:
        raise ScenarioError(f"`{excerpt(control.name)}` has no list of values to sweep over")
    most = MAX_POINTS if control.steps else MAX_OPTIONS
    if len(values) > most:
        places = {round(at * (len(values) - 1) / (most - 1)) for at in range(most)}
        places |= {values.index(own)} if (own := value_of(control)) in values else set()
        values = [values[at] for at in sorted(places)]
    return values


def value_of(control: Control) -> str:
    """Return a control's value, or what its default begins with: ``1bdp, or …``."""
    return control.value or re.split("[ ,;]", control.default)[0]


def sweep_lines(scenario: Scenario, asked: Mapping[str, Any], request: Request) -> Generator[str]:
    """Yield lines of JSON: the axes of a figure, then its points as runs finish.

    Parameters
    ----------
    scenario
        What no value changes.
    asked
        ``axis``, the name of a control, and ``metric``.
    request
        Whose end stops the runs.

    Raises
    ------
    DumbbellError
        There is no such control or metric.
    """
    name = str(asked.get("axis", ""))
    control = controls_of(scenario).get(name)
    if control is None:
        raise ScenarioError(f"there is no control `{excerpt(name)}`")
    values = values_of(control)
    metric = metric_named(str(asked.get("metric") or METRIC))
    is_of_groups = metric.per == "group"
    labels = group_labels(scenario) if is_of_groups else ("",)
    yield json.dumps(
        {
            "kind": "axes", "axis": name, "label": page_text(control.label), "values": values,
            "metric": metric.name, "title": page_text(metric.title), "unit": metric.shown_unit,
            "groups": [[label, color] for label, color in
                       zip(labels, group_colors(scenario), strict=False)],
        }
    )  # fmt: skip
    found: SimpleQueue[str | None] = SimpleQueue()
    runs = []
    for at, value in enumerate(values):
        try:
            runs.append((at, changed(scenario, [(name, value)])))
        except DumbbellError as error:
            found.put(json.dumps({"kind": "failed", "at": at, "message": str(error)}))
    working = threading.Thread(target=run_points, args=(runs, metric, request, found), daemon=True)
    working.start()
    try:
        while (line := found.get()) is not None:
            yield line
        request.check()
        yield '{"kind": "end"}'
    finally:
        request.cancel()  # what is left is not read


def run_points(
    runs: Sequence[tuple[int, Scenario]],
    metric: Metric,
    request: Request,
    found: SimpleQueue[str | None],
) -> None:
    """Run each point, and put its line into a queue; None at the end."""

    def take(at: int, measures: Sequence[Mapping[str, Any]], _: object) -> None:
        values = [row.get(metric.name) for row in measures]
        if metric.per == "run":
            values = values[:1]
        shown = [None if each is None else metric.scale * each for each in values]
        found.put(json.dumps({"kind": "point", "at": at, "values": shown}))

    def failed(at: int, error: DumbbellError) -> None:
        found.put(json.dumps({"kind": "failed", "at": at, "message": str(error)}))

    def check(_: Progress) -> None:
        request.check()

    measuring = ChosenMetrics((metric,))
    jobs = max(1, default_workers(SIMULATOR) - 1)  # one core is the slider's
    try:
        measure_each(
            runs, lambda _: measuring, take, on_failed=failed, on_progress=check, cache=True,
            jobs=jobs,
        )  # fmt: skip
    except Cancelled:
        pass  # it was overtaken
    except DumbbellError as error:
        found.put(json.dumps({"kind": "error", "message": str(error)}))
    finally:
        found.put(None)
