"""`--live`: a run on the kernel as moving lines."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from threading import Thread
from typing import TYPE_CHECKING, Any

from dumbbell import _core
from dumbbell.base.errors import EngineError, MissingPackageError, ScenarioError
from dumbbell.cli.command_in_host import PATIENCE_S
from dumbbell.emulation.path import EmulatedPath
from dumbbell.emulation.process import DEVNULL, PIPE, STDOUT
from dumbbell.run import Run
from dumbbell.run.capture import Capture
from dumbbell.run.execution import prepared, run_of_output
from dumbbell.scenario import Scenario

if TYPE_CHECKING:
    from dumbbell.live.app import LiveView

__all__ = ["command_live", "run_live"]


def live_view(
    scenario: Scenario, look: Callable[[], Mapping[str, Any] | None], *, has_output: bool = False
) -> LiveView:
    """Return the view, which needs a terminal and two packages."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ScenarioError("`--live` needs a terminal; omit it")
    try:
        from dumbbell.live.app import LiveView
    except ImportError as error:
        raise MissingPackageError(
            f"`--live` needs {error.name}; use `pip install 'dumbbell[live]'`"
        ) from None
    return LiveView(scenario, look, has_output=has_output)


def run_live(scenario: Scenario, capture: Capture | None) -> Run:
    """Run a scenario on the kernel, and show what happens; the user may end it earlier."""
    ready = prepared(scenario)
    end_s = scenario.time.seconds
    emulation: _core.Emulation | None = None

    def look() -> Mapping[str, Any] | None:
        stats: Mapping[str, Any] = json.loads(emulation.snapshot()) if emulation else {}
        return stats if stats and stats["time_s"] < end_s else None

    view = live_view(ready.scenario, look)
    try:
        emulation = _core.Emulation(ready.scenario.to_json(), None, capture)
        view.run()
        output = emulation.stop()
    except _core.EngineError as error:
        raise EngineError(str(error)) from None
    return run_of_output(ready, output, None if capture is None else capture.path)


def command_live(path: EmulatedPath, words: list[str]) -> int:
    """Run a command at the client, and show what happens and what it prints."""

    def look() -> Mapping[str, Any] | None:
        return path.stats() if process.poll() is None else None

    view = live_view(path.scenario, look, has_output=True)
    process = path.client.popen(words, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, new_session=True)

    def show_output() -> None:
        for line in process.stdout or ():
            if view.is_running:
                view.call_from_thread(view.write, line.decode(errors="replace"))

    reading = Thread(target=show_output, daemon=True)
    reading.start()
    view.run()
    process.terminate()
    try:
        code = process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    return code if code >= 0 else 128 - code
