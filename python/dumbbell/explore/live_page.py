"""A page that follows a run in real time: rates, RTTs and queues, and sliders for its path."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Mapping
from types import TracebackType
from typing import Any, ClassVar, Self, cast

from dumbbell.base.errors import DumbbellError, ScenarioError
from dumbbell.explore.controls import Control
from dumbbell.explore.history import WINDOW_S, Curve, History
from dumbbell.explore.loopback import Answer, Loopback
from dumbbell.explore.steps import steps_of_kind
from dumbbell.figures.style import UNKNOWN_COLOR
from dumbbell.plots import group_colors
from dumbbell.report import render_template
from dumbbell.report.language import page_text
from dumbbell.scenario import Link, Scenario
from dumbbell.scenario.fields import fields_of
from dumbbell.scenario.link import BOTTLENECK, UP

__all__ = ["LivePage"]

#: How often the run is looked at, s.
EVERY_S = 0.1
#: What of a link can change while its path is there.
OF_LINK = ("rate", "loss")


class LivePage(Loopback):
    """Serves a page that follows a run while it is entered.

    Parameters
    ----------
    scenario
        What runs.
    look
        Returns what the path does now, as `EmulatedPath.stats`.
    change
        Changes the path, as `EmulatedPath.set`; None: it cannot change.
    can_end
        Whether the page can end the run.

    Attributes
    ----------
    is_ended
        Set when the page ended the run.
    """

    def __init__(
        self,
        scenario: Scenario,
        look: Callable[[], Mapping[str, Any]],
        change: Callable[..., None] | None = None,
        *,
        can_end: bool = False,
    ) -> None:
        self.history, self.look, self.change = History(scenario), look, change
        self.controls = controls_of_path(scenario) if change is not None else []
        self.is_ended = threading.Event()
        self.lock = threading.Lock()
        page = render_template("live.html.j2", package="dumbbell.explore", can_end=can_end)
        super().__init__(LiveAnswer, page)
        self.serving = threading.Thread(target=self.serve, daemon=True)
        self.looking = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self) -> Self:
        self.serving.start()
        self.looking.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.is_over.set()
        self.looking.join()
        self.http.shutdown()
        self.serving.join()

    def watch(self) -> None:
        """Look at the run until the end."""
        while not self.is_over.wait(EVERY_S):
            try:
                stats = self.look()
            except DumbbellError:
                return  # it has just ended
            with self.lock:
                self.history.add(stats)

    def lines(self) -> Generator[str]:
        """Yield lines of JSON: the controls, then what happened lately, several times a second."""
        controls = [each.to_dict() for each in self.controls]
        section = {"title": page_text("the path"), "color": "", "group": None, "controls": controls}
        yield json.dumps({"kind": "controls", "sections": [section] if controls else []})
        while not self.is_over.wait(EVERY_S):
            with self.lock:
                line = json.dumps({"kind": "now", **shown(self.history)})
            yield line
        yield '{"kind": "end"}'

    def set(self, name: str, value: str) -> None:
        """Change the path.

        Raises
        ------
        ScenarioError
            It cannot change, or not so.
        """
        if self.change is None or name not in {each.name for each in self.controls}:
            raise ScenarioError(f"`{name}` cannot be changed here")
        self.change(**{name: value})


class LiveAnswer(Answer):
    """Answers one connection's requests."""

    posts: ClassVar = {"follow": "follow", "set": "set", "end": "end"}

    @property
    def page(self) -> LivePage:
        """What is followed."""
        return cast("LivePage", self.server.owner)

    def follow(self) -> None:
        """Send what happens until the run ends."""
        self.asked()
        self.send_lines(self.page.lines())

    def set(self) -> None:
        """Change the path."""
        asked = self.asked()
        self.page.set(str(asked.get("name")), str(asked.get("value")))
        self.send(200, "application/json", "{}")

    def end(self) -> None:
        """End the run."""
        self.asked()
        self.page.is_ended.set()
        self.send(200, "application/json", "{}")


def controls_of_path(scenario: Scenario) -> list[Control]:
    """Return sliders for what can change while a path is there."""
    field = fields_of(Scenario)["rtt"]
    steps = steps_of_kind(field.kind, scenario.rtt)
    found = [Control("rtt", "rtt", field.doc, str(scenario.rtt), steps=steps, is_common=True)]
    for name, link in scenario.links_by_name.items():
        prefix = {BOTTLENECK: "", UP: f"{UP}_"}.get(name)
        for key in OF_LINK if prefix is not None else ():
            field, value = fields_of(Link)[key], getattr(link, key)
            label = f"{key} · {name}" if len(scenario.links) > 1 else key
            steps = steps_of_kind(field.kind, value)
            found.append(
                Control(f"{prefix}{key}", label, field.doc, str(value), steps=steps, is_common=True)
            )
    return found


def shown(history: History) -> dict[str, Any]:
    """Return what the page draws: three figures of the last half minute."""
    scenario = history.scenario
    colors = dict(zip(scenario.group_labels, group_colors(scenario), strict=True))
    end_s = max(history.time_s, WINDOW_S)
    return {
        "time_s": history.time_s,
        "caption": history.caption,
        "figures": [
            figure("rate", "throughput (Mbit/s)", history.rate, colors, end_s),
            figure("rtt", "RTT (ms)", history.rtt, colors, end_s),
            figure("queue", "time in the queue (ms)", history.queue, {}, end_s),
        ],
    }


def figure(
    name: str, label: str, curves: Mapping[str, Curve], colors: Mapping[str, str], end_s: float
) -> dict[str, Any]:
    """Return a figure as the page's script draws it, without curves that have no value."""
    drawn = [
        {
            "label": each, "color": colors.get(each, UNKNOWN_COLOR), "dashed": at % 4,
            "x": [round(time_s, 2) for time_s in curve.time_s],
            "y": [round(value, 3) for value in curve.value],
        }
        for at, (each, curve) in enumerate(curves.items())
        if curve.time_s
    ]  # fmt: skip
    top = max((max(curve.value, default=0.0) for curve in curves.values()), default=0.0) or 1.0
    text = page_text(label)
    return {
        "name": name, "title": text, "y_label": text, "x": [], "x_unit": "s", "curves": drawn,
        "x_range": [end_s - WINDOW_S, end_s], "range": [0, 1.1 * top],
    }  # fmt: skip
