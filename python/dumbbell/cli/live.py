"""`--live`: a run on the kernel on a page that follows it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from dumbbell import _core
from dumbbell.base.errors import EngineError
from dumbbell.cli.command_in_host import CommandInHost
from dumbbell.emulation.path import EmulatedPath
from dumbbell.explore.redirect import redirect_page
from dumbbell.run import Run
from dumbbell.run.capture import Capture
from dumbbell.run.execution import prepared, run_of_output
from dumbbell.scenario import Scenario
from dumbbell.terminal.console import note, open_page

__all__ = ["command_live", "run_live"]

#: How often it is seen whether the page ended the run, s.
LOOK_EVERY_S = 0.05


def run_live(scenario: Scenario, capture: Capture | None) -> Run:
    """Run a scenario on the kernel and show it; the page or Ctrl-C may end it earlier."""
    from dumbbell.explore.live_page import LivePage  # slow to import

    ready = prepared(scenario)
    try:
        emulation = _core.Emulation(ready.scenario.to_json(), None, capture)
    except _core.EngineError as error:
        raise EngineError(str(error)) from None

    def look() -> Mapping[str, Any]:
        return look_at(emulation)

    try:
        with (
            LivePage(ready.scenario, look, can_end=True) as page,
            redirect_page(page.url) as address,
        ):
            tell(page.url, address)
            try:
                while look()["time_s"] < scenario.time.seconds and not page.is_ended.is_set():
                    time.sleep(LOOK_EVERY_S)
            except KeyboardInterrupt:
                pass  # the result is of what ran
        output = emulation.stop()
    except _core.EngineError as error:
        raise EngineError(str(error)) from None
    return run_of_output(ready, output, None if capture is None else capture.path)


def look_at(emulation: _core.Emulation) -> Mapping[str, Any]:
    """Return what a path does now.

    Raises
    ------
    EngineError
        It has been stopped, or does not answer.
    """
    try:
        stats: Mapping[str, Any] = json.loads(emulation.snapshot())
    except _core.EngineError as error:
        raise EngineError(str(error)) from None
    return stats


def command_live(path: EmulatedPath, words: Sequence[str], *, output_to_stderr: bool) -> int:
    """Run a command at the client, and show what happens on a page that can change the path."""
    from dumbbell.explore.live_page import LivePage  # slow to import

    with (
        LivePage(path.scenario, path.stats, path.set) as page,
        redirect_page(page.url) as address,
    ):
        tell(page.url, address)
        return CommandInHost(path.client, words, output_to_stderr=output_to_stderr).run()


def tell(url: str, address: str) -> None:
    """Open the page in the browser by an address without its token, and say where it is.

    Output is the command's.
    """
    open_page(address)
    note(f"it is shown at {url}")
