"""The server of the page on which a scenario is changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar, cast

from dumbbell.base.errors import DumbbellError
from dumbbell.explore.axis_sweep import sweep_lines
from dumbbell.explore.kernel_run import kernel_lines
from dumbbell.explore.laboratory import KERNEL_RUN, SWEEP, Laboratory
from dumbbell.explore.loopback import Answer, Loopback
from dumbbell.explore.page import render_page
from dumbbell.explore.watched_files import changes_of_files
from dumbbell.run.engine import SIMULATOR
from dumbbell.runs import run_key
from dumbbell.scenario import Scenario

__all__ = ["ExploreServer"]

#: Where runs are saved, below the directory in which the command was started.
SAVED = Path("results")
#: Looks at files between two signs of life of the stream of events.
LOOKS = 10


class ExploreServer(Loopback):
    """Serves the page of a scenario.

    Parameters
    ----------
    scenario
        What the page opens with.
    port
        To listen on, on 127.0.0.1; 0: any that is free.
    language
        ``en`` or ``ja``: what the page opens in; empty leaves it to the browser.

    Raises
    ------
    EngineError
        The port is taken, or may not be listened on.
    """

    def __init__(self, scenario: Scenario, port: int = 0, language: str = "") -> None:
        self.laboratory = Laboratory(scenario)
        super().__init__(ExploreAnswer, render_page(language=language), port)

    def close(self) -> None:
        """Stop what runs, and listen no more."""
        self.laboratory.windows.cancel_all()
        super().close()

    def warm_up(self) -> None:
        """Draw what the page opens with, which also loads what drawing needs."""
        try:
            for _ in self.laboratory.show({"window": "", "slot": ""}):
                pass
        except DumbbellError:
            pass  # the page says it


class ExploreAnswer(Answer):
    """Answers one connection's requests."""

    gets: ClassVar = {"": "send_page", "events": "send_events"}
    posts: ClassVar = {name: name for name in ("show", "sweep", "kernel", "json", "save")}

    @property
    def laboratory(self) -> Laboratory:
        """What runs the scenarios."""
        return cast("ExploreServer", self.server.owner).laboratory

    def show(self) -> None:
        """Send a changed scenario and its pictures."""
        self.send_lines(self.laboratory.show(self.asked()))

    def sweep(self) -> None:
        """Send the points of a sweep over one control."""
        asked = self.asked()
        request = self.laboratory.windows.begin(str(asked.get("window", "")), SWEEP)
        self.send_lines(sweep_lines(self.laboratory.scenario_of(asked), asked, request))

    def kernel(self) -> None:
        """Run a scenario on this machine's kernel, and send what its flows got."""
        asked = self.asked()
        request = self.laboratory.windows.begin(str(asked.get("window", "")), KERNEL_RUN)
        self.send_lines(kernel_lines(self.laboratory.scenario_of(asked), request))

    def json(self) -> None:
        """Send the result as `dumbbell run --json` prints it."""
        self.send(200, "application/json", self.laboratory.document(self.asked()))

    def save(self) -> None:
        """Save the run to a directory, and send its path."""
        asked = self.asked()
        digest = run_key(self.laboratory.scenario_of(asked), SIMULATOR).digest[:8]
        path = self.laboratory.run(asked).save(SAVED / f"explore-{digest}")
        self.send(200, "application/json", json.dumps({"path": str(path)}))

    def send_events(self) -> None:
        """Send an event each time that a file of what the window shows was saved.

        The window reads them while it is open; when it is closed, what it asked for is stopped.
        """
        window = self.query("window")
        try:
            self.follow_files(window)
        finally:
            self.laboratory.windows.close(window)

    def follow_files(self, window: str) -> None:
        """Send an event at each saved file, and signs of life."""
        shown = f"{window} b"
        self.begin_chunks("text/event-stream")
        self.send_chunk(": here\n\n")
        windows, is_over = self.laboratory.windows, self.server.owner.is_over
        for look, is_changed in enumerate(
            changes_of_files(lambda: windows.shows(shown), is_over.is_set)
        ):
            if is_changed:
                self.send_chunk("event: saved\ndata: 1\n\n")
            elif look % LOOKS == LOOKS - 1:
                self.send_chunk(": here\n\n")
